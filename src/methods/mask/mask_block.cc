#include "methods/mask/mask_block.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "core/random.h"
#include "engine/flush_denormals.h"

namespace modlab::methods {
namespace {

using engine::Kernels;
using engine::Units;

// Sequences of parameters that lanes have each for themselves, [parameter][lane].
AlignedVector<float> side_by_side(const std::vector<const std::vector<float>*>& lanes) {
  const std::size_t count = lanes.front()->size();
  AlignedVector<float> together(count * lanes.size());
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    for (std::size_t parameter = 0; parameter < count; ++parameter) {
      together[parameter * lanes.size() + lane] = (*lanes[lane])[parameter];
    }
  }
  return together;
}

std::vector<engine::Field> target_fields(const engine::Data& data) {
  std::vector<engine::Field> fields;
  for (int output = 0; output < data.outputs; ++output) {
    fields.push_back({output, 1});
  }
  if (data.tasks > 1) {
    fields.push_back({engine::kTaskShift, 0xff});
  }
  return fields;
}

// Masks are drawn for so many logits at a time that what stands between a random number and a masked weight stays in
// the first cache level. A multiple of four, which one draw of the generator has.
constexpr int kStripLogits = 64;

// Logits that are drawn together, and the parameters that they mask, with those between them.
struct Strip {
  int first_logit = 0;
  int logits = 0;
  std::size_t first_parameter = 0;
  int parameters = 0;
};

std::vector<Strip> strips_of(const MaskedParameters& masked) {
  std::vector<Strip> strips;
  for (int logit = 0; logit < masked.logits; logit += kStripLogits) {
    strips.push_back({.first_logit = logit, .logits = std::min(kStripLogits, masked.logits - logit)});
  }
  // Logits are in the order of their parameters.
  for (std::size_t parameter = 0; parameter < masked.logit_of.size(); ++parameter) {
    if (masked.logit_of[parameter] >= 0) {
      Strip& strip = strips[static_cast<std::size_t>(masked.logit_of[parameter] / kStripLogits)];
      if (strip.parameters == 0) {
        strip.first_parameter = parameter;
      }
      strip.parameters = static_cast<int>(parameter + 1 - strip.first_parameter);
    }
  }
  return strips;
}

class MaskBlock {
 public:
  MaskBlock(const Kernels<float>& kernels, engine::Network<float>& network, const engine::Data& data,
            const MaskedParameters& masked, const MaskSpec& spec, const std::vector<MaskJob>& jobs,
            MaskProgress& progress)
      : kernels_(kernels),
        network_(network),
        data_(data),
        masked_(masked),
        spec_(spec),
        progress_(progress),
        used_lanes_(jobs.size()),
        strips_(strips_of(masked)),
        fields_(target_fields(data)),
        chunk_rows_(std::min(network.chunk_rows(), spec.batch_size / spec.samples)) {
    assert(jobs.size() <= lane_count());
    // Lanes without a mask repeat the last one, so that they compute on ordinary numbers.
    for (std::size_t lane = 0; lane < lane_count(); ++lane) {
      lanes_.push_back(&jobs[std::min(lane, jobs.size() - 1)]);
    }
    make_lane_values();
    const auto lanes = static_cast<int>(lane_count());
    const std::size_t parameters = network.layout().count * lane_count();
    const std::size_t logits = static_cast<std::size_t>(masked.logits) * lane_count();
    masked_weights_ = weights_;
    reach_.resize(parameters);
    gradients_.resize(parameters);
    for (AlignedVector<float>* numbers : {&odds_, &dlogits_, &first_, &second_}) {
      numbers->resize(logits);
    }
    for (AlignedVector<float>* numbers : {&uniforms_, &factors_, &slopes_}) {
      numbers->resize(kStripLogits * lane_count());
    }
    const auto inputs = static_cast<int>(data.inputs.size());
    inputs_ = engine::UnitBuffer<float>(inputs, chunk_rows_, lanes);
    targets_ = engine::UnitBuffer<float>(static_cast<int>(fields_.size()), chunk_rows_, lanes);
    doutputs_ = engine::UnitBuffer<float>(data.outputs, chunk_rows_, lanes);
    rows_.resize(static_cast<std::size_t>(spec.batch_size) * lane_count());
  }

