#include <vector>

#include "core/array_room.h"
#include "models/rules/gating.h"
#include "models/rules/rule_network.h"
#include "models/rules/rule_stack.h"

namespace modlab::models {
namespace {

using engine::solo::padded;

// An encoder, LSTM cells that share one state, and a decoder. Every cell makes a new state of the input and the old
// one, and the gates weigh them. The monolithic network has a single cell, with biases, and no gates.
template <typename T>
class RuleRnn : public RuleNetwork<T> {
 public:
  RuleRnn(const RuleShape& shape, const engine::solo::Kernels<T>& kernels, bool all_modules)
      : shape_(shape),
        kernels_(kernels),
        state_(shape.has_modules() ? shared_state(shape) : shape.second_width()),
        inputs_(shape.data_columns + shape.rules),
        layout_(rule_layout(shape)),
        parameters_(layout_, {}),
        encoder_(stack_of(layout_, "encoder", {inputs_, shape.width, shape.width}, padded(inputs_), kernels)),
        decoder_(stack_of(layout_, "decoder", {state_, state_, shape.outputs}, padded(state_), kernels)),
        one_each_(shape.model == RuleModel::kGtModular && !all_modules),
        at_once_(shape.model == RuleModel::kGtModular),
        weights_(shape.has_modules() ? static_cast<std::size_t>(shape.modules) : 1),
        cells_(one_each_ ? 1 : weights_.size()),
        gating_(shape, kernels),
        route_(shape) {
    for (std::size_t module = 0; module < weights_.size(); ++module) {
      const std::string name = shape.has_modules() ? "module" + std::to_string(module) : "cell";
      weights_[module].input = tensor_of(layout_, name + ".input.weight");
      weights_[module].state = tensor_of(layout_, name + ".state.weight");
    }
    input_bias_ = tensor_of(layout_, "cell.input.bias");
    state_bias_ = tensor_of(layout_, "cell.state.bias");
    scores_ = tensor_of(layout_, "scores.weight");
    gate_first_ = tensor_of(layout_, "gate.layer0.weight");
    gate_second_ = tensor_of(layout_, "gate.layer1.weight");
  }

  const engine::Layout& layout() const override { return layout_; }
  engine::solo::Parameters<T>& parameters() override { return parameters_; }
  const T* gates() const override { return shape_.has_modules() ? gating_.gates() : nullptr; }

  const T* forward(const RuleBatch& batch) override {
    make_room(batch);
    read_tokens(batch, shape_.data_columns, shape_.rules, x_);
    const T* codes = encoder_.forward(parameters_, x_.data(), rows_, of_encoder_);
    route_.find(batch);
    for (std::size_t number = 0; number < cells_.size() && at_once_; ++number) {
      multiply(number, &Weights::input, codes, shape_.width, 0, rows_, cells_[number].from_input);
    }
    score_rules();
    turn_scores();
    gating_.begin_forward(batch);
    for (int step = 0; step < batch.length; ++step) {
      forward_step(batch, step);
    }
    return decoder_.forward(parameters_, hidden_.data() + at(samples_, state_), rows_, of_decoder_);
  }

  void backward(const RuleBatch& batch, const T* dsaid) override {
    encoder_.begin_backward(parameters_);
    decoder_.begin_backward(parameters_);
    std::copy_n(dsaid, at(rows_, shape_.outputs), of_decoder_.dy.back().begin());
    decoder_.backward(parameters_, hidden_.data() + at(samples_, state_), false, true, rows_, of_decoder_);
    std::ranges::fill(dhidden_, T{0});
    std::ranges::fill(dmemory_, T{0});
    std::ranges::fill(drule_scores_, T{0});
    gating_.begin_backward();
    std::ranges::fill(dscores_turned_, T{0});
    for (Weights& weights : weights_) {
      turn_weights(kernels_, parameters_.values(weights.input), shape_.width, 4 * state_, weights.input_turned);
      turn_weights(kernels_, parameters_.values(weights.state), state_, 4 * state_, weights.state_turned);
    }
    for (int step = batch.length; step-- > 0;) {
      backward_step(batch, step);
    }
    backward_rule_scores();
    add_scores();
    for (std::size_t number = 0; number < cells_.size() && at_once_; ++number) {
      multiply_back(number, &Weights::input, of_encoder_.y.back().data(), shape_.width, cells_[number].dfrom_input, 0,
                    rows_, of_encoder_.dy.back().data(), number > 0);
    }
    encoder_.backward(parameters_, x_.data(), false, false, rows_, of_encoder_);
  }

