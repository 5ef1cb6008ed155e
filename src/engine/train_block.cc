#include "engine/train_block.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "core/random.h"
#include "engine/flush_denormals.h"

namespace modlab::engine {
namespace {

// Tables up to this many rows keep their clean inputs for evaluation; larger ones are expanded chunk by chunk.
constexpr int kKeptEvaluationRows = 256;
// Draws of one step: room for so many groups of four numbers in a chunk before the next chunk's begin.
constexpr std::uint32_t kDrawsPerChunk = 1U << 16;

// Curves of longer trainings grow as they go.
constexpr int kReservedEpochs = 10'000;

using FloatRow = AlignedVector<float>;

class BlockTrainer {
 public:
  BlockTrainer(const Kernels<float>& kernels, Network<float>& network, const Data& data, const BlockSettings& settings,
               const std::vector<LaneSettings>& lanes, Progress& progress)
      : kernels_(kernels),
        network_(network),
        data_(data),
        settings_(settings),
        progress_(progress),
        used_lanes_(static_cast<int>(lanes.size())),
        chunk_rows_(network.chunk_rows()),
        train_rows_(static_cast<int>(lanes.front().train.size())),
        batch_rows_(std::min(settings.batch_size, train_rows_)) {
    assert(used_lanes_ <= kernels.lanes);
    // Lanes without a network repeat the last one, so that they compute on ordinary numbers.
    for (int lane = 0; lane < kernels.lanes; ++lane) {
      lanes_.push_back(&lanes[std::min(lane, used_lanes_ - 1)]);
    }
    for (int output = 0; output < data.outputs; ++output) {
      target_fields_.push_back({output, 1});
    }
    if (data.tasks > 1) {
      target_fields_.push_back({kTaskShift, 0xff});
    }
    fill_lane_values();
    make_buffers();
  }

  std::vector<LaneResult> run() {
    std::vector<LaneResult> results(used_lanes_);
    curve_sums_.reserve(static_cast<std::size_t>(std::min(settings_.epochs, kReservedEpochs)) * kParts * kQuantities *
                        lane_count());
    for (int epoch = 1; epoch <= settings_.epochs; ++epoch) {
      set_rates(epoch);
      train_epoch(epoch);
      if (epoch % settings_.evaluate_every == 0 || epoch == settings_.epochs) {
        evaluate();
        record(epoch, results);
      }
      progress_.epochs_done.fetch_add(used_lanes_, std::memory_order_relaxed);
      if (is_stopped()) {
        return {};  // the epoch may have been cut short
      }
    }
    for (int lane = 0; lane < used_lanes_; ++lane) {
      results[lane].best.parameters = lane_of(best_, lane);
      results[lane].last.parameters = lane_of(parameters_, lane);
      take_snapshot(settings_.epochs, lane, results[lane].last);
      finish_curve(lane, results[lane]);
    }
    return results;
  }

 private:
  int lane_count() const { return kernels_.lanes; }

  // Asked before every chunk of rows, since an epoch may take minutes. Once it is true it stays so.
  bool is_stopped() const { return progress_.stop.load(std::memory_order_relaxed); }

  template <typename Value>
  FloatRow per_lane(Value value) const {
    FloatRow row(lane_count());
    for (int lane = 0; lane < lane_count(); ++lane) {
      row[lane] = static_cast<float>(value(*lanes_[lane]));
    }
    return row;
  }

  std::vector<std::uint32_t> stream_keys(Stream stream) const {
    std::vector<std::uint32_t> keys(4 * lane_count());
    for (int lane = 0; lane < lane_count(); ++lane) {
      const Words4 key = stream_key(lanes_[lane]->seed, stream);
      for (int word = 0; word < 4; ++word) {
        keys[word * lane_count() + lane] = key[word];
      }
    }
    return keys;
  }