  std::vector<std::vector<float>> run() {
    for (int step = 1; step <= spec_.steps; ++step) {
      if (progress_.stop.load(std::memory_order_relaxed)) {
        return {};
      }
      take_step(static_cast<std::uint32_t>(step));
      progress_.steps.fetch_add(static_cast<std::int64_t>(used_lanes_), std::memory_order_relaxed);
    }
    std::vector<std::vector<float>> trained(used_lanes_);
    for (std::size_t lane = 0; lane < used_lanes_; ++lane) {
      for (int logit = 0; logit < masked_.logits; ++logit) {
        trained[lane].push_back(logits_[static_cast<std::size_t>(logit) * lane_count() + lane]);
      }
    }
    return trained;
  }

 private:
  std::size_t lane_count() const { return static_cast<std::size_t>(kernels_.lanes); }

  template <typename Value>
  AlignedVector<float> per_lane(const Value& value) const {
    AlignedVector<float> row(lane_count());
    for (std::size_t lane = 0; lane < lane_count(); ++lane) {
      row[lane] = static_cast<float>(value(*lanes_[lane]));
    }
    return row;
  }

  std::vector<std::uint32_t> stream_keys(Stream stream) const {
    std::vector<std::uint32_t> keys(4 * lane_count());
    for (std::size_t lane = 0; lane < lane_count(); ++lane) {
      Words4 key = stream_key(lanes_[lane]->seed, stream);
      key[3] = lanes_[lane]->stage;
      for (std::size_t word = 0; word < 4; ++word) {
        keys[word * lane_count() + lane] = key[word];
      }
    }
    return keys;
  }

  void make_lane_values() {
    rate_ = per_lane([](const MaskJob& job) { return job.lr; });
    alpha_ = per_lane([&](const MaskJob& job) { return job.beta / spec_.batch_size; });
    longest_ = per_lane([](const MaskJob& job) { return job.clip; });
    inverse_tau_ = per_lane([](const MaskJob& job) { return 1 / job.tau; });
    has_tau_ = std::ranges::any_of(inverse_tau_, [](float tau) { return tau != 1; });
    decay_.resize(lane_count());
    noise_keys_ = stream_keys(Stream::kMaskNoise);
    row_keys_ = stream_keys(Stream::kMaskRows);
    std::vector<const std::vector<float>*> weights;
    for (const MaskJob* job : lanes_) {
      weights.push_back(job->weights);
    }
    weights_ = side_by_side(weights);
    logits_.resize(static_cast<std::size_t>(masked_.logits) * lane_count());
    for (std::size_t place = 0; place < logits_.size(); ++place) {
      logits_[place] = static_cast<float>(lanes_[place % lane_count()]->init);
    }
    // The loss is the mean over the outputs that count: the kernel divides by all of them.
    output_weights_.resize(static_cast<std::size_t>(data_.outputs) * lane_count());
    for (std::size_t place = 0; place < output_weights_.size(); ++place) {
      const std::uint32_t outputs = lanes_[place % lane_count()]->outputs;
      const bool counts = ((outputs >> (place / lane_count())) & 1U) != 0;
      output_weights_[place] =
          counts ? static_cast<float>(data_.outputs) / static_cast<float>(std::popcount(outputs)) : 0;
    }
  }

  // Every lane takes rows of its own, with replacement.
  void draw_rows(std::uint32_t step) {
    kernels_.random_words({.draw = {row_keys_.data(), step, 0}, .out = rows_.data(), .count = spec_.batch_size});
    for (std::size_t place = 0; place < rows_.size(); ++place) {
      const std::vector<std::uint32_t>& rows = lanes_[place % lane_count()]->rows;
      rows_[place] = rows[(static_cast<std::uint64_t>(rows_[place]) * rows.size()) >> 32];
    }
  }