 private:
  struct Weights {
    std::size_t input = 0;  // tensors
    std::size_t state = 0;
    AlignedVector<T> input_turned, state_turned;
  };
  // What a cell makes of every row. Where the rule chooses one cell for each row, there is one of these: every row has
  // what its own cell makes of it, and no other is computed.
  struct Cell {
    T* parts = nullptr;   // [row][4][h], squashed
    T* memory = nullptr;  // [row][h]: its own c, where cells are mixed
    T* told = nullptr;    // [row][h]: tanh(c)
    // [row][4 h]: what input and state say before it is squashed, where all steps are kept, and what that is asked.
    T* from_input = nullptr;
    T* from_state = nullptr;
    T* dfrom_input = nullptr;
  };

  static std::ptrdiff_t at(int row, int units) { return static_cast<std::ptrdiff_t>(row) * padded(units); }

  const T* bias_of(std::size_t Weights::*which) {
    return shape_.has_modules() ? nullptr : parameters_.values(which == &Weights::input ? input_bias_ : state_bias_);
  }

  // Calls work(module, rows) with the rows among [first, first + count) that each module answers, counted from `first`.
  template <typename Work>
  void for_each_module(int first, int count, const Work& work) {
    rows_of_.resize(weights_.size());
    for (std::vector<int>& rows : rows_of_) {
      rows.clear();
    }
    for (int row = 0; row < count; ++row) {
      rows_of_[static_cast<std::size_t>(route_[first + row])].push_back(row);
    }
    for (std::size_t module = 0; module < rows_of_.size(); ++module) {
      if (!rows_of_[module].empty()) {
        work(module, rows_of_[module]);
      }
    }
  }

  // The rows [first, first + count), which x and y begin with, through the weights of a cell, or each through those of
  // its own.
  void multiply(std::size_t cell, std::size_t Weights::*which, const T* x, int in, int first, int count, T* y) {
    const auto product = [&](std::size_t module, const T* from, int rows, T* to) {
      kernels_.layer_forward({.x = from,
                              .x_stride = padded(in),
                              .weights = parameters_.values(weights_[module].*which),
                              .bias = bias_of(which),
                              .y = to,
                              .rows = rows,
                              .in = in,
                              .out = 4 * state_,
                              .relu = false});
    };
    if (!one_each_) {
      product(cell, x, count, y);
      return;
    }
    for_each_module(first, count, [&](std::size_t module, const std::vector<int>& rows) {
      gather_rows(x, in, rows, some_x_);
      some_y_.resize(static_cast<std::size_t>(at(static_cast<int>(rows.size()), 4 * state_)));
      product(module, some_x_.data(), static_cast<int>(rows.size()), some_y_.data());
      scatter_rows(some_y_, 4 * state_, rows, y);
    });
  }

  // The way back: adds to the gradients of weights, and gives those of x, or adds them to dx.
  void multiply_back(std::size_t cell, std::size_t Weights::*which, const T* x, int in, const T* dy, int first,
                     int count, T* dx, bool add) {
    const bool is_input = which == &Weights::input;
    const auto back = [&](std::size_t module, const T* from, const T* d, int rows, T* to) {
      kernels_.layer_weight_gradient(
          {.x = from,
           .x_stride = padded(in),
           .dy = d,
           .weights = parameters_.gradients(weights_[module].*which),
           .bias = shape_.has_modules() ? nullptr : parameters_.gradients(is_input ? input_bias_ : state_bias_),
           .rows = rows,
           .in = in,
           .out = 4 * state_});
      kernels_.layer_input_gradient(
          {.dy = d,
           .transposed = (is_input ? weights_[module].input_turned : weights_[module].state_turned).data(),
           .x = nullptr,
           .dx = to,
           .rows = rows,
           .in = in,
           .out = 4 * state_,
           .add = add && !one_each_});
    };
    if (!one_each_) {
      back(cell, x, dy, count, dx);
      return;
    }
    for_each_module(first, count, [&](std::size_t module, const std::vector<int>& rows) {
      gather_rows(x, in, rows, some_x_);
      gather_rows(dy, 4 * state_, rows, some_y_);
      some_dx_.resize(some_x_.size());
      back(module, some_x_.data(), some_y_.data(), static_cast<int>(rows.size()), some_dx_.data());
      scatter_rows(some_dx_, in, rows, dx);
    });
  }

