#pragma once

namespace modlab::cli {

// Letters in a line of text that we break ourselves.
inline constexpr int kPageWidth = 96;

}  // namespace modlab::cli