  void take_step(std::uint32_t step) {
    draw_rows(step);
    kernels_.mask_odds(logits_.data(), odds_.data(), masked_.logits);
    for (int sample = 0; sample < spec_.samples; ++sample) {
      draw_mask(step * static_cast<std::uint32_t>(spec_.samples) + static_cast<std::uint32_t>(sample));
      learn(sample);
      kernels_.mask_gradient({.gradients = gradients_.data(),
                              .reach = reach_.data(),
                              .logit_of = masked_.logit_of.data(),
                              .dlogits = dlogits_.data(),
                              .count = static_cast<int>(masked_.logit_of.size())});
    }
    kernels_.mask_penalty({.logits = logits_.data(),
                           .alpha = alpha_.data(),
                           .dlogits = dlogits_.data(),
                           .of_count = spec_.penalty == MaskPenaltyKind::kCount,
                           .count = masked_.logits});
    kernels_.clip_lanes({.gradients = dlogits_.data(), .longest = longest_.data(), .count = masked_.logits});
    kernels_.update({.kind = engine::OptimizerKind::kAdam,
                     .parameters = logits_.data(),
                     .gradients = dlogits_.data(),
                     .first = first_.data(),
                     .second = second_.data(),
                     .mask = nullptr,
                     .rate = rate_.data(),
                     .weight_decay = decay_.data(),
                     .scales = engine::AdamScales::after(static_cast<int>(step)),
                     .count = masked_.logits});
  }

  void draw_mask(std::uint32_t number) {
    for (const Strip& strip : strips_) {
      draw_strip(strip, number);
    }
  }

  void draw_strip(const Strip& strip, std::uint32_t number) {
    const bool has_noise = spec_.sampler != engine::MaskDrawing::kDeterministic;
    if (has_noise) {
      const auto first_draw = static_cast<std::uint32_t>(strip.first_logit / 4);
      kernels_.uniforms(
          {.draw = {noise_keys_.data(), number, first_draw}, .out = uniforms_.data(), .count = strip.logits});
    }
    const std::size_t logit = static_cast<std::size_t>(strip.first_logit) * lane_count();
    kernels_.draw_mask({.logits = logits_.data() + logit,
                        .odds = odds_.data() + logit,
                        .uniforms = has_noise ? uniforms_.data() : nullptr,
                        .inverse_tau = inverse_tau_.data(),
                        .has_tau = has_tau_,
                        .kind = spec_.sampler,
                        .factors = factors_.data(),
                        .slopes = slopes_.data(),
                        .count = strip.logits});
    const std::size_t parameter = strip.first_parameter * lane_count();
    kernels_.apply_mask({.weights = weights_.data() + parameter,
                         .factors = factors_.data(),
                         .slopes = slopes_.data(),
                         .first_logit = strip.first_logit,
                         .logit_of = masked_.logit_of.data() + strip.first_parameter,
                         .masked = masked_weights_.data() + parameter,
                         .reach = reach_.data() + parameter,
                         .count = strip.parameters});
  }

  // The gradients of masked weights on the sample's part of the batch.
  void learn(int sample) {
    const engine::Step<float> step{
        .parameters = masked_weights_.data(), .inverse_tau = ones_for_selection(), .noise = nullptr};
    network_.begin_step(step);
    const int rows = spec_.batch_size / spec_.samples;
    for (int begin = 0; begin < rows; begin += chunk_rows_) {
      const int chunk = std::min(chunk_rows_, rows - begin);
      const engine::Samples<float> samples = gather(sample * rows + begin, chunk);
      const Units<const float> outputs = network_.forward(step, samples);
      kernels_.loss_gradient(
          {.z = outputs,
           .targets = targets_.view(),
           .d = doutputs_.view(),
           .scale = static_cast<float>(1.0 / (static_cast<double>(spec_.batch_size) * data_.outputs)),
           .loss = nullptr,
           .kind = engine::LossKind::kBce,
           .rows = chunk,
           .outputs = data_.outputs});
      kernels_.weigh_units(
          {.values = doutputs_.view(), .weights = output_weights_.data(), .units = data_.outputs, .rows = chunk});
      network_.backward(step, samples, doutputs_.view(), gradients_.data());
    }
    network_.end_step(step, gradients_.data());
  }

  engine::Samples<float> gather(int first, int rows) {
    const std::uint32_t* samples = rows_.data() + static_cast<std::size_t>(first) * lane_count();
    const auto expand = [&](const std::vector<std::uint32_t>& words, std::span<const engine::Field> fields,
                            Units<float> out) {
      kernels_.expand({.samples = samples,
                       .same_in_all_lanes = false,
                       .words = words.data(),
                       .fields = fields,
                       .out = out,
                       .rows = rows});
    };
    expand(data_.input_words, data_.inputs, inputs_.view());
    expand(data_.target_words, fields_, targets_.view());
    engine::Samples<float> chunk;
    chunk.inputs = inputs_.view();
    chunk.row_task = data_.tasks > 1 ? targets_.unit(static_cast<std::size_t>(data_.outputs)) : nullptr;
    chunk.rows = rows;
    return chunk;
  }

