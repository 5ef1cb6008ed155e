#include "report/sculpted_drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>

#include "core/text.h"
#include "methods/detect/cross_edges.h"
#include "methods/detect/unit_names.h"
#include "methods/sculpt/branches.h"
#include "report/layered_layout.h"
#include "tasks/svg_text.h"

namespace modlab::report {
namespace {

using methods::Hierarchy;
using methods::Module;
using methods::PrunedMlp;
using nlohmann::ordered_json;

// As small as names of inputs and outputs allow: a card has half of the page.
constexpr LayeredSizes kSizes = {
    .height = 20, .step = 27, .spread = 2, .row = 24, .edge = 9, .name = 14, .gap = 12, .layer_gap = 62};
constexpr double kModuleNameSize = 11;
constexpr double kUnitNameSize = 9.5;
constexpr double kBesideName = 8;
constexpr std::size_t kMostNames = 4;  // of true modules in the name of one that was found

// An edge is one letter: its sign and how strong it is in its layer, in so many steps each.
constexpr char kStrengths[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr int kStrengthSteps = 32;
constexpr char kGone = '.';

bool holds_any(const std::vector<int>& units, const std::vector<int>& wanted) {
  return std::ranges::any_of(wanted, [&](int unit) { return std::ranges::binary_search(units, unit); });
}

// A module that was found, in the words of the task.
struct Meaning {
  std::string name;
  int truth = -1;  // the only true module that it has inputs or outputs of
};

// What a module is made of follows from its inputs and outputs; where it has none, it may be the one true module that
// has none either.
Meaning meaning_of(const Module& module, const tasks::Task& task, bool is_only_inner) {
  Meaning meaning;
  std::vector<std::string> names;
  for (std::size_t number = 0; number < task.modules.size(); ++number) {
    const tasks::TaskModule& truth = task.modules[number];
    if (holds_any(module.units.front(), truth.inputs) || holds_any(module.units.back(), truth.outputs)) {
      const bool is_whole = std::ranges::includes(module.units.front(), truth.inputs) &&
                            std::ranges::includes(module.units.back(), truth.outputs);
      names.push_back(truth.name + (is_whole ? "" : "*"));
      meaning.truth = names.size() == 1 ? static_cast<int>(number) : -1;
    }
  }
  const auto is_inner = [](const tasks::TaskModule& truth) { return truth.inputs.empty() && truth.outputs.empty(); };
  if (names.empty() && is_only_inner && std::ranges::count_if(task.modules, is_inner) == 1) {
    const auto inner = std::ranges::find_if(task.modules, is_inner);
    return {inner->name, static_cast<int>(inner - task.modules.begin())};
  }
  if (names.size() > kMostNames) {
    names.resize(kMostNames);
    names.emplace_back("…");
  }
  meaning.name = names.empty() ? "between" : join_text(names, " + ");
  return meaning;
}

std::vector<Meaning> meanings_of(const Hierarchy& hierarchy, const tasks::Task& task) {
  const auto is_inner = [](const Module& module) {
    return module.units.front().empty() && module.units.back().empty();
  };
  const bool is_only_inner = std::ranges::count_if(hierarchy.modules, is_inner) == 1;
  std::vector<Meaning> meanings;
  for (std::size_t number = 0; number < hierarchy.modules.size(); ++number) {
    meanings.push_back(task.modules.empty() ? Meaning{fmt::format("m{}", number + 1), static_cast<int>(number)}
                                            : meaning_of(hierarchy.modules[number], task, is_only_inner));
  }
  return meanings;
}

double rounded(double value) { return std::round(10 * value) / 10; }

double three_digits(float value) { return std::stod(fmt::format("{:.3g}", value)); }

// Calls `visit` for each weight of a network, by layer, then by `to`, then by `from`.
template <typename Visit>
void for_each_weight(const PrunedMlp& network, const Visit& visit) {
  const std::vector<methods::LayerPlace> places = methods::layer_places(network.shape);
  for (std::size_t layer = 0; layer < places.size(); ++layer) {
    for (int to = 0; to < places[layer].out; ++to) {
      for (int from = 0; from < places[layer].in; ++from) {
        visit(static_cast<int>(layer), from, to,
              places[layer].weights + static_cast<std::size_t>(to) * places[layer].in + from);
      }
    }
  }
}

// One letter for each edge that the network before it still had; all there can be, if there is none before.
std::string letters_of(const PrunedMlp& network, const PrunedMlp* before) {
  std::vector<float> largest(static_cast<std::size_t>(network.layers()), 0);
  for_each_weight(network, [&](int layer, int, int, std::size_t at) {
    largest[layer] = std::max(largest[layer], std::abs(network.parameters[at]));
  });
  std::string letters;
  for_each_weight(network, [&](int layer, int, int, std::size_t at) {
    if (before != nullptr && before->kept[at] == 0) {
      return;
    }
    const float weight = network.parameters[at];
    const float strength = largest[layer] > 0 ? std::abs(weight) / largest[layer] : 0;
    const int step = static_cast<int>(std::lround(strength * (kStrengthSteps - 1)));
    letters += network.kept[at] == 0 ? kGone : kStrengths[step + (weight < 0 ? kStrengthSteps : 0)];
  });
  return letters;
}

class Drawing {
 public:
  Drawing(const methods::SculptedNetwork& carved, const methods::Detection& detection, const tasks::Task& task)
      : carved_(carved),
        network_(methods::to_layered(carved.network)),
        hierarchy_(methods::hierarchy(network_, detection)),
        names_(network_, task),
        meanings_(meanings_of(hierarchy_, task)) {}

  ordered_json json() {
    const LayeredLayout layout = arrange();
    ordered_json json = {{"width", rounded(layout.width)}, {"height", rounded(layout.height)}};
    json["unit_height"] = kSizes.height;
    json["modules"] = modules_json(layout);
    json["layers"] = layers_json(layout);
    json["networks"] = ordered_json::array();
    std::optional<PrunedMlp> before;
    for (const methods::PruneStep* step : methods::accepted_steps(carved_)) {
      PrunedMlp network = methods::network_after(*step, carved_);
      json["networks"].push_back(letters_of(network, before ? &*before : nullptr));
      before = std::move(network);
    }
    add_last_edges(json);
    return json;
  }

 private:
  bool is_hidden(int layer) const { return layer > 0 && layer + 1 < network_.layers(); }

  LayeredLayout arrange() {
    std::vector<double> steps;
    for (int layer = 0; layer < network_.layers(); ++layer) {
      double name = 0;
      for (const Module& module : hierarchy_.modules) {
        for (const int unit : module.units[layer]) {
          name =
              std::max(name, is_hidden(layer) ? 0 : tasks::text_width(names_.of({layer, unit}), kUnitNameSize, false));
        }
      }
      unit_widths_.push_back(std::ceil(std::max(kSizes.height, name + kBesideName)));
      steps.push_back(unit_widths_.back() + kSizes.step - kSizes.height);
    }
    std::vector<double> name_widths;
    for (const Meaning& meaning : meanings_) {
      name_widths.push_back(tasks::text_width(meaning.name, kModuleNameSize, true));
    }
    return arrange_modules(network_, hierarchy_, kSizes, steps, name_widths);
  }

  ordered_json modules_json(const LayeredLayout& layout) const {
    ordered_json list = ordered_json::array();
    for (std::size_t number = 0; number < layout.modules.size(); ++number) {
      const Box& box = layout.modules[number];
      const Meaning& meaning = meanings_[number];
      list.push_back({{"name", meaning.name},
                      {"truth", meaning.truth < 0 ? ordered_json(nullptr) : ordered_json(meaning.truth)},
                      {"left", rounded(box.left)},
                      {"top", rounded(box.top)},
                      {"width", rounded(box.width)},
                      {"height", rounded(box.height)}});
    }
    return list;
  }

  // Where units stand that are left; the page puts the others aside.
  ordered_json layers_json(const LayeredLayout& layout) const {
    const std::vector<std::vector<int>> modules = methods::modules_by_unit(network_, hierarchy_);
    ordered_json list = ordered_json::array();
    for (int layer = 0; layer < network_.layers(); ++layer) {
      ordered_json units = ordered_json::array();
      ordered_json names = ordered_json::array();
      for (int unit = 0; unit < network_.widths[layer]; ++unit) {
        const Point& at = layout.units[layer][unit];
        const bool is_left = modules[layer][unit] >= 0;
        units.push_back(is_left ? ordered_json{rounded(at.x), rounded(at.y)} : ordered_json(nullptr));
        names.push_back(names_.of({layer, unit}));
      }
      list.push_back({{"name", methods::layer_name(layer, network_.layers())},
                      {"y", rounded(layout.layers[layer])},
                      {"unit_width", unit_widths_[layer]},
                      {"names", std::move(names)},
                      {"places", std::move(units)}});
    }
    return list;
  }

  // The edges that are left, in the order of the letters.
  void add_last_edges(ordered_json& json) const {
    std::set<std::tuple<int, int, int>> crossing;
    for (const methods::CrossEdge& cross : methods::cross_edges(network_, hierarchy_)) {
      crossing.emplace(cross.layer, cross.edge.from, cross.edge.to);
    }
    json["weights"] = ordered_json::array();
    json["crossing"] = ordered_json::array();
    for_each_weight(carved_.network, [&](int layer, int from, int to, std::size_t at) {
      if (carved_.network.kept[at] != 0) {
        if (crossing.contains({layer, from, to})) {
          json["crossing"].push_back(json["weights"].size());
        }
        json["weights"].push_back(three_digits(carved_.network.parameters[at]));
      }
    });
  }

  const methods::SculptedNetwork& carved_;
  models::LayeredNetwork network_;
  Hierarchy hierarchy_;
  methods::UnitNames names_;
  std::vector<Meaning> meanings_;
  std::vector<double> unit_widths_;  // [layer]
};

}  // namespace

ordered_json sculpted_drawing(const methods::SculptedNetwork& carved, const methods::Detection& detection,
                              const tasks::Task& task) {
  return Drawing(carved, detection, task).json();
}

}  // namespace modlab::report
