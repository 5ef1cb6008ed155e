#include "tasks/image_data.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <thread>

#include "core/errors.h"
#include "io/idx.h"
#include "tasks/mnist_files.h"
#include "temporary_folder.h"

namespace modlab::tasks {
namespace {

io::IdxArray numbered(std::vector<std::uint32_t> shape) {
  std::size_t count = 1;
  for (const std::uint32_t size : shape) {
    count *= size;
  }
  io::IdxArray array = {std::move(shape), std::vector<std::uint8_t>(count)};
  for (std::size_t index = 0; index < count; ++index) {
    array.values[index] = static_cast<std::uint8_t>(index);
  }
  return array;
}

class ImageDataTest : public testing::Test {
 protected:
  // Three training and two test images of 4 x 5 pixels.
  ImageDataTest() {
    write("train-images", numbered({3, 4, 5}));
    write("train-labels", {{3}, {7, 0, 7}});
    write("test-images", numbered({2, 4, 5}));
    write("test-labels", {{2}, {1, 255}});
  }

  void write(const std::string& name, const io::IdxArray& array) const { folder_.write(name, io::encode_idx(array)); }
  std::string file(const std::string& name) const { return folder_.file(name); }
  ImageFiles files() const {
    return {{file("train-images"), file("test-images")}, {file("train-labels"), file("test-labels")}};
  }

  template <typename Error>
  static void expect_refused(const ImageFiles& files, const std::vector<std::string>& parts) {
    try {
      load_image_data(files);
      ADD_FAILURE() << "was read; expected: " << parts[0];
    } catch (const Error& error) {
      for (const std::string& part : parts) {
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what() << "\nlacks: " << part;
      }
    }
  }

