#include "experiments/images/image_details.h"

#include <algorithm>
#include <cmath>

#include "core/errors.h"
#include "models/learned_routing.h"

namespace modlab::experiments {
namespace {

using nlohmann::ordered_json;

// A few digits are enough for a picture, and JSON knows no infinity.
ordered_json short_number(double value) {
  return std::isfinite(value) ? ordered_json(std::round(1e4 * value) / 1e4) : ordered_json(nullptr);
}

const char* part_word(engine::Part part) {
  return part == engine::Part::kTest ? "unseen" : part == engine::Part::kValidation ? "validation" : "train";
}

void check_that(bool is_so) {
  if (!is_so) {
    throw FormatError("a network in the store has what cannot be; the store is damaged");
  }
}

// Drawings follow these numbers, and a store may come from anyone.
bool is_possible(const models::ImageRouting& routing, const tasks::TaskSuite& suite) {
  const tasks::ImageInputs& inputs = *suite.images();
  const auto all_below = [](const std::vector<int>& picks, std::size_t candidates) {
    return std::ranges::all_of(picks,
                               [&](int pick) { return pick >= 0 && static_cast<std::size_t>(pick) < candidates; });
  };
  const bool fits_task = all_below(routing.images, static_cast<std::size_t>(inputs.images)) &&
                         (routing.members.empty() || routing.members.size() == routing.images.size()) &&
                         routing.bits.outputs.size() == static_cast<std::size_t>(suite.outputs()) &&
                         !routing.bits.inputs.empty() &&
                         (routing.bits.modules.empty() || routing.bits.modules.size() == routing.bits.inputs.size());
  if (!fits_task) {
    return false;
  }
  std::size_t below = routing.images.size() * static_cast<std::size_t>(inputs.bits);
  std::size_t slots = 0;
  for (std::size_t level = 0; level < routing.bits.inputs.size(); ++level) {
    const std::vector<std::vector<int>>& picks_of = routing.bits.inputs[level];
    if (!std::ranges::all_of(picks_of, [&](const std::vector<int>& picks) { return all_below(picks, below); }) ||
        (!routing.bits.modules.empty() && routing.bits.modules[level].size() != picks_of.size())) {
      return false;
    }
    below = picks_of.size();
    slots += below;
  }
  return all_below(routing.bits.outputs, routing.bits.outputs_from_all_levels ? slots : below);
}

}  // namespace

ordered_json image_details(const measures::ImageView& view, const tasks::TaskSuite& suite) {
  const tasks::ImageInputs& inputs = *suite.images();
  ordered_json json = {
      {"modules", ordered_json::array()}, {"combinations", ordered_json::array()}, {"examples", ordered_json::array()}};
  if (view.routing) {
    json["routing"] = {{"images", view.routing->images},
                       {"members", view.routing->members},
                       {"inputs", view.routing->bits.inputs},
                       {"modules", view.routing->bits.modules},
                       {"outputs", view.routing->bits.outputs},
                       {"outputs_from_all_levels", view.routing->bits.outputs_from_all_levels}};
  }
  for (const measures::ImageModuleView& module : view.modules) {
    ordered_json means = ordered_json::array();
    for (const std::vector<double>& output : module.means) {
      ordered_json row = ordered_json::array();
      for (const double mean : output) {
        row.push_back(short_number(mean));
      }
      means.push_back(std::move(row));
    }
    json["modules"].push_back({{"reads", module.reads},
                               {"means", std::move(means)},
                               {"specialisation", short_number(module.specialisation)}});
  }
  for (const measures::CombinationScore& score : view.combinations) {
    json["combinations"].push_back({{"digits", tasks::digits_of(inputs, score.row)},
                                    {"part", part_word(score.part)},
                                    {"accuracy", short_number(100.0 * score.right_bits / score.bits)}});
  }
  for (const measures::ImageExample& example : view.examples) {
    ordered_json truth = ordered_json::array();
    ordered_json says = ordered_json::array();
    for (std::size_t output = 0; output < example.says.size(); ++output) {
      truth.push_back(tasks::output_bit(suite.tasks.front().table, example.row, static_cast<int>(output)) ? 1 : 0);
      says.push_back(short_number(example.says[output]));
    }
    json["examples"].push_back({{"digits", tasks::digits_of(inputs, example.row)},
                                {"part", part_word(example.part)},
                                {"images", example.images},
                                {"truth", std::move(truth)},
                                {"says", std::move(says)}});
  }
  return json;
}

std::optional<models::ImageRouting> routing_of_details(const ordered_json& details, const tasks::TaskSuite& suite) {
  const auto found = details.find("routing");
  if (found == details.end()) {
    return std::nullopt;
  }
  models::ImageRouting routing;
  found->at("images").get_to(routing.images);
  found->at("members").get_to(routing.members);
  found->at("inputs").get_to(routing.bits.inputs);
  found->at("modules").get_to(routing.bits.modules);
  found->at("outputs").get_to(routing.bits.outputs);
  found->at("outputs_from_all_levels").get_to(routing.bits.outputs_from_all_levels);
  if (!is_possible(routing, suite)) {
    throw FormatError("a network in the store selects what is not there; the store is damaged");
  }
  return routing;
}

const ordered_json& checked_details(const ordered_json& details, const tasks::TaskSuite& suite) {
  const tasks::ImageInputs& inputs = *suite.images();
  const auto is_digits = [&](const ordered_json& digits) {
    return digits.size() == static_cast<std::size_t>(inputs.images) &&
           std::ranges::all_of(digits, [&](const ordered_json& digit) {
             return digit.is_number_integer() && digit.get<int>() >= 0 && digit.get<int>() < inputs.digits;
           });
  };
  for (const ordered_json& module : details.at("modules")) {
    check_that(std::ranges::all_of(module.at("reads"), [&](const ordered_json& image) {
      return image.is_number_integer() && image.get<int>() >= 0 && image.get<int>() < inputs.images;
    }));
    for (const ordered_json& row : module.at("means")) {
      check_that(row.size() == static_cast<std::size_t>(inputs.digits));
    }
  }
  for (const ordered_json& combination : details.at("combinations")) {
    const double accuracy = combination.at("accuracy").get<double>();
    check_that(is_digits(combination.at("digits")) && accuracy >= 0 && accuracy <= 100);
  }
  for (const ordered_json& example : details.at("examples")) {
    const auto outputs = static_cast<std::size_t>(suite.outputs());
    check_that(is_digits(example.at("digits")) && example.at("truth").size() == outputs &&
               example.at("says").size() == outputs && example.at("images").size() <= tasks::kMaxImages);
  }
  return details;
}

}  // namespace modlab::experiments