  void make_room(const RuleBatch& batch) {
    if (batch.rows() == rows_ && batch.samples == samples_) {
      return;
    }
    rows_ = batch.rows();
    samples_ = batch.samples;
    const auto by = [](int rows, int units) { return static_cast<std::size_t>(at(rows, units)); };
    x_.assign(by(rows_, inputs_), T{0});
    of_encoder_ = encoder_.make_use(rows_);
    of_decoder_ = decoder_.make_use(rows_);
    // A step before the first, which is zero and stays so.
    hidden_.assign(by(rows_ + samples_, state_), T{0});
    memory_.assign(by(rows_ + samples_, state_), T{0});
    dhidden_.assign(by(samples_, state_), T{0});
    dmemory_.assign(by(samples_, state_), T{0});
    dhidden_before_.assign(by(samples_, state_), T{0});
    dmemory_before_.assign(by(samples_, state_), T{0});
    asked_.assign(by(samples_, shape_.modules), T{0});
    for (Cell& cell : cells_) {
      room_.add(cell.parts, by(4 * rows_, state_));
      room_.add(cell.told, by(rows_, state_));
      if (mixes()) {
        room_.add(cell.memory, by(rows_, state_));
      }
      if (at_once_ || keeps_said()) {
        room_.add(cell.from_input, with_spare(rows_));
      }
      if (at_once_) {
        room_.add(cell.dfrom_input, with_spare(rows_));
      }
      if (keeps_said()) {
        room_.add(cell.from_state, with_spare(rows_));
      }
    }
    room_.make();
    for (AlignedVector<T>* values : {&step_input_, &step_state_, &dstep_input_, &dstep_state_}) {
      values->assign(with_spare(samples_), T{0});
    }
  }

  // Kernels read and write some numbers behind the last row of 4 h.
  std::size_t with_spare(int rows) const {
    return static_cast<std::size_t>(at(rows, 4 * state_)) + engine::solo::kUnitPad;
  }
  bool mixes() const { return shape_.has_modules() && !one_each_; }
  bool scores_cells() const { return shape_.model == RuleModel::kModular; }

  // What was said to a cell counts for its score, on the way back too. Small cells are told again then: their products
  // take less time than to keep all of it until then.
  bool keeps_said() const {
    constexpr int kSmall = 32;
    return scores_cells() && state_ > kSmall;
  }

  T* from_input(Cell& cell, int first) {
    return at_once_ || keeps_said() ? cell.from_input + at(first, 4 * state_) : step_input_.data();
  }
  T* from_state(Cell& cell, int first) {
    return keeps_said() ? cell.from_state + at(first, 4 * state_) : step_state_.data();
  }
  T* dfrom_input(Cell& cell, int first) {
    return at_once_ ? cell.dfrom_input + at(first, 4 * state_) : dstep_input_.data();
  }

  // The weights of scores are [8 h][module]; here as [module][2][padded 4 h].
  T* turned_score(AlignedVector<T>& turned, std::size_t module, int half) {
    return turned.data() + at(2 * static_cast<int>(module) + half, 4 * state_);
  }
  template <typename Visit>
  void for_each_score(const Visit& visit) {
    for (int module = 0; module < shape_.modules; ++module) {
      for (int place = 0; place < 8 * state_; ++place) {
        const int half = place / (4 * state_);
        visit(at(place, shape_.modules) + module, at(2 * module + half, 4 * state_) + place % (4 * state_));
      }
    }
  }
  void turn_scores() {
    if (!scores_cells()) {
      return;
    }
    scores_turned_.assign(static_cast<std::size_t>(at(2 * shape_.modules, 4 * state_)), T{0});
    dscores_turned_.resize(scores_turned_.size());
    const T* weights = parameters_.values(scores_);
    for_each_score([&](std::ptrdiff_t from, std::ptrdiff_t to) { scores_turned_[to] = weights[from]; });
  }
  void add_scores() {
    if (!scores_cells()) {
      return;
    }
    T* gradients = parameters_.gradients(scores_);
    for_each_score([&](std::ptrdiff_t to, std::ptrdiff_t from) { gradients[to] += dscores_turned_[from]; });
  }