  test::TemporaryFolder folder_;
};

TEST_F(ImageDataTest, ImagesAndLabelsAreThoseOfTheFiles) {
  const auto data = load_image_data(files());
  EXPECT_EQ(data->train.count(), 3U);
  EXPECT_EQ(data->test.count(), 2U);
  EXPECT_EQ(data->train.rows, 4);
  EXPECT_EQ(data->train.columns, 5);
  EXPECT_EQ(data->train.pixel_count(), 20);
  EXPECT_EQ(data->train.labels, (std::vector<std::uint8_t>{7, 0, 7}));
  EXPECT_EQ(data->test.labels, (std::vector<std::uint8_t>{1, 255}));
  ASSERT_EQ(data->train.image(2).size(), 20U);
  EXPECT_EQ(data->train.image(2)[0], 40);
  EXPECT_EQ(data->train.image(2)[19], 59);
}

TEST_F(ImageDataTest, TheSameFilesAreReadOnce) {
  std::vector<std::shared_ptr<const ImageData>> seen(4);
  std::vector<std::thread> threads;
  for (auto& data : seen) {
    threads.emplace_back([&] { data = load_image_data(files()); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const auto& data : seen) {
    EXPECT_EQ(data, seen[0]);
  }
  // Others are not they.
  EXPECT_NE(load_image_data({{file("test-images"), file("train-images")}, {file("test-labels"), file("train-labels")}}),
            seen[0]);
}

TEST_F(ImageDataTest, TheDigestTellsDataApart) {
  const std::string digest = load_image_data(files())->digest;
  EXPECT_EQ(digest.size(), 64U);
  // The same bytes under another name.
  write("copy", numbered({3, 4, 5}));
  ImageFiles others = files();
  others.images[0] = file("copy");
  EXPECT_EQ(load_image_data(others)->digest, digest);
  // One pixel, one label, another shape of the same pixels.
  io::IdxArray changed = numbered({3, 4, 5});
  changed.values[33] ^= 1;
  write("pixel", changed);
  others.images[0] = file("pixel");
  EXPECT_NE(load_image_data(others)->digest, digest);
  write("label", {{3}, {7, 1, 7}});
  others = files();
  others.labels[0] = file("label");
  EXPECT_NE(load_image_data(others)->digest, digest);
  write("turned-train", numbered({3, 5, 4}));
  write("turned-test", numbered({2, 5, 4}));
  others = {{file("turned-train"), file("turned-test")}, files().labels};
  EXPECT_NE(load_image_data(others)->digest, digest);
}

TEST_F(ImageDataTest, TwoFilesOfEachAreNeeded) {
  for (const std::size_t count : {0U, 1U, 3U}) {
    ImageFiles wrong = files();
    wrong.images.resize(count);
    expect_refused<ConfigError>(wrong, {"images: two files are needed", "instead of " + std::to_string(count)});
    wrong = files();
    wrong.labels.resize(count);
    expect_refused<ConfigError>(wrong, {"labels: two files are needed", "instead of " + std::to_string(count)});
  }
}

TEST_F(ImageDataTest, LabelsAndImagesAreNotMixedUp) {
  ImageFiles wrong = files();
  std::swap(wrong.images, wrong.labels);
  expect_refused<FormatError>(wrong, {file("train-labels"), "labels where images are expected"});
  wrong = files();
  wrong.labels[1] = file("test-images");
  expect_refused<FormatError>(wrong, {file("test-images"), "images where labels are expected"});
  wrong = files();
  std::swap(wrong.labels[0], wrong.labels[1]);
  expect_refused<FormatError>(wrong, {file("train-images"), "3 images, but 2 labels", file("test-labels")});
}

TEST_F(ImageDataTest, OtherShapesAreRefused) {
  const auto expect_image = [&](const io::IdxArray& array, const std::string& part) {
    write("odd", array);
    ImageFiles wrong = files();
    wrong.images[0] = file("odd");
    expect_refused<FormatError>(wrong, {file("odd"), part});
  };
  expect_image(numbered({3, 20}), "2 dimensions");
  expect_image(numbered({3, 4, 5, 1}), "4 dimensions");
  expect_image({{0, 4, 5}, {}}, "no image");
  expect_image({{3, 0, 5}, {}}, "0 x 5 pixels");
  expect_image(numbered({3, 64, 65}), "64 x 65 pixels");
  expect_image(numbered({3, 1, 4097}), "4096");
  expect_image(numbered({3, 5, 4}), "but of 4 x 5 in " + file("test-images"));
  write("odd", numbered({3, 1}));
  ImageFiles wrong = files();
  wrong.labels[0] = file("odd");
  expect_refused<FormatError>(wrong, {file("odd"), "2 dimensions where labels have one"});
}

TEST_F(ImageDataTest, TheLargestImagesAreRead) {
  write("large-train", numbered({3, 64, 64}));
  write("large-test", numbered({2, 64, 64}));
  EXPECT_EQ(load_image_data({{file("large-train"), file("large-test")}, files().labels})->train.pixel_count(), 4096);
}

TEST_F(ImageDataTest, DamagedAndMissingFilesAreNamed) {
  folder_.write("cut", folder_.read("test-images").substr(0, 30));
  ImageFiles wrong = files();
  wrong.images[1] = file("cut");
  expect_refused<FormatError>(wrong, {file("cut"), "ends after 14 of the 40 values"});
  wrong.images[1] = file("missing");
  expect_refused<FormatError>(wrong, {file("missing"), "cannot be read"});
  // What was wrong once can be put right.
  folder_.write("cut", folder_.read("test-images"));
  wrong.images[1] = file("cut");
  EXPECT_EQ(load_image_data(wrong)->test.count(), 2U);
}

// The environment of this process, put back in the end.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = ::getenv(name)) {
      old_ = old;
    }
    if (value != nullptr) {
      ::setenv(name, value, 1);
    } else {
      ::unsetenv(name);
    }
  }
  ~Variable() {
    if (old_) {
      ::setenv(name_, old_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

TEST(MnistFolder, IsWhereCachesAre) {
  const Variable home("HOME", "/home/somebody");
  {
    const Variable cache("XDG_CACHE_HOME", "/var/cache/mine");
    EXPECT_EQ(cache_folder(mnist()), "/var/cache/mine/modlab/mnist");
  }
  // The specification of XDG_CACHE_HOME: relative paths are to be ignored.
  for (const char* value : {static_cast<const char*>(nullptr), "", "relative"}) {
    const Variable cache("XDG_CACHE_HOME", value);
    EXPECT_EQ(cache_folder(mnist()), "/home/somebody/.cache/modlab/mnist");
    const Variable no_home("HOME", nullptr);
    EXPECT_THROW(cache_folder(mnist()), ConfigError);
  }
}

TEST(MnistFiles, AreTwoOfEach) {
  const ImageFiles files = mnist_files("/x");
  EXPECT_EQ(files.images, (std::vector<std::string>{"/x/train-images-idx3-ubyte", "/x/t10k-images-idx3-ubyte"}));
  EXPECT_EQ(files.labels, (std::vector<std::string>{"/x/train-labels-idx1-ubyte", "/x/t10k-labels-idx1-ubyte"}));
}

// Files of MNIST's sizes, full of zeros; on disk they take no room.
void write_empty_mnist(const std::string& folder) {
  std::filesystem::create_directories(folder);
  for (const PublishedFile& file : kMnistFiles) {
    const std::filesystem::path path = std::filesystem::path(folder) / file.name;
    std::ofstream(path).close();
    std::filesystem::resize_file(path, file.bytes);
  }
}

TEST(MnistFiles, AreThereWhenTheirSizesAre) {
  const test::TemporaryFolder folder;
  EXPECT_FALSE(has_files(mnist(), folder.path().string()));
  EXPECT_FALSE(has_files(mnist(), folder.file("missing")));
  write_empty_mnist(folder.path().string());
  EXPECT_TRUE(has_files(mnist(), folder.path().string()));
  std::filesystem::resize_file(folder.file("t10k-labels-idx1-ubyte"), 10'007);
  EXPECT_FALSE(has_files(mnist(), folder.path().string()));
}

TEST(MnistFiles, DamageIsNoticedWhenTheyAreRead) {
  const test::TemporaryFolder folder;
  const Variable cache("XDG_CACHE_HOME", folder.path().c_str());
  write_empty_mnist(cache_folder(mnist()));
  const auto expect_damaged = [&](const std::string& part) {
    try {
      load_image_data({});
      ADD_FAILURE();
    } catch (const FormatError& error) {
      const std::string message = error.what();
      EXPECT_TRUE(message.starts_with(cache_folder(mnist()) + "/t")) << message;
      EXPECT_NE(message.find(part), std::string::npos) << message;
      EXPECT_NE(message.find("`modlab data fetch mnist`"), std::string::npos) << message;
    }
  };
  expect_damaged("not an IDX file");
  // Now with the right headers, and black images.
  const std::vector<std::vector<std::uint32_t>> shapes = {{60'000, 28, 28}, {60'000}, {10'000, 28, 28}, {10'000}};
  for (std::size_t index = 0; index < shapes.size(); ++index) {
    std::fstream file(std::filesystem::path(cache_folder(mnist())) / kMnistFiles[index].name,
                      std::ios::in | std::ios::out | std::ios::binary);
    file << io::idx_header(shapes[index]);
  }
  expect_damaged("SHA-256");
}

}  // namespace
}  // namespace modlab::tasks
