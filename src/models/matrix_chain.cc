#include "models/matrix_chain.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

namespace modlab::models {
namespace {

// A name with a mark for each number in it, and these numbers, without leading zeros so that texts compare as numbers
// do.
struct Numbered {
  std::string pattern;
  std::vector<std::pair<std::size_t, std::string>> numbers;  // length first
};

Numbered numbered(const std::string& name) {
  Numbered parts;
  for (std::size_t place = 0; place < name.size();) {
    if (std::isdigit(static_cast<unsigned char>(name[place])) == 0) {
      parts.pattern += name[place++];
      continue;
    }
    std::size_t end = place;
    while (end < name.size() && std::isdigit(static_cast<unsigned char>(name[end])) != 0) {
      ++end;
    }
    std::size_t first = place;
    while (first + 1 < end && name[first] == '0') {
      ++first;
    }
    parts.numbers.emplace_back(end - first, name.substr(first, end - first));
    parts.pattern += '\0';
    place = end;
  }
  return parts;
}

// Looks for orders of all matrices in which each takes what the one before gives.
class ChainSearch {
 public:
  ChainSearch(const std::vector<NamedMatrix>& matrices, std::vector<std::vector<std::size_t>> groups)
      : matrices_(matrices), groups_(std::move(groups)), used_(groups_.size()) {}

  // The order, if there is one and no other.
  std::optional<std::vector<std::size_t>> only_one() {
    extend();
    return found_ == 1 && steps_ < kMostSteps ? std::optional(first_) : std::nullopt;
  }

 private:
  static constexpr int kMostSteps = 100'000;

  void extend() {
    if (order_.size() == matrices_.size()) {
      if (found_++ == 0) {
        first_ = order_;
      }
      return;
    }
    for (std::size_t group = 0; group < groups_.size() && found_ < 2 && ++steps_ < kMostSteps; ++group) {
      if (used_[group] == groups_[group].size()) {
        continue;
      }
      const std::size_t next = groups_[group][used_[group]];
      if (order_.empty() || matrices_[order_.back()].out == matrices_[next].in) {
        order_.push_back(next);
        ++used_[group];
        extend();
        --used_[group];
        order_.pop_back();
      }
    }
  }

  const std::vector<NamedMatrix>& matrices_;
  std::vector<std::vector<std::size_t>> groups_;  // of one pattern each, by their numbers
  std::vector<std::size_t> used_;                 // of each group
  std::vector<std::size_t> order_;
  std::vector<std::size_t> first_;
  int found_ = 0;
  int steps_ = 0;
};

}  // namespace

std::optional<std::vector<std::size_t>> matrix_chain(const std::vector<NamedMatrix>& matrices) {
  std::vector<Numbered> names;
  std::map<std::string, std::size_t> group_of;
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t index = 0; index < matrices.size(); ++index) {
    names.push_back(numbered(matrices[index].name));
    const auto [place, is_new] = group_of.try_emplace(names.back().pattern, groups.size());
    if (is_new) {
      groups.emplace_back();
    }
    groups[place->second].push_back(index);
  }
  for (std::vector<std::size_t>& group : groups) {
    std::ranges::stable_sort(group, {}, [&](std::size_t index) { return names[index].numbers; });
  }
  // As given, but for what numbers put in order.
  std::vector<std::size_t> order;
  std::vector<std::size_t> used(groups.size());
  for (const Numbered& name : names) {
    const std::size_t group = group_of.at(name.pattern);
    order.push_back(groups[group][used[group]++]);
  }
  const auto breaks = [&](std::size_t first, std::size_t second) { return matrices[first].out != matrices[second].in; };
  if (std::ranges::adjacent_find(order, breaks) == order.end()) {
    return order;
  }
  return ChainSearch(matrices, std::move(groups)).only_one();
}

}  // namespace modlab::models
