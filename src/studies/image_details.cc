#include "studies/image_details.h"

#include <cmath>

namespace modlab::studies {
namespace {

using nlohmann::ordered_json;

// A few digits are enough for a picture, and JSON knows no infinity.
ordered_json short_number(double value) {
  return std::isfinite(value) ? ordered_json(std::round(1e4 * value) / 1e4) : ordered_json(nullptr);
}

const char* part_word(engine::Part part) {
  return part == engine::Part::kTest ? "unseen" : part == engine::Part::kValidation ? "validation" : "train";
}

}  // namespace

ordered_json image_details(const measures::ImageView& view, const tasks::TaskSuite& suite) {
  const tasks::ImageInputs& inputs = *suite.images();
  ordered_json json = {
      {"modules", ordered_json::array()}, {"combinations", ordered_json::array()}, {"examples", ordered_json::array()}};
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

}  // namespace modlab::studies