  void fill_lane_values() {
    inverse_tau_ = per_lane([](const LaneSettings& lane) { return lane.inverse_tau; });
    noise_ = per_lane([](const LaneSettings& lane) { return lane.noise; });
    has_noise_ = std::ranges::any_of(noise_, [](float noise) { return noise != 0; });
    weight_decay_ = per_lane([](const LaneSettings& lane) { return lane.weight_decay; });
    weight_decay_structural_ = per_lane([](const LaneSettings& lane) { return lane.weight_decay_structural; });
    has_constant_rates_ =
        std::ranges::all_of(lanes_, [](const LaneSettings* lane) { return lane->schedule == Schedule::kConstant; });
    noise_keys_ = stream_keys(Stream::kInputNoise);
    gumbel_keys_ = stream_keys(Stream::kGumbel);
    order_keys_ = stream_keys(Stream::kBatchOrder);
  }

  void make_buffers() {
    const Layout& layout = network_.layout();
    const int lanes = lane_count();
    parameters_.resize(layout.count * lanes);
    best_.resize(layout.count * lanes);
    gradients_.resize(layout.count * lanes);
    first_.resize(layout.count * lanes);
    second_.resize(layout.count * lanes);
    const bool masked = std::ranges::any_of(lanes_, [](const LaneSettings* lane) { return !lane->mask.empty(); });
    mask_.resize(masked ? layout.count * lanes : 0);
    for (int lane = 0; lane < lanes; ++lane) {
      assert(lanes_[lane]->initial.size() == layout.count);
      for (std::size_t parameter = 0; parameter < layout.count; ++parameter) {
        parameters_[parameter * lanes + lane] = lanes_[lane]->initial[parameter];
        if (masked) {
          mask_[parameter * lanes + lane] = lanes_[lane]->mask.empty() ? 1.0F : lanes_[lane]->mask[parameter];
        }
      }
    }
    order_.resize(static_cast<std::size_t>(train_rows_) * lanes);
    order_words_.resize(order_.size());
    for (int lane = 0; lane < lanes; ++lane) {
      for (int row = 0; row < train_rows_; ++row) {
        order_[row * lanes + lane] = lanes_[lane]->train[row];
      }
    }
    const int inputs = static_cast<int>(data_.inputs.size());
    inputs_ = UnitBuffer<float>(inputs, chunk_rows_, lanes);
    clean_inputs_ = UnitBuffer<float>(inputs, chunk_rows_, lanes);
    targets_ = UnitBuffer<float>(static_cast<int>(target_fields_.size()), chunk_rows_, lanes);
    doutputs_ = UnitBuffer<float>(data_.outputs, chunk_rows_, lanes);
    const int structural = static_cast<int>(layout.structural_count);
    if (settings_.gumbel == Gumbel::kBatch) {
      batch_gumbel_.resize(static_cast<std::size_t>(structural) * lanes);
    } else if (settings_.gumbel == Gumbel::kSample) {
      sample_gumbel_ = UnitBuffer<float>(structural / data_.tasks, chunk_rows_, lanes);
    }
    all_samples_.resize(data_.samples());
    for (int sample = 0; sample < data_.samples(); ++sample) {
      all_samples_[sample] = static_cast<std::uint32_t>(sample);
    }
    part_.resize(static_cast<std::size_t>(data_.samples()) * lanes);
    part_rows_.resize(lanes);
    for (int lane = 0; lane < lanes; ++lane) {
      for (int sample = 0; sample < data_.samples(); ++sample) {
        const auto part = static_cast<std::size_t>(lanes_[lane]->part[sample]);
        part_[static_cast<std::size_t>(sample) * lanes + lane] = static_cast<float>(part);
        const int task = sample / samples_per_task();
        part_rows_[lane].resize(data_.tasks);
        ++part_rows_[lane][task][part];
      }
    }
    keeps_evaluation_inputs_ = data_.samples() <= kKeptEvaluationRows;
    evaluation_inputs_ = UnitBuffer<float>(inputs, keeps_evaluation_inputs_ ? data_.samples() : chunk_rows_, lanes);
    if (keeps_evaluation_inputs_) {
      expand_evaluation_inputs(0, data_.samples());
    }
    sums_.resize(static_cast<std::size_t>(data_.tasks) * kParts * kQuantities * lanes);
    chunk_sums_.resize(static_cast<std::size_t>(kParts) * kQuantities * lanes);
    best_validation_.assign(lanes, -1);
    best_loss_.assign(lanes, 0);
    improved_.resize(lanes);
  }

  int samples_per_task() const { return data_.samples() / data_.tasks; }

