#include "report/figure_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "core/errors.h"
#include "io/file.h"
#include "report/web_file.h"

namespace modlab::report {
namespace {

constexpr double kDotsPerInch = 200;
constexpr double kPixelsPerInch = 96;  // of an SVG file without units
constexpr std::size_t kMaxFileBytes = std::size_t{1} << 28;

class TemporaryFolder {
 public:
  TemporaryFolder() : path_((std::filesystem::temp_directory_path() / "modlab-figures-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) {
      throw FormatError(
          fmt::format("No temporary folder {}: {}. Set TMPDIR to a folder with room.", path_, std::strerror(errno)));
    }
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

struct Program {
  const char* name;
  const char* purpose;
  const char* package;
};

constexpr Program kNode{"node", "draws the figures", "nodejs"};
constexpr Program kRsvgConvert{"rsvg-convert", "makes PNG files", "librsvg2-bin"};

// Runs a program without a shell; what it says goes to the two files. Returns its exit code.
int run(const Program& program, std::vector<std::string> arguments, const std::string& said,
        const std::string& complained) {
  arguments.insert(arguments.begin(), program.name);
  std::vector<char*> words;
  words.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) {
    words.push_back(argument.data());
  }
  words.push_back(nullptr);

  constexpr int kOverwrite = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, said.c_str(), kOverwrite, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, complained.c_str(), kOverwrite, 0600);
  pid_t child = 0;
  const int failure = posix_spawnp(&child, program.name, &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    throw ConfigError(fmt::format("{} {} and cannot be run ({}). Install it: apt-get install {}", program.name,
                                  program.purpose, std::strerror(failure), program.package));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      throw ConfigError(fmt::format("{} cannot be waited for: {}.", program.name, std::strerror(errno)));
    }
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// node tells what went wrong in a line that begins with the error's name, below the source it stumbled over.
std::string complaint(const std::string& path) {
  std::istringstream text(io::read_file(path, kMaxFileBytes));
  std::string first;
  for (std::string line; std::getline(text, line);) {
    if (line.find("Error") != std::string::npos) {
      return line.substr(0, 300);
    }
    if (first.empty()) {
      first = line.substr(0, 300);
    }
  }
  return first;
}

void run_or_throw(const Program& program, const std::vector<std::string>& arguments, const TemporaryFolder& workplace) {
  const std::string complained = workplace.file("complaints.txt");
  const int code = run(program, arguments, workplace.file("output.txt"), complained);
  if (code != 0) {
    throw ConfigError(fmt::format("{} {} and ended with code {}: {} (node 18 or newer and librsvg 2.50 or newer work.)",
                                  program.name, program.purpose, code, complaint(complained)));
  }
}

std::vector<std::string> lines_of(const std::string& path) {
  std::istringstream text(io::read_file(path, kMaxFileBytes));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) {
    lines.push_back(line);
  }
  return lines;
}

// The names of the figures that are now drawn as NAME.svg in the workplace.
std::vector<std::string> draw_into(const TemporaryFolder& workplace, const nlohmann::ordered_json& report) {
  const std::string program = workplace.file("figures.mjs");
  const std::string data = workplace.file("report.json");
  io::write_file(program, kFigureProgram.text());
  io::write_file(data, report.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  run_or_throw(kNode, {program, data, workplace.file("")}, workplace);
  return lines_of(workplace.file("output.txt"));
}

}  // namespace

std::vector<DrawnFigure> draw_figures(const nlohmann::ordered_json& report) {
  const TemporaryFolder workplace;
  std::vector<DrawnFigure> figures;
  for (const std::string& name : draw_into(workplace, report)) {
    figures.push_back({name, io::read_file(workplace.file(name + ".svg"), kMaxFileBytes)});
  }
  return figures;
}

std::vector<std::string> write_figure_files(const nlohmann::ordered_json& report, const std::string& folder) {
  const TemporaryFolder workplace;
  run_or_throw(kRsvgConvert, {"--version"}, workplace);
  const std::vector<std::string> names = draw_into(workplace, report);

  io::prepare_folder(folder);
  std::vector<std::string> paths;
  for (const std::string& name : names) {
    const std::string svg = workplace.file(name + ".svg");
    const std::string png = workplace.file(name + ".png");
    run_or_throw(kRsvgConvert,
                 {fmt::format("--zoom={:.4f}", kDotsPerInch / kPixelsPerInch), "--format=png", "--output=" + png, svg},
                 workplace);
    for (const auto& [drawn, ending] : {std::pair{svg, ".svg"}, std::pair{png, ".png"}}) {
      paths.push_back((std::filesystem::path(folder) / (name + ending)).string());
      io::write_file(paths.back(), io::read_file(drawn, kMaxFileBytes));
    }
  }
  return paths;
}

}  // namespace modlab::report
