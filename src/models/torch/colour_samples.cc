#include "models/torch/colour_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "core/errors.h"
#include "models/torch/given_samples.h"
#include "tasks/cifar_files.h"

namespace modlab::models {
namespace {

constexpr int kLeastSide = 8;  // networks halve an image three times
constexpr int kMostSide = 256;
constexpr int kMostImageClasses = 100;
constexpr float kBrightest = 255;

}  // namespace

std::shared_ptr<const ColourSamples> load_cifar10() {
  static std::mutex mutex;
  static std::weak_ptr<const ColourSamples> known;
  const std::lock_guard lock(mutex);
  if (auto found = known.lock()) {
    return found;
  }
  const std::string folder = tasks::cache_folder(tasks::cifar10());
  if (!tasks::has_files(tasks::cifar10(), folder)) {
    throw ConfigError(fmt::format("{}: CIFAR-10 is not there; `modlab data fetch cifar10` fetches it ({} MB)", folder,
                                  tasks::cifar10().megabytes));
  }
  tasks::CifarData data = tasks::read_cifar10(folder);
  auto samples = std::make_shared<ColourSamples>();
  samples->side = tasks::ColourSet::kSide;
  samples->names.assign(tasks::kCifarClasses.begin(), tasks::kCifarClasses.end());
  samples->learned = data.train.count();
  samples->pixels = std::move(data.train.pixels);
  samples->labels = std::move(data.train.labels);
  samples->pixels.insert(samples->pixels.end(), data.test.pixels.begin(), data.test.pixels.end());
  samples->labels.insert(samples->labels.end(), data.test.labels.begin(), data.test.labels.end());
  known = samples;
  return samples;
}

ColourSamples read_colour_samples(const std::string& path) {
  const GivenSamples given = read_samples(path, LabelLoss::kAuto);
  const auto fail = [&](const std::string& reason) { throw FormatError(fmt::format("{}: {}", path, reason)); };
  if (given.kind != LabelKind::kClasses || given.classes() > kMostImageClasses) {
    fail(fmt::format("labels of images are numbers of classes, one for each, below {}", kMostImageClasses));
  }
  if (given.shape.size() != 3 || given.shape[0] != ColourSamples::kColours || given.shape[1] != given.shape[2] ||
      given.shape[1] < kLeastSide || given.shape[1] > kMostSide) {
    fail(fmt::format("images have three colours and are square, shape (N, 3, side, side) with a side from {} to {}",
                     kLeastSide, kMostSide));
  }
  if (!given.are_whole ||
      std::ranges::any_of(given.inputs, [](float shade) { return shade < 0 || shade > kBrightest; })) {
    fail("pixels are whole numbers from 0 to 255");
  }
  ColourSamples samples;
  samples.side = static_cast<int>(given.shape[1]);
  for (int one = 0; one < std::max(2, given.classes()); ++one) {
    samples.names.push_back(fmt::format("class{}", one));
  }
  const auto as_byte = [](float value) { return static_cast<std::uint8_t>(value); };
  std::ranges::transform(given.inputs, std::back_inserter(samples.pixels), as_byte);
  std::ranges::transform(given.labels, std::back_inserter(samples.labels), as_byte);
  samples.learned = given.learned;
  return samples;
}

}  // namespace modlab::models