  void expand_evaluation_inputs(int first, int rows) {
    kernels_.expand({.samples = all_samples_.data() + first,
                     .same_in_all_lanes = true,
                     .words = data_.input_words.data(),
                     .fields = data_.inputs,
                     .out = evaluation_inputs_.view(),
                     .rows = rows});
  }

  void set_rates(int epoch) {
    if (epoch > 1 && has_constant_rates_) {
      return;
    }
    const auto factor = [&](const LaneSettings& lane) {
      return schedule_factor(lane.schedule, lane.gamma, epoch, settings_.epochs);
    };
    rate_functional_ = per_lane([&](const LaneSettings& lane) { return lane.lr * factor(lane); });
    rate_input_ = per_lane([&](const LaneSettings& lane) { return lane.lr_input * factor(lane); });
    rate_module_ = per_lane([&](const LaneSettings& lane) { return lane.lr_module * factor(lane); });
  }

  // A uniform shuffle of each lane's order (Fisher and Yates). One batch an epoch needs none: its sums do not ask.
  void shuffle(int epoch) {
    const int lanes = lane_count();
    kernels_.random_words({.draw = {order_keys_.data(), static_cast<std::uint32_t>(epoch), 0},
                           .out = order_words_.data(),
                           .count = train_rows_});
    for (int row = train_rows_ - 1; row > 0; --row) {
      const std::uint32_t* words = order_words_.data() + static_cast<std::size_t>(row) * lanes;
      std::uint32_t* here = order_.data() + static_cast<std::size_t>(row) * lanes;
      for (int lane = 0; lane < lanes; ++lane) {
        const std::uint64_t scaled = static_cast<std::uint64_t>(words[lane]) * static_cast<std::uint64_t>(row + 1);
        std::swap(here[lane], order_[static_cast<std::size_t>(scaled >> 32) * lanes + lane]);
      }
    }
  }

  void train_epoch(int epoch) {
    if (batch_rows_ < train_rows_) {
      shuffle(epoch);
    }
    for (int first = 0; first < train_rows_ && !is_stopped(); first += batch_rows_) {
      train_step(first, std::min(batch_rows_, train_rows_ - first));
    }
  }

  void train_step(int first, int rows) {
    ++step_count_;
    Step<float> step{.parameters = parameters_.data(),
                     .inverse_tau = inverse_tau_.data(),
                     .noise = nullptr,
                     .evaluated = std::exchange(is_evaluated_, false)};
    if (settings_.gumbel == Gumbel::kBatch) {
      kernels_.gumbel_noise({.draw = {gumbel_keys_.data(), step_number(), 0},
                             .out = batch_gumbel_.data(),
                             .count = static_cast<int>(network_.layout().structural_count)});
      step.noise = batch_gumbel_.data();
    }
    network_.begin_step(step);
    std::uint32_t chunk = 0;
    for (int begin = 0; begin < rows && !(begin > 0 && is_stopped()); begin += chunk_rows_, ++chunk) {
      const int chunk_rows = std::min(chunk_rows_, rows - begin);
      const Samples<float> samples = gather_samples(first + begin, chunk_rows, chunk);
      const Units<const float> outputs = network_.forward(step, samples);
      kernels_.loss_gradient({.z = outputs,
                              .targets = targets_.view(),
                              .d = doutputs_.view(),
                              .scale = static_cast<float>(1.0 / (static_cast<double>(rows) * data_.outputs)),
                              .loss = nullptr,
                              .kind = settings_.loss,
                              .rows = chunk_rows,
                              .outputs = data_.outputs});
      network_.backward(step, samples, doutputs_.view(), gradients_.data());
    }
    network_.end_step(step, gradients_.data());
    update();
  }

  std::uint32_t step_number() const { return static_cast<std::uint32_t>(step_count_); }

