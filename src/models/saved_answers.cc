#include "models/saved_answers.h"

#include <algorithm>
#include <numeric>

#include "engine/flush_denormals.h"
#include "engine/solo/pixels.h"
#include "models/images/image_blueprint.h"
#include "models/plain_forward.h"
#include "models/rules/rule_network.h"

namespace modlab::models {
namespace {

using engine::solo::padded;

const engine::solo::Kernels<float>& solo_kernels() { return engine::solo::kernels_for(engine::kernels().target); }

// As many samples at a time as keep a network's activations small.
constexpr std::size_t kRowsAtOnce = 1024;

}  // namespace

std::vector<float> answers(const SavedSnapshot& snapshot, int task, std::span<const std::uint32_t> rows) {
  const PlainValues values =
      plain_forward(snapshot.network.blueprint, snapshot.parameters(), snapshot.network.suite, task);
  std::vector<float> said;
  said.reserve(rows.size() * values.outputs.size());
  for (const std::uint32_t row : rows) {
    for (const std::vector<double>& output : values.outputs) {
      said.push_back(static_cast<float>(output[row]));
    }
  }
  return said;
}

ImageSizes image_sizes(const SavedImageSnapshot& snapshot) {
  const auto& shape = snapshot.network.blueprint.shape;
  if (const auto* mlp = std::get_if<ImageMlpShape>(&shape)) {
    return {mlp->images(), mlp->reader.rows, mlp->reader.columns};
  }
  const auto& modular = std::get<ImageModularShape>(shape);
  return {modular.images, modular.reader.rows, modular.reader.columns};
}

std::vector<float> answers(const SavedImageSnapshot& snapshot, std::span<const std::uint8_t> pixels) {
  const engine::FlushDenormals flush;
  const ImageSizes sizes = image_sizes(snapshot);
  const engine::solo::PixelImages images =
      engine::solo::make_pixel_images(pixels, sizes.rows * sizes.columns, snapshot.network.spec.normalize);
  const std::size_t samples = pixels.size() / sizes.sample();
  const auto outputs = static_cast<std::size_t>(snapshot.network.suite.outputs());
  std::vector<std::uint32_t> numbers(samples * static_cast<std::size_t>(sizes.images));
  std::iota(numbers.begin(), numbers.end(), 0U);
  const auto network = make_network<float>(snapshot.network.blueprint, solo_kernels());
  network->parameters().load(snapshot.parameters());
  network->begin_evaluation();
  std::vector<float> said(samples * outputs);
  for (std::size_t first = 0; first < samples; first += engine::solo::kChunkRows) {
    const std::size_t rows = std::min<std::size_t>(engine::solo::kChunkRows, samples - first);
    const engine::solo::Logits<float> logits = network->evaluate(
        {&images, numbers.data() + first * static_cast<std::size_t>(sizes.images), static_cast<int>(rows)});
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t output = 0; output < outputs; ++output) {
        said[(first + row) * outputs + output] = logits.values[output * static_cast<std::size_t>(logits.stride) + row];
      }
    }
  }
  return said;
}

std::vector<float> answers(const SavedRuleSnapshot& snapshot, std::span<const float> inputs, int tokens) {
  const engine::FlushDenormals flush;
  const RuleShape& shape = snapshot.network.shape;
  const auto columns = static_cast<std::size_t>(shape.data_columns);
  const auto width = columns + static_cast<std::size_t>(shape.rules);
  const auto outputs = static_cast<std::size_t>(shape.outputs);
  const auto length = static_cast<std::size_t>(tokens);
  const std::size_t samples = inputs.size() / (width * length);
  const auto network = make_rule_network<float>(shape, solo_kernels());
  network->parameters().load(snapshot.parameters());
  std::vector<float> said(samples * length * outputs);
  const std::size_t at_once = std::max<std::size_t>(1, kRowsAtOnce / length);
  for (std::size_t first = 0; first < samples; first += at_once) {
    RuleBatch batch;
    batch.samples = static_cast<int>(std::min(at_once, samples - first));
    batch.length = tokens;
    batch.step_by_step = shape.family == tasks::RuleFamily::kRnn;
    batch.columns = padded(shape.data_columns);
    batch.outputs = padded(shape.outputs);
    batch.use = SampleUse::kTest;
    batch.iteration = snapshot.iteration();
    const auto rows = static_cast<std::size_t>(batch.rows());
    batch.data.assign(rows * static_cast<std::size_t>(batch.columns), 0.0F);
    batch.targets.assign(rows * static_cast<std::size_t>(batch.outputs), 0.0F);
    batch.rules.resize(rows);
    const auto for_each_token = [&](const auto& visit) {
      for (int sample = 0; sample < batch.samples; ++sample) {
        for (int token = 0; token < tokens; ++token) {
          visit(static_cast<std::size_t>(batch.row_of(sample, token)),
                (first + static_cast<std::size_t>(sample)) * length + static_cast<std::size_t>(token));
        }
      }
    };
    for_each_token([&](std::size_t row, std::size_t place) {
      const std::span<const float> input = inputs.subspan(place * width, width);
      std::copy_n(input.begin(), columns, batch.data.begin() + static_cast<std::ptrdiff_t>(row * batch.columns));
      batch.rules[row] =
          static_cast<std::uint16_t>(std::ranges::max_element(input.subspan(columns)) - input.subspan(columns).begin());
    });
    batch.said = batch.rules;
    const float* values = network->forward(batch);
    for_each_token([&](std::size_t row, std::size_t place) {
      std::copy_n(values + row * static_cast<std::size_t>(batch.outputs), outputs,
                  said.begin() + static_cast<std::ptrdiff_t>(place * outputs));
    });
  }
  return said;
}

}  // namespace modlab::models
