#include "io/unfinished.h"

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "core/errors.h"
#include "core/sha256.h"
#include "io/file.h"

namespace modlab::io {
namespace {

namespace fs = std::filesystem;

// A part is the hash of its numbers, then the numbers.
constexpr std::size_t kHashDigits = 64;

std::string hash_of(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.hex();
}

}  // namespace

std::optional<std::vector<float>> Unfinished::find(const std::string& part, std::size_t count) const {
  if (folder_.empty() || !fs::exists(path_of(part))) {
    return std::nullopt;
  }
  const std::size_t bytes = count * sizeof(float);
  std::string text;
  try {
    text = read_file(path_of(part), kHashDigits + bytes);
  } catch (const UserError&) {
    return std::nullopt;
  }
  const std::string_view numbers = std::string_view(text).substr(std::min(kHashDigits, text.size()));
  if (numbers.size() != bytes || !text.starts_with(hash_of(numbers))) {
    return std::nullopt;
  }
  std::vector<float> found(count);
  std::memcpy(found.data(), numbers.data(), bytes);
  return found;
}

void Unfinished::keep(const std::string& part, std::span<const float> numbers) const {
  if (folder_.empty()) {
    return;
  }
  std::error_code ignored;
  fs::create_directory(folder_, ignored);
  const std::string_view bytes(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
  try {
    AtomicFile file(path_of(part));
    file.write(hash_of(bytes));
    file.write(bytes);
    file.commit();
  } catch (const UserError&) {  // NOLINT(bugprone-empty-catch): it would only have saved time
  }
}

void Unfinished::clear() const {
  if (folder_.empty()) {
    return;
  }
  std::error_code ignored;
  for (fs::directory_iterator entry(folder_, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
    if (entry->path().filename().string().starts_with(name_ + ".")) {
      std::error_code failed;
      fs::remove(entry->path(), failed);
    }
  }
  fs::remove(folder_, ignored);  // not one that still has something in it
}

}  // namespace modlab::io