  void expand_samples(int first, int rows) {
    const std::uint32_t* samples = order_.data() + static_cast<std::size_t>(first) * lane_count();
    kernels_.expand({.samples = samples,
                     .same_in_all_lanes = false,
                     .words = data_.input_words.data(),
                     .fields = data_.inputs,
                     .out = clean_inputs_.view(),
                     .rows = rows});
    kernels_.expand({.samples = samples,
                     .same_in_all_lanes = false,
                     .words = data_.target_words.data(),
                     .fields = target_fields_,
                     .out = targets_.view(),
                     .rows = rows});
    // Inputs beyond the noisy ones (what MLPs are told of the task) are never noisy.
    for (std::size_t input = data_.noisy_inputs; has_noise_ && input < data_.inputs.size(); ++input) {
      std::copy_n(clean_inputs_.unit(input), static_cast<std::size_t>(rows) * lane_count(), inputs_.unit(input));
    }
  }

  Samples<float> gather_samples(int first, int rows, std::uint32_t chunk) {
    // A full batch in one chunk is the same at every step, but for the noise.
    if (!is_expanded_) {
      expand_samples(first, rows);
      is_expanded_ = rows == train_rows_;
    }
    if (has_noise_) {
      kernels_.add_normal({.draw = {noise_keys_.data(), step_number(), chunk * kDrawsPerChunk},
                           .deviation = noise_.data(),
                           .clean = clean_inputs_.view(),
                           .x = inputs_.view(),
                           .units = data_.noisy_inputs,
                           .rows = rows});
    }
    Samples<float> chunk_samples;
    chunk_samples.inputs = has_noise_ ? inputs_.view() : clean_inputs_.view();
    chunk_samples.row_task = data_.tasks > 1 ? targets_.unit(data_.outputs) : nullptr;
    chunk_samples.rows = rows;
    if (settings_.gumbel == Gumbel::kSample) {
      const int total = static_cast<int>(sample_gumbel_.stride()) / lane_count() *
                        static_cast<int>(network_.layout().structural_count) / data_.tasks;
      kernels_.gumbel_noise({.draw = {gumbel_keys_.data(), step_number(), chunk * kDrawsPerChunk},
                             .out = sample_gumbel_.unit(0),
                             .count = total});
      chunk_samples.noise = sample_gumbel_.view();
    }
    return chunk_samples;
  }

  void update() {
    scales_ = AdamScales::after(step_count_);
    const std::vector<Tensor>& tensors = network_.layout().tensors;
    // Neighbouring tensors with the same rate are one stretch.
    for (std::size_t begin = 0; begin < tensors.size();) {
      std::size_t end = begin + 1;
      std::size_t count = tensors[begin].count;
      while (end < tensors.size() && tensors[end].rate == tensors[begin].rate) {
        count += tensors[end++].count;
      }
      update_stretch(tensors[begin].rate, tensors[begin].offset, count);
      begin = end;
    }
  }

  void update_stretch(Rate rate, std::size_t offset, std::size_t count) {
    const std::size_t at = offset * lane_count();
    if (rate == Rate::kFrozen) {
      return;
    }
    const bool functional = rate == Rate::kFunctional;
    const FloatRow& rates = functional ? rate_functional_ : rate == Rate::kInput ? rate_input_ : rate_module_;
    kernels_.update({.kind = settings_.optimizer,
                     .parameters = parameters_.data() + at,
                     .gradients = gradients_.data() + at,
                     .first = first_.data() + at,
                     .second = second_.data() + at,
                     .mask = mask_.empty() ? nullptr : mask_.data() + at,
                     .rate = rates.data(),
                     .weight_decay = (functional ? weight_decay_ : weight_decay_structural_).data(),
                     .scales = scales_,
                     .count = static_cast<int>(count)});
  }

  void evaluate() {
    network_.begin_evaluation(parameters_.data());
    is_evaluated_ = true;
    std::fill(sums_.begin(), sums_.end(), 0.0);
    const std::size_t per_task = sums_.size() / data_.tasks;
    for (int task = 0; task < data_.tasks; ++task) {
      const int end = (task + 1) * samples_per_task();
      for (int first = task * samples_per_task(); first < end && !is_stopped(); first += chunk_rows_) {
        const int rows = std::min(chunk_rows_, end - first);
        Units<const float> inputs = evaluation_inputs_.view();
        if (keeps_evaluation_inputs_) {
          inputs.data += static_cast<std::size_t>(first) * lane_count();
        } else {
          expand_evaluation_inputs(first, rows);
        }
        std::fill(chunk_sums_.begin(), chunk_sums_.end(), 0.0F);
        const EvaluationRows<float> evaluation_rows{.inputs = inputs,
                                                    .words = data_.input_words.data() + first,
                                                    .fields = data_.inputs,
                                                    .rows = rows,
                                                    .task = task};
        kernels_.score({.z = network_.evaluate(parameters_.data(), evaluation_rows),
                        .targets = data_.target_words.data() + first,
                        .part = part_.data() + static_cast<std::size_t>(first) * lane_count(),
                        .sums = chunk_sums_.data(),
                        .kind = settings_.loss,
                        .rows = rows,
                        .outputs = data_.outputs});
        for (std::size_t element = 0; element < per_task; ++element) {
          sums_[task * per_task + element] += chunk_sums_[element];
        }
      }
    }
  }

