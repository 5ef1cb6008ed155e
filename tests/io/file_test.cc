#include "io/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

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

// The number of a process that is gone.
pid_t ended_process() {
  const pid_t process = ::fork();
  if (process == 0) {
    ::_exit(0);
  }
  ::waitpid(process, nullptr, 0);
  return process;
}

TEST(AtomicFile, ClearsWhatKilledProcessesLeftInItsFolder) {
  const test::TemporaryFolder folder;
  const std::string gone = std::to_string(ended_process());
  const std::string alive = std::to_string(::getppid());
  folder.write("a." + gone + ".modlab.tmp", "half of it");
  folder.write("another." + gone + ".modlab.tmp", "half of it");
  std::filesystem::create_directories(folder.file(".fetch." + gone + ".modlab.tmp/below"));
  const Names others = {"a." + alive + ".modlab.tmp", "b.tmp", "c." + gone + ".tmp", "d.x.modlab.tmp", "modlab.tmp"};
  for (const std::string& name : others) {
    folder.write(name, "of someone else");
  }
  write_file(folder.file("a"), "text");
  Names left = others;
  left.insert(left.begin(), "a");
  EXPECT_EQ(folder.names(), left);
}

TEST(AtomicFile, LeavesWhatIsLockedOnAnotherMachine) {
  const test::TemporaryFolder folder;
  // Its process is none of this machine, but someone holds the file.
  const std::string name = "a." + std::to_string(ended_process()) + ".modlab.tmp";
  folder.write(name, "half of it");
  const int held = ::open(folder.file(name).c_str(), O_RDONLY);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);
  remove_left_behind(folder.path().string());
  EXPECT_EQ(folder.names(), Names{name});
  ::close(held);
  remove_left_behind(folder.path().string());
  EXPECT_EQ(folder.names(), Names{});
}

TEST(AtomicFile, DoesNotReplaceADatabase) {
  const test::TemporaryFolder folder;
  const std::string database = std::string("SQLite format 3\0", 16) + "and so on";
  folder.write("study.sqlite", database);
  for (const char* name : {"study.sqlite", "study.sqlite-wal", "study.sqlite-shm", "study.sqlite-journal"}) {
    EXPECT_THROW(write_file(folder.file(name), "text"), FormatError) << name;
  }
  EXPECT_EQ(folder.read("study.sqlite"), database);
  EXPECT_EQ(folder.names(), Names{"study.sqlite"});
  folder.write("page.html", "SQLite");
  write_file(folder.file("page.html"), "new");
  EXPECT_EQ(folder.read("page.html"), "new");
}

TEST(TemporaryFolder, DisappearsWithWhatIsInIt) {
  const test::TemporaryFolder folder;
  {
    const TemporaryFolder temporary(folder.path().string(), ".fetch");
    write_file(temporary.path() + "/file", "text");
    EXPECT_EQ(folder.names().size(), 2U);
    remove_left_behind(folder.path().string());
    EXPECT_EQ(folder.names().size(), 2U);
  }
  EXPECT_EQ(folder.names(), Names{});
  folder.write("file", "text");
  EXPECT_THROW(TemporaryFolder(folder.file("file"), ".fetch"), FormatError);
}

TEST(WriteFile, RefusesPlacesThatCannotBeWritten) {
  const test::TemporaryFolder folder;
  folder.write("file", "text");
  std::filesystem::create_directory(folder.file("folder"));
  const Names before = folder.names();
  for (const std::string& path : {folder.file("missing/a"), folder.file("file/a"), folder.file("folder"),
                                  std::string("/dev/null/x"), std::string("/dev/null"), std::string("")}) {
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
  EXPECT_THROW(prepare_folder("/dev/null/x"), FormatError);
}

}  // namespace
}  // namespace modlab::io
