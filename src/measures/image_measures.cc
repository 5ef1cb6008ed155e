#include "measures/image_measures.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/errors.h"
#include "engine/flush_denormals.h"
#include "measures/edit_distance.h"
#include "measures/image_specialisation.h"
#include "measures/image_wiring.h"
#include "models/images/image_blueprint.h"
#include "models/images/image_reader.h"
#include "models/learned_routing.h"

namespace modlab::measures {
namespace {

using engine::Part;
using engine::solo::kChunkRows;

constexpr std::size_t kUnseenExamples = 8;
constexpr std::size_t kSeenExamples = 4;

// The test images of the task's digits.
struct DigitImages {
  std::vector<std::uint32_t> numbers;
  std::vector<int> digits;
};

DigitImages digit_images(const tasks::ImageSet& set, int digits) {
  DigitImages found;
  for (std::size_t image = 0; image < set.count(); ++image) {
    if (set.labels[image] < digits) {
      found.numbers.push_back(static_cast<std::uint32_t>(image));
      found.digits.push_back(set.labels[image]);
    }
  }
  return found;
}

ImageModuleView view_module(models::Reader<float>& reader, int outputs, const engine::solo::PixelImages& pixels,
                            const DigitImages& images, const tasks::ImageInputs& inputs) {
  std::vector<std::vector<double>> values(outputs, std::vector<double>(images.numbers.size()));
  const int stride = engine::solo::padded(outputs);
  for (std::size_t first = 0; first < images.numbers.size(); first += kChunkRows) {
    const int rows = static_cast<int>(std::min<std::size_t>(kChunkRows, images.numbers.size() - first));
    const float* said = reader.forward(0, {&pixels, images.numbers.data() + first, 1, 1, rows});
    for (int row = 0; row < rows; ++row) {
      for (int output = 0; output < outputs; ++output) {
        values[output][first + row] = said[static_cast<std::size_t>(row) * stride + output];
      }
    }
  }
  ImageModuleView view;
  view.specialisation = image_specialisation(values, images.digits, inputs.bits);
  for (const std::vector<double>& output : values) {
    std::vector<double> sums(inputs.digits, 0.0);
    std::vector<int> counts(inputs.digits, 0);
    for (std::size_t image = 0; image < output.size(); ++image) {
      sums[images.digits[image]] += output[image];
      ++counts[images.digits[image]];
    }
    for (int digit = 0; digit < inputs.digits; ++digit) {
      sums[digit] /= std::max(1, counts[digit]);
    }
    view.means.push_back(std::move(sums));
  }
  return view;
}

void view_modules(const models::ImageModularShape& shape, const tasks::TaskSuite& suite,
                  const std::vector<float>& parameters, const models::ImagePixels& pixels,
                  const engine::solo::Kernels<float>& kernels, ImageView& view) {
  const models::ImageModularLayout places = models::image_modular_layout(shape);
  engine::solo::Parameters<float> arranged(places.layout, places.pixel_tensors);
  arranged.load(parameters);
  const DigitImages images = digit_images(pixels.data->test, suite.images()->digits);
  for (const models::ReaderTensors& tensors : places.readers) {
    const auto reader = models::make_reader<float>(shape.reader, tensors, 1, arranged, kernels);
    view.modules.push_back(view_module(*reader, shape.reader.outputs(), pixels.test, images, *suite.images()));
  }
  // Every slot counts once: its own module, or the member that it selects.
  const models::ImageRouting routing = models::learned_routing(shape, parameters);
  double sum = 0;
  for (int slot = 0; slot < shape.image_slots; ++slot) {
    ImageModuleView& module = view.modules[routing.members.empty() ? slot : routing.members[slot]];
    module.reads.push_back(routing.images[slot]);
    sum += module.specialisation;
  }
  view.measures.image_specialisation = sum / shape.image_slots;
  view.measures.edit_distance = image_edit_distance(shape, suite, parameters);
  view.routing = routing;
}

void add_combinations(const std::vector<tasks::ImageSample>& samples, const std::vector<std::uint8_t>& right, Part part,
                      int outputs, ImageView& view) {
  std::map<int, CombinationScore> scores;
  for (std::size_t sample = 0; sample < samples.size(); ++sample) {
    const int row = static_cast<int>(samples[sample].combination);
    CombinationScore& score = scores[row];
    score.row = row;
    score.part = part;
    score.right_bits += right[sample];
    score.bits += outputs;
  }
  for (const auto& [row, score] : scores) {
    view.combinations.push_back(score);
  }
}

// The first sample of each of some combinations, evenly over those there are.
void add_examples(engine::solo::Network<float>& network, const engine::solo::SampleList& list,
                  const std::vector<tasks::ImageSample>& samples, Part part, std::size_t wanted, int images,
                  int outputs, ImageView& view) {
  if (wanted == 0) {
    return;
  }
  std::vector<std::size_t> firsts;
  for (std::size_t sample = 0; sample < samples.size(); ++sample) {
    if (sample == 0 || samples[sample].combination != samples[sample - 1].combination) {
      firsts.push_back(sample);
    }
  }
  const std::size_t step = std::max<std::size_t>(1, firsts.size() / wanted);
  for (std::size_t at = 0; at < firsts.size() && at / step < wanted; at += step) {
    const std::size_t sample = firsts[at];
    const engine::solo::Logits<float> logits =
        network.evaluate({list.images, list.numbers.data() + sample * static_cast<std::size_t>(images), 1});
    ImageExample& example = view.examples.emplace_back();
    example.row = static_cast<int>(samples[sample].combination);
    example.part = part;
    example.images.assign(samples[sample].images.begin(), samples[sample].images.begin() + images);
    for (int output = 0; output < outputs; ++output) {
      const double z = logits.values[static_cast<std::size_t>(output) * logits.stride];
      example.says.push_back(1 / (1 + std::exp(-z)));
    }
  }
}

}  // namespace

double image_edit_distance(const models::ImageModularShape& shape, const tasks::TaskSuite& suite,
                           const std::vector<float>& parameters) {
  try {
    const models::ImageRouting learned = models::learned_routing(shape, parameters);
    return edit_distance(with_image_level(learned.images, shape.reader.outputs(), learned.bits),
                         true_image_routing(suite), shape.images)
        .distance;
  } catch (const ConfigError&) {
    // No graph, no routing, or so many modules that the distance cannot be found.
    return NetworkMeasures::kNone;
  }
}

ImageView view_image_network(const models::ImageSpec& spec, const models::ImageBlueprint& blueprint,
                             const tasks::TaskSuite& suite, const std::vector<float>& parameters,
                             const engine::Kernels<float>& kernels) {
  const engine::FlushDenormals flush;
  const engine::solo::Kernels<float>& solo = engine::solo::kernels_for(kernels.target);
  const auto pixels = models::load_pixels(spec);
  ImageView view;
  if (const auto* shape = std::get_if<models::ImageModularShape>(&blueprint.shape)) {
    view_modules(*shape, suite, parameters, *pixels, solo, view);
  }
  const auto network = models::make_network<float>(blueprint, solo);
  network->parameters().load(parameters);
  network->begin_evaluation();
  const engine::solo::Data data = models::make_image_samples(spec, suite, *pixels);
  const tasks::ImageSamples samples = models::draw_image_samples(spec, suite, *pixels->data);
  const auto look = [&](Part part, Part shown_as, const std::vector<tasks::ImageSample>& drawn, std::size_t examples) {
    std::vector<std::uint8_t> right;
    engine::solo::evaluate_samples(*network, solo, data, data[part], spec.loss, &right);
    add_combinations(drawn, right, shown_as, data.outputs, view);
    add_examples(*network, data[part], drawn, shown_as, examples, data.images, data.outputs, view);
  };
  look(Part::kTest, Part::kTest, samples.unseen, kUnseenExamples);
  // What was trained on is looked at with other images.
  look(Part::kSeen, Part::kTrain, samples.seen, kSeenExamples);
  look(Part::kValidation, Part::kValidation, samples.validation, 0);
  return view;
}

}  // namespace modlab::measures