  // Scores of one lane over tasks [first, last).
  Scores scores_of(int lane, int first_task, int last_task) const {
    Scores scores;
    for (std::size_t part = 0; part < kParts; ++part) {
      double total[kQuantities] = {};
      int rows = 0;
      for (int task = first_task; task < last_task; ++task) {
        for (std::size_t quantity = 0; quantity < kQuantities; ++quantity) {
          total[quantity] += sums_[((task * kParts + part) * kQuantities + quantity) * lane_count() + lane];
        }
        rows += part_rows_[lane][task][part];
      }
      scores.parts[part] = part_score(total[0], total[1], total[2], rows);
    }
    return scores;
  }

  // Over all tasks; quantity 0 is the loss, 1 right bits.
  double validation_sum(int lane, std::size_t quantity) const {
    double sum = 0;
    for (int task = 0; task < data_.tasks; ++task) {
      const std::size_t part = static_cast<std::size_t>(task) * kParts + static_cast<std::size_t>(Part::kValidation);
      sum += sums_[(part * kQuantities + quantity) * lane_count() + lane];
    }
    return sum;
  }

  // Whether this epoch takes the place of the best one so far.
  bool is_better(int lane, double loss, double bits) const {
    const bool as_good = bits >= best_validation_[lane];
    switch (settings_.keep) {
      case Keep::kFirstBest:
        break;
      case Keep::kLatestBest:
        return as_good;
      case Keep::kLowestLoss:
        return bits > best_validation_[lane] || (as_good && loss <= best_loss_[lane]);
    }
    return bits > best_validation_[lane];
  }

  // An epoch's sums over all tasks as they are, in float; they become scores when all is done.
  void keep_curve_point() {
    const std::size_t per_task = sums_.size() / data_.tasks;
    curve_sums_.resize(curve_sums_.size() + per_task);
    float* point = curve_sums_.data() + curve_sums_.size() - per_task;
    for (std::size_t element = 0; element < per_task; ++element) {
      double sum = sums_[element];
      for (int task = 1; task < data_.tasks; ++task) {
        sum += sums_[task * per_task + element];
      }
      point[element] = static_cast<float>(sum);
    }
  }

  void finish_curve(int lane, LaneResult& result) const {
    const std::size_t per_point = static_cast<std::size_t>(kParts) * kQuantities * lane_count();
    for (std::size_t first = 0; first < curve_sums_.size(); first += per_point) {
      Scores scores;
      for (std::size_t part = 0; part < kParts; ++part) {
        int rows = 0;
        for (const std::array<int, kParts>& task_rows : part_rows_[lane]) {
          rows += task_rows[part];
        }
        const float* sums = curve_sums_.data() + first + part * kQuantities * lane_count() + lane;
        scores.parts[part] = part_score(sums[0], sums[lane_count()], sums[2 * lane_count()], rows);
      }
      result.curve.push_back(scores);
      result.diverged = result.diverged || !std::isfinite(scores[Part::kTrain].loss);
    }
  }

  PartScore part_score(double loss, double bits, double rows_right, int rows) const {
    if (rows == 0) {
      return {};
    }
    const double mean = loss / (static_cast<double>(rows) * data_.outputs);
    return {static_cast<float>(canonical(mean)), static_cast<std::uint32_t>(bits),
            static_cast<std::uint32_t>(rows_right)};
  }

  // Which of the many not-a-numbers comes out of a diverged network depends on the target.
  template <typename Number>
  static Number canonical(Number number) {
    return std::isnan(number) ? std::numeric_limits<Number>::quiet_NaN() : number;
  }

