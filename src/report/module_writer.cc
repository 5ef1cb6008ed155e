#include "report/module_writer.h"

#include <cmath>

#include "core/text.h"

namespace modlab::report {
namespace {

constexpr std::size_t kMaxNames = 16;  // of units on a line

std::string shortened(std::vector<std::string> names) {
  if (names.size() <= kMaxNames) {
    return join_text(names, " ");
  }
  const std::string last = names.back();
  const std::size_t count = names.size();
  names.resize(kMaxNames - 2);
  return fmt::format("{} .. {} ({})", join_text(names, " "), last, count);
}

}  // namespace

double rounded(double value, double unit) { return std::round(value / unit) * unit + 0.0; }

std::string percent_text(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string ModuleWriter::units_text(const std::vector<methods::UnitPlace>& places) const {
  std::vector<std::string> names;
  for (const methods::UnitPlace& place : places) {
    names.push_back(look_.names.of(place));
  }
  return shortened(std::move(names));
}

std::string ModuleWriter::units_text(int layer, const std::vector<int>& units) const {
  std::vector<methods::UnitPlace> places;
  for (const int unit : units) {
    places.push_back({layer, unit});
  }
  return units_text(places);
}

std::string ModuleWriter::layer_text(int layer) const { return methods::layer_name(layer, layers_); }

}  // namespace modlab::report
