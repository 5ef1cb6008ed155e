#include "methods/detect/stability.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "core/random.h"
#include "methods/detect/detect_steps.h"

namespace modlab::methods {
namespace {

constexpr double kEqual = 1e-9;
constexpr double kNear = 0.05;

// The module of every live unit, numbered by first appearance.
std::vector<int> partition_of(const Detection& detection) {
  std::vector<int> partition;
  std::map<int, int> numbers;
  for (const std::vector<int>& layer : detection.modules) {
    for (const int module : layer) {
      partition.push_back(numbers.emplace(module, static_cast<int>(numbers.size())).first->second);
    }
  }
  return partition;
}

// [layer][unit]: its new number.
using Renumbering = std::vector<std::vector<int>>;

Renumbering draw_renumbering(const std::vector<int>& widths, RandomSequence& random) {
  Renumbering numbers;
  for (const int width : widths) {
    std::vector<int>& layer = numbers.emplace_back(width);
    std::iota(layer.begin(), layer.end(), 0);
    for (std::uint64_t left = layer.size(); left > 1; --left) {
      std::swap(layer[left - 1], layer[(random.next_word() * left) >> 32]);
    }
  }
  return numbers;
}

models::LayeredNetwork renumbered(const models::LayeredNetwork& network, const Renumbering& numbers) {
  models::LayeredNetwork other;
  other.widths = network.widths;
  for (std::size_t layer = 0; layer < network.connections.size(); ++layer) {
    std::vector<models::Edge>& edges = other.connections.emplace_back().edges;
    for (const models::Edge& edge : network.connections[layer].edges) {
      edges.push_back({numbers[layer][edge.from], numbers[layer + 1][edge.to], edge.weight});
    }
    std::ranges::sort(edges, {}, [](const models::Edge& edge) { return std::pair(edge.to, edge.from); });
  }
  return other;
}

// Of a network whose units are all live, back in their own order.
Detection in_order(Detection detection, const Renumbering& numbers) {
  for (std::size_t layer = 0; layer < numbers.size(); ++layer) {
    const std::vector<int> modules = detection.modules[layer];
    for (std::size_t unit = 0; unit < modules.size(); ++unit) {
      detection.modules[layer][unit] = modules[numbers[layer][unit]];
    }
  }
  return detection;
}

// The first merge that the cut leaves out is no farther than the last that it makes.
bool is_tied(const std::vector<Merge>& merges, int made) {
  return made > 0 && made < static_cast<int>(merges.size()) &&
         merges[made].distance - merges[made - 1].distance < kEqual;
}

bool has_tied_index(const LayerDecision& decision) {
  const std::vector<double>& index = decision.index;
  return !index.empty() && std::ranges::count_if(index, [best = std::ranges::min(index)](double value) {
                             return value - best < kEqual;
                           }) > 1;
}

// Of the pairs of units that are merged at the same distance as the first one.
bool has_other_pair(const LayerTree& layer, const LayerDecision& decision) {
  const std::vector<Merge>& merges = layer.tree.merges();
  return std::ranges::any_of(merges, [&](const Merge& merge) {
    return merge.second < decision.units && merge.distance - merges[0].distance < kEqual &&
           verdict_on_pair(layer, merge.first, merge.second) != decision.verdict;
  });
}

bool is_at_zero(const LayerDecision& decision) {
  const bool compared = decision.separate && decision.single;
  return std::abs(decision.z_separate) < kEqual || std::abs(decision.z_single) < kEqual ||
         (compared && std::abs(decision.z_separate - decision.z_single) < kEqual);
}

// Whether the tests are consulted hangs on the threshold alone, and they would say something else than the index.
bool threshold_matters(const LayerDecision& decision) {
  const int clusters = decision.clusters_by_index;
  return decision.verdict && clusters > 2 && clusters < decision.units - 1;
}

void list_close_calls(const LayerTree& layer, const LayerDecision& decision, int number,
                      std::vector<CloseDecision>& close) {
  const std::vector<Merge>& merges = layer.tree.merges();
  // Units that are all alike can be merged in any order.
  if (merges.empty() || merges.back().distance < kEqual) {
    return;
  }
  const auto list = [&](bool is_close, CloseCall call, double margin = 0) {
    if (is_close) {
      close.push_back({call, number, -1, margin});
    }
  };
  const int units = decision.units;
  const bool by_tests = decision.consulted && decision.verdict;
  // The tests look at the whole dendrogram, the clusters only at the merges that made them.
  const auto end = merges.begin() + (decision.consulted ? units - 1 : units - decision.clusters);
  list(std::any_of(merges.begin(), end, [](const Merge& merge) { return merge.tied; }), CloseCall::kTiedMerge);
  list(!by_tests && has_tied_index(decision), CloseCall::kTiedIndex);
  list(is_tied(merges, units - decision.clusters), CloseCall::kTiedClusters);
  list(decision.consulted && has_other_pair(layer, decision), CloseCall::kTiedPair);
  list(decision.consulted && is_at_zero(decision), CloseCall::kTestAtZero);
}

void list_near_thresholds(const Detection& detection, const DetectSettings& settings,
                          std::vector<CloseDecision>& close) {
  for (std::size_t layer = 0; layer < detection.decisions.size(); ++layer) {
    const LayerDecision& decision = detection.decisions[layer];
    if (threshold_matters(decision)) {
      const double margin = std::abs(std::ranges::min(decision.index) + settings.threshold);
      if (margin < kNear) {
        close.push_back({CloseCall::kNearThreshold, static_cast<int>(layer), -1, margin});
      }
    }
  }
  const int last = static_cast<int>(detection.decisions.size());
  for (const Join& join : detection.joins) {
    const double share = join.layer == last ? join.cluster_share : std::min(join.cluster_share, join.module_share);
    const double margin = std::abs(share - settings.merging);
    // A share of one cannot move: there is no edge that could count against it.
    if (margin < kNear && share < 1) {
      close.push_back({CloseCall::kNearMerging, join.layer, join.cluster, margin});
    }
  }
}

}  // namespace

bool Stability::all_same() const {
  return std::ranges::all_of(variations, [](const Variation& variation) { return variation.same; });
}

Stability stability(const models::LayeredNetwork& network, const DetectSettings& settings,
                    const StabilitySettings& variations) {
  const PreparedNetwork prepared = prepare(network, settings);
  const Detection detection = detect_prepared(prepared, settings);
  const std::vector<int> partition = partition_of(detection);
  Stability result;
  const auto record = [&](Change change, double value, const Detection& other) {
    result.variations.push_back({change, value, partition_of(other) == partition});
  };
  for (const double threshold : variations.thresholds) {
    DetectSettings varied = settings;
    varied.threshold = threshold;
    record(Change::kThreshold, threshold, detect_prepared(prepared, varied));
  }
  for (const double merging : variations.mergings) {
    DetectSettings varied = settings;
    varied.merging = merging;
    record(Change::kMerging, merging, detect_prepared(prepared, varied));
  }
  RandomSequence random(variations.seed, Stream::kBootstrap);
  for (int draw = 0; draw < variations.renumberings; ++draw) {
    const Renumbering numbers = draw_renumbering(prepared.part.widths, random);
    record(Change::kRenumbering, draw, in_order(detect(renumbered(prepared.part, numbers), settings), numbers));
  }
  for (std::size_t layer = 0; layer < prepared.layers.size(); ++layer) {
    list_close_calls(prepared.layers[layer], detection.decisions[layer], static_cast<int>(layer), result.close);
  }
  list_near_thresholds(detection, settings, result.close);
  return result;
}

std::string_view text_of(CloseCall call) {
  switch (call) {
    case CloseCall::kTiedMerge:
      return "a cluster as near to two others";
    case CloseCall::kTiedClusters:
      return "clusters at equal distances";
    case CloseCall::kTiedIndex:
      return "equal index of two numbers of clusters";
    case CloseCall::kTiedPair:
      return "several most similar pairs";
    case CloseCall::kTestAtZero:
      return "a test at equality";
    case CloseCall::kNearThreshold:
      return "an index near the threshold";
    case CloseCall::kNearMerging:
      break;
  }
  return "a share of edges near the merging threshold";
}

}  // namespace modlab::methods
