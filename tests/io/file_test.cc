#include "io/file.h"

#include <gtest/gtest.h>

#include "core/errors.h"
#include "temporary_folder.h"

namespace modlab::io {
namespace {

using Names = std::vector<std::string>;

TEST(ReadFile, GivesTheWholeFileUpToItsLimit) {
  const test::TemporaryFolder folder;
  // Longer than one block of reading, and with a zero byte.
  const std::string text = std::string(40'000, 'x') + std::string(1, '\0') + "end";
  folder.write("a", text);
  EXPECT_EQ(read_file(folder.file("a"), text.size()), text);
  EXPECT_THROW(read_file(folder.file("a"), text.size() - 1), FormatError);
  folder.write("empty", "");
  EXPECT_EQ(read_file(folder.file("empty"), 0), "");
}

TEST(ReadFile, RefusesFoldersAndMissingFiles) {
  const test::TemporaryFolder folder;
  EXPECT_THROW(read_file(folder.path().string(), 100), FormatError);
  EXPECT_THROW(read_file(folder.file("missing"), 100), FormatError);
}

TEST(AtomicFile, AppearsOnlyWhenCommitted) {
  const test::TemporaryFolder folder;
  {
    AtomicFile file(folder.file("a"));
    file.write("one ");
    file.write("two");
    EXPECT_FALSE(std::filesystem::exists(folder.file("a")));
    file.commit();
    EXPECT_EQ(folder.read("a"), "one two");
  }
  EXPECT_EQ(folder.names(), Names{"a"});
}

TEST(AtomicFile, LeavesNothingWithoutCommit) {
  const test::TemporaryFolder folder;
  {
    AtomicFile file(folder.file("a"));
    file.write("half of it");
  }
  EXPECT_EQ(folder.names(), Names{});
}

TEST(AtomicFile, KeepsTheOldFileWithoutCommit) {
  const test::TemporaryFolder folder;
  folder.write("a", "old");
  {
    AtomicFile file(folder.file("a"));
    file.write("half of it");
  }
  EXPECT_EQ(folder.read("a"), "old");
  write_file(folder.file("a"), "new");
  EXPECT_EQ(folder.read("a"), "new");
  EXPECT_EQ(folder.names(), Names{"a"});
}

TEST(AtomicFile, LeavesNothingWhenItCannotCommit) {
  const test::TemporaryFolder folder;
  {
    AtomicFile file(folder.file("a"));
    file.write("text");
    // Someone makes a folder of that name meanwhile, so that the last step fails.
    std::filesystem::create_directory(folder.file("a"));
    EXPECT_THROW(file.commit(), FormatError);
  }
  EXPECT_EQ(folder.names(), Names{"a"});
  EXPECT_TRUE(std::filesystem::is_empty(folder.file("a")));
}

TEST(WriteFile, RefusesPlacesThatCannotBeWritten) {
  const test::TemporaryFolder folder;
  folder.write("file", "text");
  std::filesystem::create_directory(folder.file("folder"));
  const Names before = folder.names();
  for (const std::string& path : {folder.file("missing/a"), folder.file("file/a"), folder.file("folder"),
                                  std::string("/proc/modlab-test"), std::string("/dev/null"), std::string("")}) {
    EXPECT_THROW(write_file(path, "text"), FormatError) << path;
  }
  EXPECT_EQ(folder.names(), before);
}

TEST(PrepareFolder, MakesFoldersAndRefusesOtherPlaces) {
  const test::TemporaryFolder folder;
  prepare_folder(folder.file("a/b"));
  EXPECT_TRUE(std::filesystem::is_directory(folder.file("a/b")));
  EXPECT_NO_THROW(prepare_folder(folder.file("a/b")));
  folder.write("file", "text");
  EXPECT_THROW(prepare_folder(folder.file("file")), FormatError);
  EXPECT_THROW(prepare_folder(folder.file("file/below")), FormatError);
  EXPECT_THROW(prepare_folder("/proc/modlab-test"), FormatError);
}

}  // namespace
}  // namespace modlab::io
