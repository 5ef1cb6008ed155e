#include "tasks/task_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <functional>
#include <map>
#include <span>

#include "core/embedded_file.h"
#include "core/errors.h"
#include "core/text.h"
#include "io/file.h"
#include "io/yaml_file.h"
#include "tasks/graph_file.h"
#include "tasks/tasks_at_hand.h"

namespace modlab {
extern const EmbeddedFile kBuiltinTasks[];
extern const std::size_t kBuiltinTasksCount;
}  // namespace modlab

namespace modlab::tasks {
namespace {

// Enough for the largest table of each form, small enough to read at once.
constexpr std::size_t kMaxYamlBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxCsvBytes = std::size_t{1} << 23;
constexpr std::size_t kMaxTasks = 64;
constexpr std::size_t kMaxAboutLength = 400;

// A suite's members are single tasks. That also stops a file that lists itself.
enum class Members { kAllowed, kForbidden };

// A task's text, and where it comes from.
struct Found {
  std::string text;
  std::string source;
};
// Finds the text of a task that a suite lists; `place` is where it does.
using FindMember = std::function<Found(const std::string& name, const std::string& place)>;

TaskSuite parse(const Found& found, const std::string& name_or_path, Members members, const FindMember& find);

std::string ending_of(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  std::ranges::transform(ending, ending.begin(),
                         [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return ending;
}

std::span<const EmbeddedFile> builtin_files() { return {kBuiltinTasks, kBuiltinTasksCount}; }

// "sculpt/" of "sculpt/4-2-4".
std::string folder_of(const std::string& name) { return name.substr(0, name.rfind('/') + 1); }

bool has_task_ending(const std::string& name_or_path) {
  const std::string ending = ending_of(name_or_path);
  return ending == ".yaml" || ending == ".yml" || ending == ".csv";
}

bool is_path(const std::string& name_or_path) {
  if (has_task_ending(name_or_path)) {
    return true;
  }
  const std::string folder = folder_of(name_or_path);
  return !folder.empty() && std::ranges::none_of(builtin_files(), [&](const EmbeddedFile& file) {
    return folder_of(file.name) == folder;
  });
}

// The names of the built-in tasks for a message: those in folders are too many to list.
std::string builtin_text() {
  std::vector<std::string> listed;
  std::map<std::string, std::vector<std::string>> in_folders;
  for (const std::string& name : builtin_task_names()) {
    const std::string folder = folder_of(name);
    (folder.empty() ? listed : in_folders[folder]).push_back(name);
  }
  for (const auto& [folder, names] : in_folders) {
    listed.push_back(fmt::format("{} tasks such as {}", names.size(), names.front()));
  }
  return join_text(listed, ", ");
}

std::string clean_about(const std::string& text) {
  std::string about = on_one_line(trim(text));
  if (about.size() > kMaxAboutLength) {
    std::size_t end = kMaxAboutLength;
    // Not in the middle of a UTF-8 character.
    while (end > 0 && (static_cast<unsigned char>(about[end]) & 0xC0U) == 0x80U) {
      --end;
    }
    about = about.substr(0, end) + "...";
  }
  return about;
}

TaskKeys read_keys(const std::string& text, const std::string& source) {
  const YAML::Node root = io::parse_yaml(text, source);
  if (!root.IsMap()) {
    throw FormatError(
        fmt::format("{}: not a task file; it needs lines such as 'inputs: 6' (see tasks/README.md)", source));
  }
  static const std::vector<std::string> kKnown = {"about",   "digits",  "images", "inputs", "levels",
                                                  "modules", "outputs", "table",  "tasks"};
  TaskKeys keys;
  for (const auto& entry : root) {
    const std::string key = scalar_text(entry.first).value_or("");
    const std::string place = io::place_of(entry.first, source);
    if (std::ranges::find(kKnown, key) == kKnown.end()) {
      throw ConfigError(fmt::format("{}: unknown key {}{} (known: {})", place, io::quote_for_message(key),
                                    did_you_mean(key.substr(0, 40), kKnown), join_text(kKnown, ", ")));
    }
    if (!keys.emplace(key, entry.second).second) {
      throw ConfigError(fmt::format("{}: '{}' is there twice; remove one", place, key));
    }
  }
  return keys;
}

std::vector<Task> load_members(const TaskKeys& keys, const std::string& source, const FindMember& find,
                               TaskText& text) {
  const YAML::Node& node = keys.at("tasks");
  for (const auto& [key, value] : keys) {
    if (key != "tasks" && key != "about") {
      throw ConfigError(fmt::format("{}: '{}' beside 'tasks'; a suite only lists tasks, so remove it",
                                    io::place_of(value, source), key));
    }
  }
  if (!node.IsSequence() || node.size() == 0) {
    throw FormatError(fmt::format("{}: 'tasks' is not a list; write 'tasks: [depth2, B]'", io::place_of(node, source)));
  }
  if (node.size() > kMaxTasks) {
    throw ConfigError(
        fmt::format("{}: {} tasks; at most {} are possible", io::place_of(node, source), node.size(), kMaxTasks));
  }
  std::vector<Task> tasks;
  for (const YAML::Node& item : node) {
    const std::string place = io::place_of(item, source);
    const std::optional<std::string> member = scalar_text(item);
    if (!member) {
      throw FormatError(
          fmt::format("{}: a task in 'tasks' is not a name or a path; write 'tasks: [depth2, B]'", place));
    }
    const Found found = find(*member, place + ": ");
    Task task = parse(found, *member, Members::kForbidden, find).tasks[0];
    text.members[*member] = found.text;
    if (task.images) {
      throw ConfigError(fmt::format(
          "{}: '{}' is a task on images, which a network learns alone; remove it from 'tasks'", place, task.name));
    }
    if (!tasks.empty() &&
        (task.table.inputs != tasks[0].table.inputs || task.table.outputs != tasks[0].table.outputs)) {
      throw ConfigError(
          fmt::format("{}: '{}' has {} inputs and {} outputs, but '{}' has {} and {}; the tasks of a suite "
                      "need equal numbers",
                      place, task.name, task.table.inputs, task.table.outputs, tasks[0].name, tasks[0].table.inputs,
                      tasks[0].table.outputs));
    }
    tasks.push_back(std::move(task));
  }
  return tasks;
}

TaskSuite parse_yaml_task(const std::string& text, const std::string& name, const std::string& source, Members members,
                          const FindMember& find) {
  const TaskKeys keys = read_keys(text, source);
  std::string about;
  if (const auto found = keys.find("about"); found != keys.end()) {
    if (found->second.IsMap() || found->second.IsSequence()) {
      throw FormatError(fmt::format("{}: 'about' is not text; put it in quotes", io::place_of(found->second, source)));
    }
    about = clean_about(scalar_text(found->second).value_or(""));
  }
  if (keys.contains("tasks")) {
    if (members == Members::kForbidden) {
      throw ConfigError(fmt::format("{}: a suite inside a suite; list the tasks of '{}' instead",
                                    io::place_of(keys.at("tasks"), source), name));
    }
    TaskSuite suite{name, about, {}, {text, {}}};
    suite.tasks = load_members(keys, source, find, suite.text);
    return suite;
  }
  Task task = parse_single_task(keys, source);
  task.name = name;
  task.about = about;
  return {name, about, {std::move(task)}, {text, {}}};
}

void check_length(const Found& found, std::size_t most) {
  if (found.text.size() > most) {
    throw FormatError(fmt::format("{}: has {} bytes; a task has at most {}", found.source, found.text.size(), most));
  }
}

TaskSuite parse(const Found& found, const std::string& name_or_path, Members members, const FindMember& find) {
  if (!is_path(name_or_path)) {
    return parse_yaml_task(found.text, name_or_path, found.source, members, find);
  }
  std::string name = clean_about(std::filesystem::path(name_or_path).stem().string());
  name = name.empty() ? "task" : name;
  if (ending_of(name_or_path) == ".csv") {
    check_length(found, kMaxCsvBytes);
    return parse_task_csv(found.text, name, found.source);
  }
  check_length(found, kMaxYamlBytes);
  return parse_yaml_task(found.text, name, found.source, members, find);
}

Found find_text(const std::string& name_or_path, const std::filesystem::path& folder, const std::string& asked_from) {
  if (is_path(name_or_path)) {
    // An absolute path replaces the folder.
    const std::string path = (folder / name_or_path).string();
    if (!has_task_ending(path)) {
      throw FormatError(fmt::format("{}: the name of a task file ends in .yaml, .yml or .csv; rename it", path));
    }
    return {io::read_file(path, ending_of(path) == ".csv" ? kMaxCsvBytes : kMaxYamlBytes), path};
  }
  for (const EmbeddedFile& file : builtin_files()) {
    if (name_or_path == file.name) {
      return {file.text, fmt::format("(built in) {}.yaml", name_or_path)};
    }
  }
  throw ConfigError(
      fmt::format("{}unknown task {}{} (built in: {}; 'modlab graph' lists all; or the path of a .yaml or .csv file)",
                  asked_from, io::quote_for_message(name_or_path),
                  did_you_mean(name_or_path.substr(0, 40), builtin_task_names()), builtin_text()));
}

// What a file lists lies beside it.
FindMember members_beside(const std::string& source) {
  return [folder = std::filesystem::path(source).parent_path()](const std::string& name, const std::string& place) {
    return find_text(name, folder, place);
  };
}

}  // namespace

TaskSuite load_task(const std::string& name_or_path) {
  if (const std::shared_ptr<const TaskSuite> known = task_at_hand(name_or_path)) {
    return *known;
  }
  return load_task_from("", name_or_path);
}

TaskSuite load_task_from(const std::string& folder, const std::string& name_or_path) {
  std::error_code none;
  const bool is_there = std::filesystem::exists(std::filesystem::path(folder) / name_or_path, none);
  const bool is_here = std::filesystem::exists(name_or_path, none);
  const Found found = find_text(name_or_path, is_here && !is_there ? "" : folder, "");
  return parse(found, name_or_path, Members::kAllowed, members_beside(found.source));
}

TaskSuite parse_task(const TaskText& text, const std::string& name_or_path) {
  return parse({text.text, name_or_path}, name_or_path, Members::kAllowed,
               [&](const std::string& name, const std::string& place) -> Found {
                 const auto member = text.members.find(name);
                 if (member == text.members.end()) {
                   throw FormatError(fmt::format("{}the text of {} is missing", place, io::quote_for_message(name)));
                 }
                 return {member->second, name};
               });
}

TaskSuite parse_task_yaml(const std::string& text, const std::string& name, const std::string& source) {
  return parse_yaml_task(text, name, source, Members::kAllowed, members_beside(source));
}

std::vector<std::string> builtin_task_names() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : builtin_files()) {
    names.emplace_back(file.name);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace modlab::tasks