  // Selection vectors are not trained; their temperature only scales a gradient that nobody takes.
  const float* ones_for_selection() {
    if (ones_.empty()) {
      ones_.assign(lane_count(), 1.0F);
    }
    return ones_.data();
  }

  const Kernels<float>& kernels_;
  engine::Network<float>& network_;
  const engine::Data& data_;
  const MaskedParameters& masked_;
  const MaskSpec& spec_;
  MaskProgress& progress_;
  std::size_t used_lanes_;
  std::vector<Strip> strips_;
  std::vector<engine::Field> fields_;
  int chunk_rows_;
  std::vector<const MaskJob*> lanes_;

  AlignedVector<float> rate_, alpha_, longest_, inverse_tau_, decay_, ones_;
  bool has_tau_ = false;
  std::vector<std::uint32_t> noise_keys_, row_keys_;
  AlignedVector<float> weights_, masked_weights_, reach_, gradients_;  // [parameter][lane]
  AlignedVector<float> logits_, odds_, dlogits_, first_, second_;      // [logit][lane]
  AlignedVector<float> uniforms_, factors_, slopes_;                   // the same, of one strip
  AlignedVector<float> output_weights_;                                // [output][lane]
  std::vector<std::uint32_t> rows_;                                    // [row][lane]
  engine::UnitBuffer<float> inputs_, targets_, doutputs_;
};

}  // namespace

std::vector<std::vector<float>> train_mask_block(const Kernels<float>& kernels, engine::Network<float>& network,
                                                 const engine::Data& data, const MaskedParameters& masked,
                                                 const MaskSpec& spec, const std::vector<MaskJob>& jobs,
                                                 MaskProgress& progress) {
  const engine::FlushDenormals flush;
  return MaskBlock(kernels, network, data, masked, spec, jobs, progress).run();
}

std::vector<std::vector<std::uint32_t>> predict(const Kernels<float>& kernels, engine::Network<float>& network,
                                                const engine::Data& data,
                                                const std::vector<std::vector<float>>& networks) {
  const engine::FlushDenormals flush;
  const auto lanes = static_cast<std::size_t>(kernels.lanes);
  std::vector<const std::vector<float>*> in_lanes;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    in_lanes.push_back(&networks[std::min(lane, networks.size() - 1)]);
  }
  const AlignedVector<float> parameters = side_by_side(in_lanes);
  network.begin_evaluation(parameters.data());
  std::vector<std::vector<std::uint32_t>> words(networks.size(),
                                                std::vector<std::uint32_t>(static_cast<std::size_t>(data.samples())));
  const int chunk_rows = network.chunk_rows();
  engine::UnitBuffer<float> inputs(static_cast<int>(data.inputs.size()), chunk_rows, kernels.lanes);
  const int of_task = data.samples() / data.tasks;
  for (int task = 0; task < data.tasks; ++task) {
    for (int first = task * of_task; first < (task + 1) * of_task; first += chunk_rows) {
      const int rows = std::min(chunk_rows, (task + 1) * of_task - first);
      std::vector<std::uint32_t> samples;
      for (int row = 0; row < rows; ++row) {
        samples.push_back(static_cast<std::uint32_t>(first + row));
      }
      kernels.expand({.samples = samples.data(),
                      .same_in_all_lanes = true,
                      .words = data.input_words.data(),
                      .fields = data.inputs,
                      .out = inputs.view(),
                      .rows = rows});
      const Units<const float> said = network.evaluate(parameters.data(), {.inputs = inputs.view(),
                                                                           .words = data.input_words.data() + first,
                                                                           .fields = data.inputs,
                                                                           .rows = rows,
                                                                           .task = task});
      for (std::size_t lane = 0; lane < networks.size(); ++lane) {
        for (int row = 0; row < rows; ++row) {
          for (int output = 0; output < data.outputs; ++output) {
            const bool one =
                said.unit(static_cast<std::size_t>(output))[static_cast<std::size_t>(row) * lanes + lane] > 0;
            words[lane][samples[static_cast<std::size_t>(row)]] |= (one ? 1U : 0U) << output;
          }
        }
      }
    }
  }
  return words;
}

}  // namespace modlab::methods
