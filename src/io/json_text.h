#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

namespace modlab::io {

// JSON from outside: what is not JSON gives a discarded value, and what is nested deeper than any of our files is cut
// off, since walking it would exhaust the stack.
inline nlohmann::ordered_json parse_json(std::string_view text) {
  constexpr int kMaxDepth = 16;
  const auto keep = [](int depth, nlohmann::ordered_json::parse_event_t /*event*/, nlohmann::ordered_json& /*value*/) {
    return depth <= kMaxDepth;
  };
  return nlohmann::ordered_json::parse(text.begin(), text.end(), keep, false);
}

// JSON has no infinity and nothing that is not a number.
inline nlohmann::ordered_json number_or_null(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

}  // namespace modlab::io
