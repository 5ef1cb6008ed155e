#include "io/file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "core/errors.h"

namespace modlab::io {

std::string read_file(const std::string& path, std::size_t max_bytes) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw FormatError(fmt::format("{}: is a folder; name a file in it", path));
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file) {
    throw FormatError(fmt::format("{}: cannot be read ({}); check the path", path, std::strerror(errno)));
  }
  std::string text;
  char block[1 << 14];
  while (const std::size_t count = std::fread(block, 1, sizeof(block), file.get())) {
    if (text.size() + count > max_bytes) {
      throw FormatError(fmt::format("{}: larger than {} bytes, the most such a file may have", path, max_bytes));
    }
    text.append(block, count);
  }
  if (std::ferror(file.get()) != 0) {
    throw FormatError(fmt::format("{}: cannot be read to its end ({})", path, std::strerror(errno)));
  }
  return text;
}

AtomicFile::AtomicFile(std::string path)
    : path_(std::move(path)), temporary_(fmt::format("{}.{}.tmp", path_, ::getpid())) {
  std::error_code ignored;
  if (std::filesystem::exists(path_, ignored) && !std::filesystem::is_regular_file(path_, ignored)) {
    fail("not a regular file");
  }
  file_.reset(std::fopen(temporary_.c_str(), "wb"));
  if (!file_) {
    fail(std::strerror(errno));
  }
}

AtomicFile::~AtomicFile() {
  if (file_) {
    file_.reset();
    std::remove(temporary_.c_str());
  }
}

void AtomicFile::fail(const std::string& reason) {
  throw FormatError(fmt::format("{}: cannot be written ({}); choose another place", path_, reason));
}

void AtomicFile::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) {
    fail(std::strerror(errno));
  }
}

void AtomicFile::commit() {
  // Flushing comes first: on a full disk the error shows only here.
  if (std::fflush(file_.get()) != 0) {
    fail(std::strerror(errno));
  }
  std::error_code error;
  std::filesystem::rename(temporary_, path_, error);
  if (error) {
    fail(error.message());
  }
  file_.reset();
}

void write_file(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

void prepare_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error || !std::filesystem::is_directory(path)) {
    throw FormatError(fmt::format("{}: cannot be made a folder ({}); choose another place", path,
                                  error ? error.message() : "a file of that name exists"));
  }
  if (::access(path.c_str(), W_OK | X_OK) != 0) {
    throw FormatError(fmt::format("{}: cannot be written to ({}); choose another place", path, std::strerror(errno)));
  }
}

}  // namespace modlab::io