  void take_snapshot(int epoch, int lane, Snapshot& snapshot) const {
    snapshot.epoch = epoch;
    snapshot.scores = scores_of(lane, 0, data_.tasks);
    snapshot.per_task.clear();
    for (int task = 0; data_.tasks > 1 && task < data_.tasks; ++task) {
      snapshot.per_task.push_back(scores_of(lane, task, task + 1));
    }
  }

  void record(int epoch, std::vector<LaneResult>& results) {
    if (epoch >= curve_epoch_ || epoch == settings_.epochs) {
      keep_curve_point();
      curve_epoch_ = next_curve_epoch(epoch);
    } else {
      for (int lane = 0; lane < used_lanes_; ++lane) {
        results[lane].diverged =
            results[lane].diverged || !std::isfinite(scores_of(lane, 0, data_.tasks)[Part::kTrain].loss);
      }
    }
    bool any_improved = false;
    for (int lane = 0; lane < used_lanes_; ++lane) {
      const double loss = validation_sum(lane, 0);
      const double bits = validation_sum(lane, 1);
      const bool improved = is_better(lane, loss, bits);
      improved_[lane] = improved ? 1.0F : 0.0F;
      if (improved) {
        any_improved = true;
        best_validation_[lane] = bits;
        best_loss_[lane] = loss;
        take_snapshot(epoch, lane, results[lane].best);
      }
    }
    if (any_improved) {
      kernels_.keep_lanes(improved_.data(), parameters_.data(), best_.data(),
                          static_cast<int>(network_.layout().count));
    }
  }

  std::vector<float> lane_of(const FloatRow& parameters, int lane) const {
    std::vector<float> values(network_.layout().count);
    for (std::size_t parameter = 0; parameter < values.size(); ++parameter) {
      values[parameter] = canonical(parameters[parameter * lane_count() + lane]);
    }
    return values;
  }

  const Kernels<float>& kernels_;
  Network<float>& network_;
  const Data& data_;
  const BlockSettings& settings_;
  Progress& progress_;
  int used_lanes_;
  int chunk_rows_;
  int train_rows_;
  int batch_rows_;
  std::vector<const LaneSettings*> lanes_;  // one for each lane of the vector

  FloatRow inverse_tau_, noise_, weight_decay_, weight_decay_structural_;
  FloatRow rate_functional_, rate_input_, rate_module_;
  bool has_noise_ = false;
  bool has_constant_rates_ = false;
  std::vector<std::uint32_t> noise_keys_, gumbel_keys_, order_keys_;

  FloatRow parameters_, best_, gradients_, first_, second_, mask_;
  int step_count_ = 0;
  AdamScales scales_;
  bool is_evaluated_ = false;  // since the last update

  std::vector<std::uint32_t> order_, order_words_;  // [row][lane]
  std::vector<Field> target_fields_;
  UnitBuffer<float> inputs_, clean_inputs_, targets_, doutputs_;
  bool is_expanded_ = false;
  FloatRow batch_gumbel_;
  UnitBuffer<float> sample_gumbel_;

  std::vector<std::uint32_t> all_samples_;
  FloatRow part_;                                                // [sample][lane]
  std::vector<std::vector<std::array<int, kParts>>> part_rows_;  // [lane][task][part]
  bool keeps_evaluation_inputs_ = false;
  UnitBuffer<float> evaluation_inputs_;
  std::vector<double> sums_;  // [task][part][quantity][lane]
  FloatRow chunk_sums_;
  std::vector<float> curve_sums_;        // [point][part][quantity][lane]
  int curve_epoch_ = 1;                  // the next one that the curve keeps
  std::vector<double> best_validation_;  // right bits
  std::vector<double> best_loss_;
  FloatRow improved_;
};

}  // namespace

std::vector<LaneResult> train_block(const Kernels<float>& kernels, Network<float>& network, const Data& data,
                                    const BlockSettings& settings, const std::vector<LaneSettings>& lanes,
                                    Progress& progress) {
  const FlushDenormals flush;
  return BlockTrainer(kernels, network, data, settings, lanes, progress).run();
}

}  // namespace modlab::engine