  // Gates that see the rule alone have scores that are made once for each rule: two layers without biases.
  void score_rules() {
    if (shape_.model != RuleModel::kModularOp) {
      return;
    }
    const T* first = parameters_.values(gate_first_);
    const T* second = parameters_.values(gate_second_);
    rule_hidden_.assign(static_cast<std::size_t>(at(shape_.rules, state_)), T{0});
    rule_scores_.assign(static_cast<std::size_t>(at(shape_.rules, shape_.modules)), T{0});
    drule_scores_.assign(rule_scores_.size(), T{0});
    for (int rule = 0; rule < shape_.rules; ++rule) {
      T* h = rule_hidden_.data() + at(rule, state_);
      T* scores = rule_scores_.data() + at(rule, shape_.modules);
      for (int unit = 0; unit < state_; ++unit) {
        h[unit] = std::max(first[at(rule, state_) + unit], T{0});
        for (int module = 0; module < shape_.modules; ++module) {
          scores[module] += h[unit] * second[at(unit, shape_.modules) + module];
        }
      }
    }
  }

  void backward_rule_scores() {
    if (shape_.model != RuleModel::kModularOp) {
      return;
    }
    const T* second = parameters_.values(gate_second_);
    T* dfirst = parameters_.gradients(gate_first_);
    T* dsecond = parameters_.gradients(gate_second_);
    for (int rule = 0; rule < shape_.rules; ++rule) {
      const T* d = drule_scores_.data() + at(rule, shape_.modules);
      const T* h = rule_hidden_.data() + at(rule, state_);
      for (int unit = 0; unit < state_; ++unit) {
        T dh = 0;
        for (int module = 0; module < shape_.modules; ++module) {
          dsecond[at(unit, shape_.modules) + module] += h[unit] * d[module];
          dh += second[at(unit, shape_.modules) + module] * d[module];
        }
        dfirst[at(rule, state_) + unit] += h[unit] > 0 ? dh : T{0};
      }
    }
  }

  // The rows of a step are `samples_` neighbours; in hidden_ and memory_ the step before stands at the same place. All
  // cells answer some of them before the others are asked, so that what they say is at hand when it is mixed.
  void forward_step(const RuleBatch& batch, int step) {
    for_each_stretch(step * samples_, [&](int first, int count) {
      for (std::size_t number = 0; number < cells_.size(); ++number) {
        forward_cell(number, first, count);
      }
      choose_gates(batch, first, count);
      for (std::size_t number = 0; number < cells_.size() && mixes(); ++number) {
        mix(number, first, count);
      }
    });
  }

  void mix(std::size_t number, int first, int count) {
    const Cell& cell = cells_[number];
    kernels_.lstm_mix({.parts = cell.parts + at(4 * first, state_),
                       .memory = cell.memory + at(first, state_),
                       .told = cell.told + at(first, state_),
                       .gates = gating_.gates(first) + number,
                       .gate_stride = padded(shape_.modules),
                       .mixed_hidden = hidden_.data() + at(first + samples_, state_),
                       .mixed_memory = memory_.data() + at(first + samples_, state_),
                       .rows = count,
                       .units = state_,
                       .add = number > 0});
  }

  // Calls work(first, count) for rows of a step that are few enough for what is said of them to stay in the second
  // cache level until it is used. Where rows go to cells of their own, they are few anyway.
  template <typename Work>
  void for_each_stretch(int first, const Work& work) {
    constexpr int kNumbers = 32768;
    constexpr int kFewest = 48;  // of fewer the products' own preparations would be seen
    const int numbers_of_row = padded(4 * state_) * static_cast<int>(cells_.size());
    const int stretch = one_each_ ? samples_ : std::max(kFewest, kNumbers / numbers_of_row);
    const int last = first + samples_;
    for (int row = first; row < last; row += stretch) {
      work(row, std::min(stretch, last - row));
    }
  }

  // What input and state say to a cell.
  void say(std::size_t number, int first, int count) {
    Cell& cell = cells_[number];
    if (!at_once_) {
      multiply(number, &Weights::input, of_encoder_.y.back().data() + at(first, shape_.width), shape_.width, first,
               count, from_input(cell, first));
    }
    multiply(number, &Weights::state, hidden_.data() + at(first, state_), state_, first, count,
             from_state(cell, first));
  }

