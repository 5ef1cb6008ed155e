#pragma once

namespace modlab::report {

// Letters in a line of text that we break ourselves.
inline constexpr int kPageWidth = 96;

}  // namespace modlab::report
