#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace modlab::io {

// The whole file. Throws FormatError if it cannot be read or has more than `max_bytes`.
std::string read_file(const std::string& path, std::size_t max_bytes);

// What is not complete yet is called NAME.PROCESS.modlab.tmp and locked. Clears a folder of what processes that were
// killed have left there, theirs alone.
void remove_left_behind(const std::string& folder);

// A file that appears under its name only when it is complete: it is written beside it and renamed by commit().
// Whatever ends the program before leaves no half-written file under the name; what a killed one left beside it is
// cleared by the next. A database is not replaced: it may be a study's store. Throws FormatError if it cannot be
// written.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view text);
  void commit();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  [[noreturn]] void fail(const std::string& reason);

  std::string path_;
  std::string temporary_;
  std::unique_ptr<std::FILE, Close> file_;
};

// A folder for what is not complete yet, which disappears with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder(const std::string& parent, const std::string& name);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int lock_ = -1;
};

void write_file(const std::string& path, std::string_view text);

// Makes the folder if need be, and sees that files can be written into it.
void prepare_folder(const std::string& path);

}  // namespace modlab::io