  void forward_cell(std::size_t number, int first, int count) {
    Cell& cell = cells_[number];
    say(number, first, count);
    T* next_memory = memory_.data() + at(first + samples_, state_);
    T* next_hidden = hidden_.data() + at(first + samples_, state_);
    kernels_.lstm_forward({.from_input = from_input(cell, first),
                           .from_state = from_state(cell, first),
                           .before = memory_.data() + at(first, state_),
                           .parts = cell.parts + at(4 * first, state_),
                           .memory = mixes() ? cell.memory + at(first, state_) : next_memory,
                           .told = cell.told + at(first, state_),
                           .hidden = mixes() ? nullptr : next_hidden,
                           .rows = count,
                           .units = state_});
    if (scores_cells()) {
      score(number, first, count);
    }
  }

  void choose_gates(const RuleBatch& batch, int first, int count) {
    if (!shape_.has_modules()) {
      return;
    }
    for (int row = first; row < first + count && shape_.model == RuleModel::kModularOp; ++row) {
      const int rule = batch.said[static_cast<std::size_t>(row)];
      std::copy_n(rule_scores_.data() + at(rule, shape_.modules), shape_.modules, gating_.scores(row));
    }
    gating_.choose(first, count);
  }

  // How well a cell fits: a weighed sum of what input and state say to it, as far as it is above zero.
  void score(std::size_t number, int first, int count) {
    for (const int half : {0, 1}) {
      kernels_.relu_score({.x = half == 0 ? from_input(cells_[number], first) : from_state(cells_[number], first),
                           .weights = turned_score(scores_turned_, number, half),
                           .scores = gating_.scores(first) + number,
                           .score_stride = padded(shape_.modules),
                           .rows = count,
                           .units = 4 * state_,
                           .add = half > 0});
    }
  }

  void backward_step(const RuleBatch& batch, int step) {
    const int first = step * samples_;
    // What the decoder asks of this step's state comes to what the next step asks.
    for (int sample = 0; sample < samples_; ++sample) {
      T* dh = dhidden_.data() + at(sample, state_);
      const T* asked = of_decoder_.dx.data() + at(first + sample, state_);
      for (int unit = 0; unit < state_; ++unit) {
        dh[unit] += asked[unit];
      }
    }
    for_each_stretch(first, [&](int begin, int count) {
      ask_gates(batch, begin, count, begin - first);
      for (std::size_t number = 0; number < cells_.size(); ++number) {
        backward_cell(number, begin, count, begin - first);
      }
    });
    std::swap(dmemory_, dmemory_before_);
    std::swap(dhidden_, dhidden_before_);
  }

  // What the new states ask of the gates, and what that asks of the scores. `sample`: that of the first row.
  void ask_gates(const RuleBatch& batch, int first, int count, int sample) {
    if (shape_.model != RuleModel::kModular && shape_.model != RuleModel::kModularOp) {
      return;
    }
    for (std::size_t number = 0; number < cells_.size(); ++number) {
      const Cell& cell = cells_[number];
      kernels_.lstm_ask({.dhidden = dhidden_.data() + at(sample, state_),
                         .dmemory = dmemory_.data() + at(sample, state_),
                         .parts = cell.parts + at(4 * first, state_),
                         .memory = cell.memory + at(first, state_),
                         .told = cell.told + at(first, state_),
                         .asked = asked_.data() + at(sample, shape_.modules) + number,
                         .asked_stride = padded(shape_.modules),
                         .rows = count,
                         .units = state_});
    }
    for (int row = first; row < first + count; ++row) {
      T* asked = asked_.data() + at(sample + row - first, shape_.modules);
      gating_.ask_scores(row, asked);
      if (shape_.model == RuleModel::kModularOp) {
        T* of_rule = drule_scores_.data() + at(batch.said[static_cast<std::size_t>(row)], shape_.modules);
        for (int module = 0; module < shape_.modules; ++module) {
          of_rule[module] += asked[module];
        }
      }
    }
  }

