#pragma once

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "measures/estimate.h"
#include "studies/findings.h"

namespace modlab::studies {

enum class Verdict { kHolds, kFails, kUndecided, kNoData };

// What a check looks at in each run, or in runs that belong together: one number for every place that it looks at; not
// a number where a seed of a split has none. Trials have all of them.
struct Draws {
  bool has_splits = true;  // otherwise every unit is a draw of its own
  std::map<Unit, std::vector<double>> units;
};

// The number that a check makes of those of a unit, or of their means over units.
using Statistic = std::function<double(std::span<const double>)>;

// Where the number is expected: from low to high. Infinite on a side where anything will do.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

// An estimate, for a population, and what it says about an expectation.
//
// Splits are drawn at random, and seeds repeat a training on a split: over splits, the number of each split, made of
// the means over its seeds at each place, is one draw. On these very splits, seeds are the draws. Where nothing but the
// seed is drawn, each trial is.
struct Judgement {
  Verdict verdict = Verdict::kNoData;
  double mean = 0;
  double low = 0;  // of the interval with the level measures::kLevel; infinite where nothing can be said
  double high = 0;
  double p_wrong = 1;  // one-sided: of data like these if the expectation is wrong
  double p_right = 1;  // of data like these if it is right
  bool equal = false;  // the draws are all the same
  int draws = 0;
  std::string population = {};  // "over 30 splits"
  std::string too_few = {};     // "3 splits": there is a number, but no verdict on so few
};

// What one statistic says of both populations.
struct Evidence {
  measures::Estimate general = {};              // over splits, or over trials
  std::optional<measures::Estimate> here = {};  // on these very splits
  bool has_splits = true;
  int splits = 0;
  int seeds = 0;                // units
  std::string drawn = "split";  // what a split is called
};

// The means over seeds at each place, of every split, or trial, that has them all.
std::vector<std::vector<double>> means_by_split(const Draws& draws);

// Whether some split, or trial, has a number at every place.
bool has_any(const Draws& draws);

// The ends of the intervals err with a chance of `tail` each. Nothing without draws.
std::optional<Evidence> evidence_of(const Draws& draws, const Statistic& statistic, double tail = measures::kTail);

// Fewer splits, or trials, decide nothing.
inline constexpr int kFewestSplits = 5;
inline constexpr int kFewestTrials = 3;

struct Judgements {
  Judgement general;
  std::optional<Judgement> here;
};
Judgements judge(const Evidence& evidence, const Range& expected);

// How sure a number is: "[8.1, 16], 90 % over 30 splits". Factors are logarithms to base 10.
std::string interval_text(const Judgement& judgement, bool is_factor = false);

// A verdict from the two p at a significance of `tail`.
Verdict verdict_of(double p_wrong, double p_right, double tail = measures::kTail);

}  // namespace modlab::studies
