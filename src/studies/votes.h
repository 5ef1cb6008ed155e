#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "studies/findings.h"
#include "studies/judgement.h"

namespace modlab::studies {

// How contests went.
struct Votes {
  std::vector<int> won;  // by each contestant
  int tied = 0;          // where the best were equal: nobody has the vote
  int contests = 0;

  void add(const Votes& others);
};

// Contests between several sides, such as architectures. There is one at every place that all of them share and on
// every split; a side's number in it is its mean over seeds, and the best has the vote.
//
// Contests on one split have that split in common: they are no draws of their own. A split is, with the share of its
// contests that a side has won.
class Contests {
 public:
  // Sides meet where their cells have the same values on `axes`. Of `measures` the first counts that all of them have
  // there: regression may have a loss and classification an error.
  Contests(const Findings& findings, const std::vector<std::vector<const Cell*>>& sides,
           const std::vector<std::string>& axes, const std::vector<std::string>& measures);
  // The same from the numbers themselves: of every unit, by place and side.
  Contests(std::size_t sides, std::vector<bool> higher_is_better, Draws draws)
      : sides_(sides), higher_is_better_(std::move(higher_is_better)), draws_(std::move(draws)) {}

  std::size_t sides() const { return sides_; }
  // Numbers of each unit, by place and side. Nothing where the sides do not meet.
  const Draws& draws() const { return draws_; }
  // What became of the contests of one split, from its numbers.
  Votes count(std::span<const double> numbers) const;
  // Of each split that has all contests.
  std::vector<Votes> by_split() const;
  // How many percent of its contests one side has won more than another.
  Statistic lead(std::size_t side, std::size_t other) const;

 private:
  std::size_t sides_;
  std::vector<bool> higher_is_better_;  // of each place
  Draws draws_;
};

}  // namespace modlab::studies
