#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "settings/setting.h"

namespace modlab::settings {

// A setting of a kind whose runs are values of a struct: how the struct has it.
template <typename Spec>
struct SpecSetting {
  Setting setting;
  // Reads one value; throws ConfigError that says what is allowed.
  std::function<void(Spec& spec, const std::string& text)> set = nullptr;  // null for a fact
  std::function<nlohmann::json(const Spec& spec)> get = nullptr;
  std::function<bool(const Spec& spec)> applies = nullptr;  // null: to all
};

// The settings of a kind, and the way from names and texts to its struct and back: the only one there is.
template <typename Spec>
class SpecTable {
 public:
  explicit SpecTable(std::vector<SpecSetting<Spec>> rows) : rows_(std::move(rows)) {
    for (const SpecSetting<Spec>& row : rows_) {
      Setting& setting = settings_.emplace_back(row.setting);
      if (row.set != nullptr) {
        setting.read = [set = row.set, get = row.get](const std::string& text) {
          Spec spec;
          set(spec, text);
          return get(spec);
        };
      }
    }
  }

  std::span<const Setting> settings() const { return settings_; }
  const std::vector<SpecSetting<Spec>>& rows() const { return rows_; }

  bool applies(std::size_t row, const Spec& spec) const {
    return rows_[row].applies == nullptr || rows_[row].applies(spec);
  }
  std::vector<const Setting*> settings_for(const Spec& spec) const {
    std::vector<const Setting*> list;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      if (applies(row, spec) && rows_[row].set != nullptr) {
        list.push_back(&settings_[row]);
      }
    }
    return list;
  }

  // In the order of the table: a later setting may refine what an earlier one stands for.
  void apply(const Given& given, Spec& spec) const {
    for (const SpecSetting<Spec>& row : rows_) {
      const auto found = given.find(row.setting.name);
      if (found != given.end() && row.set != nullptr) {
        check_text(row.setting, found->second);
        row.set(spec, found->second);
      }
    }
  }

  Values values(const Spec& spec) const {
    Values::Row list;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      if (applies(row, spec)) {
        nlohmann::json value = rows_[row].get(spec);
        std::string text = setting_text(value);
        list.push_back({&settings_[row], std::move(value), std::move(text)});
      }
    }
    return Values(std::move(list));
  }

  // From resolved values, over what the struct has otherwise.
  void read(const Values& values, Spec& spec) const {
    for (std::size_t at = 0; at < values.size(); ++at) {
      const Setting& setting = values.setting_at(at);
      const auto row = static_cast<std::size_t>(&setting - settings_.data());
      if (rows_[row].set == nullptr || setting.sets_others) {
        continue;
      }
      // Lists and sizes that play no part are empty or zero.
      const std::string text = values.text_at(at);
      if (!text.empty() && !(text == "0" && setting.is_size)) {
        rows_[row].set(spec, text);
      }
    }
  }

  // One setting of a struct, by name; throws ConfigError for a value that is not allowed.
  void set(Spec& spec, const std::string& name, const std::string& text) const { row_of(name).set(spec, text); }
  nlohmann::json get(const Spec& spec, const std::string& name) const { return row_of(name).get(spec); }

  // All settings but those in which networks of one block may differ.
  std::string shared_key(const Spec& spec) const {
    std::string key;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      if (applies(row, spec) && !settings_[row].is_free && rows_[row].set != nullptr) {
        key += rows_[row].get(spec).dump() + '\n';
      }
    }
    return key;
  }

  // The name of a run, of which settings are left out that a default struct has too.
  std::string id(const Spec& spec) const {
    const Values all = values(spec);
    return id_text(RunNames(*all.row(), by_name(Spec{})).number(all));
  }

  std::map<std::string, nlohmann::json> by_name(const Spec& spec) const {
    std::map<std::string, nlohmann::json> values;
    for (const SpecSetting<Spec>& row : rows_) {
      values[row.setting.name] = row.get(spec);
    }
    return values;
  }

 private:
  const SpecSetting<Spec>& row_of(const std::string& name) const {
    const auto found = std::ranges::find(
        rows_, name, [](const SpecSetting<Spec>& row) -> const std::string& { return row.setting.name; });
    if (found == rows_.end() || found->set == nullptr) {
      throw std::logic_error("there is no setting " + name);
    }
    return *found;
  }

  std::vector<SpecSetting<Spec>> rows_;
  std::vector<Setting> settings_;
};

// The settings of a struct as those of a larger one that has it as a member.
template <typename Spec, typename Part>
std::vector<SpecSetting<Spec>> rows_of_part(const SpecTable<Part>& table, Part Spec::*part) {
  std::vector<SpecSetting<Spec>> rows;
  for (const SpecSetting<Part>& row : table.rows()) {
    SpecSetting<Spec>& made = rows.emplace_back(SpecSetting<Spec>{.setting = row.setting});
    if (row.set != nullptr) {
      made.set = [set = row.set, part](Spec& spec, const std::string& text) { set(spec.*part, text); };
    }
    made.get = [get = row.get, part](const Spec& spec) { return get(spec.*part); };
    if (row.applies != nullptr) {
      made.applies = [applies = row.applies, part](const Spec& spec) { return applies(spec.*part); };
    }
  }
  return rows;
}

}  // namespace modlab::settings
