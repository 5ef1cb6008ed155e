#include "bench/lanes_or_solo.h"

#include <algorithm>

#include "core/aligned_vector.h"
#include "engine/flush_denormals.h"
#include "engine/network.h"
#include "engine/solo/kernels.h"
#include "engine/solo/parameters.h"
#include "models/layer_stack.h"
#include "models/mlp.h"

namespace modlab::bench {
namespace {

constexpr int kRepeats = 5;

// Numbers of both signs that no processor finds slow.
void fill(std::span<float> values) {
  for (std::size_t place = 0; place < values.size(); ++place) {
    values[place] = 0.01F * static_cast<float>(static_cast<int>(place * 37 % 201) - 100);
  }
}

template <typename Step>
SpentTime best_of(const Step& step) {
  SpentTime best;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const Stopwatch watch;
    step();
    best.improve(watch.spent());
  }
  return best;
}

SpentTime time_lanes(const std::vector<int>& widths, int rows, const engine::Kernels<float>& kernels) {
  const auto network = models::make_mlp<float>({widths}, kernels);
  const auto lanes = static_cast<std::size_t>(kernels.lanes);
  AlignedVector<float> parameters(network->layout().count * lanes);
  AlignedVector<float> gradients(parameters.size());
  fill(parameters);
  // Samples of a lane are its network's own, so that a batch is as many numbers for each of them.
  const int chunk = network->chunk_rows();
  std::vector<engine::UnitBuffer<float>> inputs;
  engine::UnitBuffer<float> asked(widths.back(), chunk, kernels.lanes);
  fill({asked.view().data, static_cast<std::size_t>(widths.back()) * asked.stride()});
  for (int first = 0; first < rows; first += chunk) {
    inputs.emplace_back(widths.front(), chunk, kernels.lanes);
    fill({inputs.back().view().data, static_cast<std::size_t>(widths.front()) * inputs.back().stride()});
  }
  const engine::Step<float> step{.parameters = parameters.data()};
  return best_of([&] {
           for (engine::UnitBuffer<float>& some : inputs) {
             engine::Samples<float> samples;
             samples.inputs = some.view();
             samples.rows = chunk;
             network->forward(step, samples);
             network->backward(step, samples, asked.view(), gradients.data());
           }
         })
      .per(static_cast<double>(kernels.lanes));
}

SpentTime time_solo(const std::vector<int>& widths, int rows, const engine::Kernels<float>& kernels) {
  using engine::solo::padded;
  engine::Layout layout;
  std::vector<std::size_t> tensors;
  for (std::size_t layer = 0; layer + 1 < widths.size(); ++layer) {
    tensors.push_back(layout.tensors.size());
    const std::string name = "layer" + std::to_string(layer);
    layout.add(name + ".weight", {widths[layer], widths[layer + 1]}, engine::Rate::kFunctional, widths[layer],
               widths[layer + 1]);
    layout.add(name + ".bias", {widths[layer + 1]}, engine::Rate::kFunctional, widths[layer], widths[layer + 1]);
  }
  engine::solo::Parameters<float> parameters(layout, {});
  fill(parameters.all_values());
  models::LayerStack<float> stack(widths, tensors, padded(widths.front()), engine::solo::kernels_for(kernels.target));
  models::LayerStack<float>::Use use = stack.make_use(rows);
  AlignedVector<float> x(static_cast<std::size_t>(rows) * padded(widths.front()));
  fill(x);
  fill(use.dy.back());
  return best_of([&] {
    stack.forward(parameters, x.data(), rows, use);
    stack.begin_backward(parameters);
    stack.backward(parameters, x.data(), false, false, rows, use);
  });
}

}  // namespace

LanesOrSolo time_lanes_and_solo(const std::string& family, const std::vector<int>& widths, int rows,
                                const engine::Kernels<float>& kernels) {
  const engine::FlushDenormals flush;
  return {family, widths, rows, time_lanes(widths, rows, kernels), time_solo(widths, rows, kernels)};
}

std::vector<LanesOrSolo> time_rule_layers(const engine::Kernels<float>& kernels) {
  return {time_lanes_and_solo("mlp", {96, 128, 128}, 256, kernels),
          time_lanes_and_solo("mha", {32, 256, 64, 32}, 2560, kernels),
          time_lanes_and_solo("rnn", {160, 512}, 256, kernels)};
}

}  // namespace modlab::bench
