#pragma once

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace modlab::settings {

// One setting of a run. A kind's list of settings is the only place that knows what is said here: the command line,
// studies, the JSON output, run names, pictures and docs/settings.md are made from it.
struct Setting {
  // What it is to those who do not know the kind.
  enum class Role {
    kPlain,
    kTask,  // together with the model it chooses the kind
    kModel,
    kSplit,  // what was drawn before training: splits of the data. Neither of these two changes what resolve() fills in
    kSeed,   // what merely repeats a training
    kFact    // follows from the others: an axis of figures and claims, but nobody sets it
  };

  std::string name;   // with underscores; dashes are the same on the command line
  std::string value;  // the form of a value, for help
  std::string help;
  std::string of;          // which models it means something to, for the docs
  std::string label = {};  // on the axis of a picture; empty: the name
  Role role = Role::kPlain;
  bool is_list = false;        // a value is a list of numbers or of files
  bool is_size = false;        // a number whose 0 means "as the task has it"
  bool is_free = false;        // networks of one block may differ in it
  bool is_tuned = false;       // chosen by validation where a study does not say what is
  bool is_named = false;       // stands above the table of `modlab train` although it is the same in all runs
  bool is_chooser = false;     // with task and model it decides which other settings mean something
  bool sets_others = false;    // stands for other settings, which have names of their own; no part of a run's name
  std::string is_set_by = {};  // the setting that stands for this one
  // One value as a user wrote it, in its one form; throws ConfigError that says what is allowed.
  std::function<nlohmann::json(const std::string& text)> read = {};

  // "hidden layers" for hidden_layers where there is no label.
  std::string shown() const;
  // "2 hidden layers" above a panel.
  std::string panel_text(const std::string& value_text) const;
  // Decides which other settings mean something.
  bool chooses() const { return role == Role::kTask || role == Role::kModel || is_chooser; }
  // Says of how many different things runs were drawn, or how often they were repeated, and not what was asked.
  bool is_replicate() const { return role == Role::kSplit || role == Role::kSeed; }
};

// A setting's value as the command line has it: "0.1", "3,2", "none".
std::string setting_text(const nlohmann::json& value);

// The values that a user wrote for one setting: "0..99" and "0.1,0.01" are many, "3,2" is one list for a list setting
// and "3,2;6,4" or the words "3,2" "6,4" are two.
std::vector<std::string> expand_values(const Setting& setting, const std::vector<std::string>& words);

// Throws ConfigError for a value that cannot be printed and kept: the name of a file may be any bytes.
void check_text(const Setting& setting, const std::string& text);

// Settings as someone wrote them, by name.
using Given = std::map<std::string, std::string>;

// The settings among the entries of a JSON object. Lists and sizes that play no part for a model are empty or zero
// there, and left out.
Given given_from_json(const nlohmann::ordered_json& object, std::span<const Setting> settings);

// The settings of one run, in the order of its kind's list. A study has a million runs that differ in little but their
// seeds: they share the rest.
class Values {
 public:
  struct Entry {
    const Setting* setting = nullptr;
    nlohmann::json value;
    std::string text;  // as axes and selectors have it
  };
  using Row = std::vector<Entry>;

  Values() = default;
  explicit Values(Row row) : row_(std::make_shared<const Row>(std::move(row))) {}

  // The same with other values in some places of the row.
  Values with(std::vector<std::pair<std::uint32_t, nlohmann::json>> own) const;

  bool has(std::string_view name) const { return place(name).has_value(); }
  // Null if there is no such setting, or the value itself is null.
  nlohmann::json get(std::string_view name) const;
  // As axes and selectors have it; empty if there is no such setting.
  std::string text(std::string_view name) const;
  std::string text_at(std::size_t place) const;
  nlohmann::json value_at(std::size_t place) const;
  std::optional<std::size_t> place(std::string_view name) const;
  // Whether the value there says something that no other of the run says: it is a setting, it is not empty, and not
  // what another setting stands for.
  bool speaks_at(std::size_t place) const;

  std::size_t size() const { return row_ ? row_->size() : 0; }
  const Setting& setting_at(std::size_t place) const { return *(*row_)[place].setting; }
  // By name, without facts: what a store keeps.
  nlohmann::ordered_json to_json() const;
  // Values that share all but what was given to with() have the same row.
  const Row* row() const { return row_.get(); }

 private:
  const nlohmann::json* own(std::size_t place) const;

  std::shared_ptr<const Row> row_;
  std::vector<std::pair<std::uint32_t, nlohmann::json>> own_;
};

// What the settings of a run are called: a hash of those that differ from their defaults, so that adding a setting
// later keeps old names.
class RunNames {
 public:
  // Of all runs that share a row. `defaults` are by name; a setting without one is always part of the name.
  RunNames(const Values::Row& row, const std::map<std::string, nlohmann::json>& defaults);
  std::uint64_t number(const Values& values) const;

 private:
  struct Piece {
    std::string text;                    // of settings that are the same in all of them
    std::optional<std::uint32_t> place;  // of one that is not
    nlohmann::json otherwise;
    std::string name;
  };
  std::vector<Piece> pieces_;
};

// 16 hexadecimal digits.
std::string id_text(std::uint64_t number);
// Nothing if it is not the name of a run.
std::optional<std::uint64_t> id_number(std::string_view text);

}  // namespace modlab::settings