  // `sample`: that of the first row.
  void backward_cell(std::size_t number, int first, int count, int sample) {
    Cell& cell = cells_[number];
    T* dinput = dfrom_input(cell, first);
    kernels_.lstm_backward({.dhidden = dhidden_.data() + at(sample, state_),
                            .dmemory = dmemory_.data() + at(sample, state_),
                            .gates = mixes() ? gating_.gates(first) + number : nullptr,
                            .gate_stride = padded(shape_.modules),
                            .parts = cell.parts + at(4 * first, state_),
                            .told = cell.told + at(first, state_),
                            .before = memory_.data() + at(first, state_),
                            .d = dinput,
                            .dbefore = dmemory_before_.data() + at(sample, state_),
                            .rows = count,
                            .units = state_,
                            .add = number > 0});
    T* dstate = dinput;
    if (scores_cells()) {
      if (!keeps_said()) {
        say(number, first, count);
      }
      dstate = dstep_state_.data();
      std::copy_n(dinput, at(count, 4 * state_), dstate);
      const T* asked = asked_.data() + at(sample, shape_.modules) + number;
      backward_score(number, 0, from_input(cell, first), asked, count, dinput);
      backward_score(number, 1, from_state(cell, first), asked, count, dstate);
    }
    multiply_back(number, &Weights::state, hidden_.data() + at(first, state_), state_, dstate, first, count,
                  dhidden_before_.data() + at(sample, state_), number > 0);
    if (!at_once_) {
      multiply_back(number, &Weights::input, of_encoder_.y.back().data() + at(first, shape_.width), shape_.width,
                    dinput, first, count, of_encoder_.dy.back().data() + at(first, shape_.width), number > 0);
    }
  }

  void backward_score(std::size_t number, int half, const T* said, const T* asked, int count, T* d) {
    kernels_.relu_score_gradient({.x = said,
                                  .weights = turned_score(scores_turned_, number, half),
                                  .dscores = asked,
                                  .score_stride = padded(shape_.modules),
                                  .dweights = turned_score(dscores_turned_, number, half),
                                  .dx = d,
                                  .rows = count,
                                  .units = 4 * state_});
  }

  using Use = typename LayerStack<T>::Use;

  RuleShape shape_;
  const engine::solo::Kernels<T>& kernels_;
  int state_;
  int inputs_;
  engine::Layout layout_;
  engine::solo::Parameters<T> parameters_;
  LayerStack<T> encoder_, decoder_;
  bool one_each_;  // the rule chooses one cell for each row, and no other is computed for it
  // The input's products are taken of all steps at once: the rows of one rule are few in a step.
  bool at_once_;
  std::vector<Weights> weights_;
  std::vector<Cell> cells_;
  ArrayRoom<T> room_;  // of the cells
  std::size_t input_bias_ = 0, state_bias_ = 0, scores_ = 0, gate_first_ = 0, gate_second_ = 0;

  int rows_ = 0;
  int samples_ = 0;
  AlignedVector<T> x_;
  Use of_encoder_, of_decoder_;
  AlignedVector<T> hidden_, memory_;    // [step + 1][sample][h]
  AlignedVector<T> dhidden_, dmemory_;  // [sample][h], of one step
  AlignedVector<T> dhidden_before_, dmemory_before_;
  AlignedVector<T> step_input_, step_state_, dstep_input_, dstep_state_;  // [sample][4 h]
  AlignedVector<T> scores_turned_, dscores_turned_;
  Gating<T> gating_;
  RuleRoute route_;
  AlignedVector<T> asked_;  // [sample][module], of one step
  AlignedVector<T> rule_hidden_, rule_scores_, drule_scores_;
  std::vector<std::vector<int>> rows_of_;  // [module], of a stretch
  AlignedVector<T> some_x_, some_y_, some_dx_;
};

}  // namespace

template <typename T>
std::unique_ptr<RuleNetwork<T>> make_rule_rnn(const RuleShape& shape, const engine::solo::Kernels<T>& kernels,
                                              bool all_modules) {
  return std::make_unique<RuleRnn<T>>(shape, kernels, all_modules);
}

template std::unique_ptr<RuleNetwork<float>> make_rule_rnn(const RuleShape&, const engine::solo::Kernels<float>&, bool);
template std::unique_ptr<RuleNetwork<double>> make_rule_rnn(const RuleShape&, const engine::solo::Kernels<double>&,
                                                            bool);

}  // namespace modlab::models
