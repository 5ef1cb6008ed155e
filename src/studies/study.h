#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace modlab::studies {

// The values that one setting takes in a grid.
struct Choices {
  std::string name;
  std::vector<std::string> values;
};

// How much of each run the store keeps besides its results.
enum class Keep { kResults, kCurves, kBest, kAll };
// What decides between settings with equal validation accuracy: see choose() in selection.h.
enum class Ties { kLoss, kUpdates, kFirst };

// What the analysis of a study's runs is free to choose; none of it changes a run.
struct Analysis {
  std::vector<std::string> tune;  // settings chosen by validation accuracy
  Ties ties = Ties::kLoss;
  // Of so many runs that differ in the seed alone, the best one by validation stands for them; empty: every run counts.
  std::vector<int> restarts;
  std::string snapshot = "best";  // the state of a network that figures and claims look at: best, or last
};

// Values that an axis may have: "series", "restarts" or the name of a setting. An axis that is not named may have any.
using Selector = std::map<std::string, std::vector<std::string>>;

// The axis of the numbers of restarts.
inline constexpr auto kRestarts = "restarts";
// Panels that show one measure each.
inline constexpr auto kMeasureAxis = "measure";

struct Figure {
  enum class Kind { kLines, kBars, kHeatmap, kVotes, kCurves, kFlopTable };
  std::string id;     // "F3"
  std::string paper;  // "Figure 3"
  std::string title;
  std::string about;
  Kind kind = Kind::kLines;
  std::string x;       // axes; empty where there is none. Of curves: the number that says where on the curve a point is
  std::string y;       // of a heat map
  std::string panel;   // side by side
  std::string row;     // below each other
  std::string series;  // one line or bar each
  bool even = false;   // numbers on x stand at equal distances
  // Of votes: the first one that all contestants have.
  std::vector<std::string> measures;
  Selector where;
  std::optional<std::vector<std::string>> tune;  // instead of the study's

  friend bool operator==(const Figure&, const Figure&) = default;
};

// One sentence that numbers can contradict. claims.h says what each kind computes.
struct Check {
  enum class Kind { kCompare, kTrend, kVotes, kValue, kReaches, kTracks, kBestAt, kEvery, kFlopTable };
  enum class Expect { kGreater, kLess, kAtLeast, kAtMost, kComparable };
  Kind kind = Kind::kCompare;
  Expect expect = Expect::kGreater;
  std::vector<Selector> sides;  // compare, reaches: two of them; votes: two or more; trend: one or two; otherwise one
  std::string measure;
  std::vector<std::string> measures;    // votes: the first one that all sides have
  std::string other_measure;            // tracks
  std::string along;                    // trend, reaches
  bool even = false;                    // trend: as if numbers along the axis stood at equal distances
  double level = 95;                    // reaches
  bool as_factor = false;               // compare, trend: of logarithms, as measures that span orders of magnitude are
  double threshold = 0;                 // what the statistic is compared with
  double margin = 0;                    // of at_least, at_most and comparable
  std::map<std::string, double> given;  // every: runs with these measures ...
  std::map<std::string, double> then;   // ... have these
  Selector best;                        // best_at
  Selector where;                       // besides the claim's
  std::string text;                     // in words, instead of the ones made from the above

  friend bool operator==(const Check&, const Check&) = default;
};

struct Claim {
  std::string id;
  std::string figure;
  std::string text;
  std::string each;  // axis whose values are checked one by one
  Selector where;
  std::vector<std::string> over;  // axes that both sides of a comparison share
  std::optional<std::vector<std::string>> tune;
  std::vector<Check> checks;

  friend bool operator==(const Claim&, const Claim&) = default;
};

struct Grid {
  std::string series;
  std::vector<Choices> parameters;
};

struct Preset {
  std::string name;
  std::string about;
  std::vector<Choices> parameters;                     // for all grids
  std::map<std::string, std::vector<Choices>> series;  // for those of one series
  std::optional<Keep> keep;
  std::vector<std::string> without;  // series that it leaves out
};

// A study as its file has it: what to train, how to choose, what to draw and what to check.
struct Study {
  std::string name;
  std::string title;
  std::string about;
  std::string paper;  // whose findings it looks into; empty for a study of one's own
  std::string default_preset;
  std::vector<Choices> parameters;
  std::vector<Grid> grids;
  std::vector<Preset> presets;
  Analysis analysis;
  Keep keep = Keep::kAll;
  std::vector<Figure> figures;
  std::vector<Claim> claims;
  Selector gallery;

  std::string text;    // the YAML itself: a store keeps it
  std::string source;  // its path or name, for messages
  std::string folder;  // of its file: paths of tasks are relative to it
};

// A built-in name, or the path of a YAML file. Throws ConfigError or FormatError with the file, the line and the way
// out. studies/README.md shows the form.
Study load_study(const std::string& name_or_path);
Study parse_study(const std::string& text, const std::string& name, const std::string& source);
std::vector<std::string> builtin_study_names();

// "lr=0.1,0.01" from a command line: values of a setting for all grids; and keep=, ties=, snapshot=, tune=.
void apply_override(Study& study, const std::string& text);

}  // namespace modlab::studies
