#include "core/companion_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "core/errors.h"
#include "core/text.h"

namespace modlab {
namespace {

// The file that this code is in: the program, or a library that another program has loaded.
std::filesystem::path own_file() {
  std::error_code error;
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&own_file), &info) != 0 && info.dli_fname != nullptr) {
    std::filesystem::path path = std::filesystem::canonical(info.dli_fname, error);
    if (!error) {
      return path;
    }
  }
  return std::filesystem::read_symlink("/proc/self/exe", error);  // started by a name that the path was searched for
}

// Where it is, or would be.
std::string path_of_companion(const char* library) {
  constexpr int kFolders = 3;
  std::error_code error;
  std::filesystem::path folder = own_file().parent_path();
  std::string beside = (folder / library).string();
  for (int above = 0; above < kFolders; ++above, folder = folder.parent_path()) {
    if (std::filesystem::exists(folder / library, error)) {
      return (folder / library).string();
    }
  }
  return beside;
}

}  // namespace

bool has_companion(const char* library) {
  std::error_code error;
  return std::filesystem::exists(path_of_companion(library), error);
}

void* function_of_companion(const char* library, const char* function, const std::string& what,
                            const std::string& build) {
  const std::string path = path_of_companion(library);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    throw ConfigError(fmt::format("{}: {} is not there; {} builds it", what, path, build));
  }
  // Plugins of such a library look for its names among those of the whole program.
  void* loaded = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  void* found = loaded != nullptr ? ::dlsym(loaded, function) : nullptr;
  if (found == nullptr) {
    const char* reason = ::dlerror();
    throw ConfigError(fmt::format("{}: {} cannot be loaded ({}); {} builds it again", what, path,
                                  on_one_line(reason != nullptr ? reason : "no reason given"), build));
  }
  return found;
}

}  // namespace modlab
