#include "models/images/image_blueprint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/errors.h"
#include "core/text.h"
#include "models/images/image_network.h"
#include "models/initial_weights.h"
#include "models/resolve.h"
#include "models/training_settings.h"
#include "tasks/image_samples.h"
#include "tasks/tasks_at_hand.h"

namespace modlab::models {
namespace {

constexpr int kPublishedHiddenWidth = 36;
constexpr int kPublishedPixelWidths[] = {256, 128};
constexpr int kPublishedImageWidths[] = {128, 64};
// Channels of the published convolutions, of the network without modules and of an image module.
const std::vector<int> kCnnChannels = {12, 32};
const std::vector<int> kModuleChannels = {6, 16};
constexpr int kMnistSize = 28;

struct ImageSize {
  int rows = kMnistSize;
  int columns = kMnistSize;
};

std::string size_fact(const tasks::ImageFiles& files) { return "images " + join_text(files.images, ","); }

// What a store says of images that are not there, which is enough to plan with.
std::optional<ImageSize> size_at_hand(const tasks::ImageFiles& files) {
  const std::vector<std::string> words = split_text(tasks::fact_at_hand(size_fact(files)).value_or(""), ' ');
  const std::optional<long long> rows = parse_integer(words.front());
  const std::optional<long long> columns = parse_integer(words.back());
  constexpr auto kMost = static_cast<long long>(tasks::kMaxPixels);
  const bool is_size =
      words.size() == 2 && rows && columns && *rows > 0 && *columns > 0 && *rows <= kMost && *columns <= kMost / *rows;
  return is_size ? std::optional(ImageSize{static_cast<int>(*rows), static_cast<int>(*columns)}) : std::nullopt;
}

// MNIST is not fetched for its size alone.
ImageSize image_size(const ImageSpec& spec) {
  const tasks::ImageFiles files = image_files(spec);
  if (files.is_mnist()) {
    return {};
  }
  try {
    const auto data = tasks::load_image_data(files);
    return {data->train.rows, data->train.columns};
  } catch (const UserError&) {
    if (const std::optional<ImageSize> size = size_at_hand(files)) {
      return *size;
    }
    throw;
  }
}

// What two convolutions leave for the layers behind them.
int convolved_inputs(const ImageSize& size, const std::vector<int>& channels) {
  const int rows = convolved(size.rows);
  const int columns = convolved(size.columns);
  if (rows < 1 || columns < 1) {
    throw ConfigError(
        fmt::format("images of {} by {} pixels are too small for two convolutions; use image modules mlp, "
                    "or model dense",
                    size.rows, size.columns));
  }
  return channels.back() * rows * columns;
}

void resolve_image_widths(ImageSpec& spec, const ImageSize& size, int bits) {
  const bool convolves = spec.image_module == ImageModule::kConvolution;
  const int inputs = convolves ? convolved_inputs(size, kModuleChannels) : size.rows * size.columns;
  std::vector<int>& widths = spec.image_widths;
  if (widths.empty() && !convolves) {
    widths.assign(std::begin(kPublishedImageWidths), std::end(kPublishedImageWidths));
  }
  const bool is_complete = widths.size() >= 2 && widths.back() == bits;
  if (is_complete && widths.front() != inputs) {
    throw ConfigError(fmt::format(
        "image_widths {} begins with {}, but {} {} numbers; give {} first, or the hidden "
        "layers alone",
        fmt::join(widths, ","), widths.front(),
        convolves ? "the convolutions leave" : fmt::format("an image of {} by {} pixels has", size.rows, size.columns),
        inputs, inputs));
  }
  if (!is_complete) {
    widths.insert(widths.begin(), inputs);
    widths.push_back(bits);
  }
}

void resolve_images(ImageSpec& spec, const tasks::TaskSuite& suite) {
  const tasks::ImageInputs& inputs = *suite.images();
  const ImageSize size = image_size(spec);
  if (spec.gumbel == engine::Gumbel::kSample) {
    // As published: networks on images route a batch at a time.
    spec.gumbel = engine::Gumbel::kBatch;
  }
  if (spec.model == ModelKind::kCnn) {
    convolved_inputs(size, kCnnChannels);
  }
  if (spec.is_mlp()) {
    return;
  }
  resolve_image_widths(spec, size, inputs.bits);
  if (spec.image_slots == 0) {
    spec.image_slots = inputs.images;
  }
  if (spec.image_pool == 0 && spec.has_pool()) {
    spec.image_pool = 1;
  }
  const bool knows_images =
      spec.known_inputs || spec.model == ModelKind::kModularFc || spec.model == ModelKind::kSharedFcms;
  if (knows_images && spec.image_slots != inputs.images) {
    throw ConfigError(
        fmt::format("known routing needs {} image slots, one for each image, not {}; leave the setting out",
                    inputs.images, spec.image_slots));
  }
}

ImageMlpShape image_mlp_shape(const ImageSpec& spec, const tasks::TaskSuite& suite) {
  const ImageSize size = image_size(spec);
  ImageMlpShape shape;
  shape.reader.parts = suite.images()->images;
  shape.reader.rows = size.rows;
  shape.reader.columns = size.columns;
  if (spec.model == ModelKind::kCnn) {
    shape.reader.channels = kCnnChannels;
    shape.reader.widths.push_back(convolved_inputs(size, kCnnChannels));
  } else {
    shape.reader.widths.push_back(shape.reader.parts * shape.reader.pixels());
  }
  shape.reader.widths.insert(shape.reader.widths.end(), spec.hidden.begin(), spec.hidden.end());
  shape.reader.widths.push_back(suite.outputs());
  return shape;
}

ImageModularShape image_modular_shape(const ImageSpec& spec, const tasks::TaskSuite& suite, const ModularShape& bits) {
  const ImageSize size = image_size(spec);
  ImageModularShape shape;
  shape.images = suite.images()->images;
  shape.image_slots = spec.image_slots;
  shape.image_pool = spec.has_pool() ? spec.image_pool : 0;
  shape.reader.rows = size.rows;
  shape.reader.columns = size.columns;
  if (spec.image_module == ImageModule::kConvolution) {
    shape.reader.channels = kModuleChannels;
  }
  shape.reader.widths = spec.image_widths;
  shape.bits = bits;
  return shape;
}

}  // namespace

tasks::ImageFiles image_files(const ImageSpec& spec) { return {spec.images, spec.labels}; }

std::string block_key(const ImageSpec& spec) { return image_settings().shared_key(spec); }

ImageSpec resolve(const ImageSpec& given, const tasks::TaskSuite& suite) {
  ImageSpec spec = given;
  resolve_images(spec, suite);
  // Says so if the ratio leaves a part without combinations.
  tasks::count_combinations(*suite.images(), spec.ratio);
  resolve_training(spec, suite);
  if (!spec.is_mlp()) {
    resolve_modules(spec, suite, {spec.image_slots * suite.images()->bits, "add image slots"});
  } else if (spec.hidden.empty()) {
    // One hidden layer more than on bits, behind those that read the images.
    spec.hidden.assign(2 * sizes_of(suite).depth, kPublishedHiddenWidth);
    if (spec.model != ModelKind::kCnn) {
      spec.hidden.insert(spec.hidden.begin(), std::begin(kPublishedPixelWidths), std::end(kPublishedPixelWidths));
    }
  }
  return spec;
}

ImageBlueprint make_blueprint(const ImageSpec& spec, const tasks::TaskSuite& suite) {
  ImageBlueprint blueprint;
  blueprint.block = block_settings(spec);
  if (spec.is_mlp()) {
    const ImageMlpShape shape = image_mlp_shape(spec, suite);
    blueprint.layout = image_mlp_layout(shape).layout;
    blueprint.shape = shape;
  } else {
    blueprint.known_routing = known_routing(spec, suite);
    const ImageModularShape shape =
        image_modular_shape(spec, suite, modular_shape(spec, suite, spec.image_slots * suite.images()->bits));
    blueprint.layout = image_modular_layout(shape).layout;
    blueprint.shape = shape;
  }
  check_parameters(blueprint.layout);
  return blueprint;
}

template <typename T>
std::unique_ptr<engine::solo::Network<T>> make_network(const ImageBlueprint& blueprint,
                                                       const engine::solo::Kernels<T>& kernels) {
  if (const auto* mlp = std::get_if<ImageMlpShape>(&blueprint.shape)) {
    return make_image_mlp<T>(*mlp, kernels);
  }
  return make_image_modular<T>(std::get<ImageModularShape>(blueprint.shape), kernels);
}

template std::unique_ptr<engine::solo::Network<float>> make_network(const ImageBlueprint&,
                                                                    const engine::solo::Kernels<float>&);
template std::unique_ptr<engine::solo::Network<double>> make_network(const ImageBlueprint&,
                                                                     const engine::solo::Kernels<double>&);

engine::LaneSettings make_lane(const ImageSpec& spec, const ImageBlueprint& blueprint) {
  engine::LaneSettings lane = common_lane(spec, blueprint.layout);
  if (const auto* modular = std::get_if<ImageModularShape>(&blueprint.shape)) {
    const SelectionPlaces places = bit_selections(image_modular_layout(*modular));
    fix_known_selections(modular->bits, places, blueprint.known_routing, lane.initial);
    fix_known_images(*modular, lane.initial);
  }
  return lane;
}

tasks::FileFacts image_facts(const ImageSpec& spec) {
  const tasks::ImageFiles files = image_files(spec);
  if (files.is_mnist()) {
    return {};
  }
  const ImageSize size = image_size(spec);
  return {{size_fact(files), fmt::format("{} {}", size.rows, size.columns)}};
}

}  // namespace modlab::models
