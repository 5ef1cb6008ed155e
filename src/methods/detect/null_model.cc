#include "methods/detect/null_model.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/errors.h"
#include "core/random.h"
#include "methods/detect/live_part.h"

namespace modlab::methods {
namespace {

using models::Edge;
using models::LayeredNetwork;

// Tries for each edge of a layer; far more than it takes until further swaps change nothing in distribution.
constexpr std::uint64_t kSwapsPerEdge = 20;
// Sums in another order may differ in their last bits.
constexpr double kRounding = 1e-12;

std::uint64_t draw_below(std::uint64_t end, RandomSequence& random) { return (random.next_word() * end) >> 32; }

// In this order the same network is always the same list.
void put_in_order(std::vector<Edge>& edges) {
  std::ranges::sort(edges, {}, [](const Edge& edge) { return std::pair(edge.to, edge.from); });
}

void rewire(std::vector<Edge>& edges, int in, int out, RandomSequence& random) {
  const auto place = [&](int from, int to) { return static_cast<std::size_t>(from) * out + to; };
  std::vector<bool> is_wired(static_cast<std::size_t>(in) * out);
  for (const Edge& edge : edges) {
    is_wired[place(edge.from, edge.to)] = true;
  }
  for (std::uint64_t left = kSwapsPerEdge * edges.size(); left > 0; --left) {
    Edge& first = edges[draw_below(edges.size(), random)];
    Edge& second = edges[draw_below(edges.size(), random)];
    // Of edges that share an end, one would come to lie where it is already.
    if (is_wired[place(first.from, second.to)] || is_wired[place(second.from, first.to)]) {
      continue;
    }
    is_wired[place(first.from, first.to)] = is_wired[place(second.from, second.to)] = false;
    std::swap(first.to, second.to);
    is_wired[place(first.from, first.to)] = is_wired[place(second.from, second.to)] = true;
  }
  put_in_order(edges);
}

void reweight(std::vector<Edge>& edges, RandomSequence& random) {
  for (std::uint64_t left = edges.size(); left > 1; --left) {
    std::swap(edges[left - 1].weight, edges[draw_below(left, random)].weight);
  }
}

// Of a network whose units are all live.
double excess_of_live(const LayeredNetwork& part, const Detection& detection) {
  double excess = 0;
  double edges = 0;
  for (std::size_t layer = 0; layer < part.connections.size(); ++layer) {
    const std::vector<Edge>& here = part.connections[layer].edges;
    std::vector<double> out_of(detection.module_count);
    std::vector<double> into(detection.module_count);
    for (const Edge& edge : here) {
      const int from = detection.modules[layer][edge.from];
      const int to = detection.modules[layer + 1][edge.to];
      ++out_of[from];
      ++into[to];
      excess += from == to ? 1 : 0;
    }
    for (int module = 0; module < detection.module_count; ++module) {
      excess -= out_of[module] * into[module] / std::max(1.0, static_cast<double>(here.size()));
    }
    edges += static_cast<double>(here.size());
  }
  return edges > 0 ? excess / edges : 0;
}

template <typename Change>
NullDraws draw(const LayeredNetwork& part, double statistic, const DetectSettings& settings, int draws,
               const Change& change) {
  NullDraws result;
  result.draws = draws;
  double sum = 0;
  double sum_of_squares = 0;
  for (int number = 0; number < draws; ++number) {
    LayeredNetwork other = part;
    bool is_same = true;
    for (std::size_t layer = 0; layer < part.connections.size(); ++layer) {
      change(other.connections[layer].edges, part.widths[layer], part.widths[layer + 1]);
      is_same = is_same && other.connections[layer].edges == part.connections[layer].edges;
    }
    const double value = is_same ? statistic : excess_of_live(other, detect(other, settings));
    result.at_least += value >= statistic - kRounding ? 1 : 0;
    result.different += is_same ? 0 : 1;
    // Around the statistic, where the two sums do not cancel each other.
    sum += value - statistic;
    sum_of_squares += (value - statistic) * (value - statistic);
  }
  const double shift = sum / draws;
  result.mean = statistic + shift;
  result.deviation = std::sqrt(std::max(0.0, sum_of_squares / draws - shift * shift));
  result.p = (result.at_least + 1.0) / (draws + 1.0);
  return result;
}

}  // namespace

double inside_excess(const LayeredNetwork& network, const Detection& detection) {
  return excess_of_live(live_part(network, detection.live), detection);
}

NullModel null_model(const LayeredNetwork& network, const DetectSettings& settings, const NullSettings& null_settings) {
  if (null_settings.draws < 1) {
    throw ConfigError("a null model needs at least one network of chance; a few hundred make a good one");
  }
  const Detection detection = detect(network, settings);
  LayeredNetwork part = live_part(network, detection.live);
  for (models::Connections& connections : part.connections) {
    put_in_order(connections.edges);
    // Weights that nobody looks at make no network different.
    std::ranges::for_each(connections.edges, [&](Edge& edge) { edge.weight = settings.weighted ? edge.weight : 1; });
  }
  NullModel model;
  model.statistic = excess_of_live(part, detection);
  RandomSequence random(null_settings.seed, Stream::kBootstrap);
  model.rewired = draw(part, model.statistic, settings, null_settings.draws,
                       [&](std::vector<Edge>& edges, int in, int out) { rewire(edges, in, out, random); });
  if (settings.weighted) {
    model.reweighted = draw(part, model.statistic, settings, null_settings.draws,
                            [&](std::vector<Edge>& edges, int /*in*/, int /*out*/) { reweight(edges, random); });
  }
  return model;
}

}  // namespace modlab::methods
