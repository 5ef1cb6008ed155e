#include "settings/setting_values.h"

#include <cmath>
#include <optional>

namespace modlab::settings {
namespace {

constexpr int kMaxLevels = 64;

}  // namespace

double read_real(const char* name, const std::string& text, double low, double high, const char* allowed) {
  const std::optional<double> value = parse_real(text);
  if (!value || !std::isfinite(*value) || *value < low || *value > high) {
    throw ConfigError(fmt::format("{} must be {}, not '{}'", name, allowed, text));
  }
  return *value;
}

long long read_integer(const char* name, const std::string& text, long long low, long long high, const char* allowed) {
  const std::optional<long long> value = parse_integer(text);
  if (!value || *value < low || *value > high) {
    throw ConfigError(fmt::format("{} must be {}, not '{}'", name, allowed, text));
  }
  return *value;
}

double read_rate(const char* name, const std::string& text) {
  return read_real(name, text, 0, 1e6, "a number from 0 to 1000000");
}

bool read_truth(const char* name, const std::string& text) {
  const std::optional<bool> value = parse_truth(text);
  if (!value) {
    throw ConfigError(fmt::format("{} must be true or false, not '{}'", name, text));
  }
  return *value;
}

std::vector<int> read_sizes(const char* name, const std::string& text) {
  std::vector<int> sizes;
  for (const std::string& part : split_text(text, ',')) {
    sizes.push_back(static_cast<int>(
        read_integer(name, part, 1, kMaxWidth, "a list of whole numbers from 1 to 4096, such as 3,2")));
  }
  if (sizes.size() > kMaxLevels) {
    throw ConfigError(fmt::format("{} has {} entries; at most {} are possible", name, sizes.size(), kMaxLevels));
  }
  return sizes;
}

std::vector<std::string> read_files(const char* name, const std::string& text) {
  std::vector<std::string> files;
  for (const std::string& file : split_text(text, ',')) {
    if (file.empty()) {
      throw ConfigError(fmt::format("{} '{}' has a file without a name", name, text));
    }
    files.push_back(file);
  }
  return files;
}

}  // namespace modlab::settings
