#include <vector>

#include "models/rules/gates.h"
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
        weights_(shape.has_modules() ? static_cast<std::size_t>(shape.modules) : 1),
        cells_(one_each_ ? 1 : weights_.size()) {
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
  const T* gates() const override { return shape_.has_modules() ? gates_.data() : nullptr; }

  const T* forward(const RuleBatch& batch) override {
    make_room(batch);
    read_tokens(batch, shape_.data_columns, shape_.rules, x_);
    const T* codes = encoder_.forward(parameters_, x_.data(), rows_, of_encoder_);
    for (std::size_t number = 0; number < cells_.size(); ++number) {
      multiply(batch, number, &Weights::input, codes, shape_.width, 0, rows_, cells_[number].from_input.data());
    }
    say_rule_gates();
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
    std::ranges::fill(drule_gates_, T{0});
    for (Weights& weights : weights_) {
      turn_weights(parameters_.values(weights.input), shape_.width, 4 * state_, weights.input_turned);
      turn_weights(parameters_.values(weights.state), state_, 4 * state_, weights.state_turned);
    }
    for (int step = batch.length; step-- > 0;) {
      backward_step(batch, step);
    }
    backward_rule_gates();
    AlignedVector<T>& dcodes = of_encoder_.dy.back();
    std::ranges::fill(dcodes, T{0});
    for (std::size_t number = 0; number < cells_.size(); ++number) {
      multiply_back(batch, number, &Weights::input, of_encoder_.y.back().data(), shape_.width,
                    cells_[number].dfrom_input.data(), 0, rows_, dcode_.data());
      for (std::size_t place = 0; place < dcodes.size(); ++place) {
        dcodes[place] += dcode_[place];
      }
    }
    encoder_.backward(parameters_, x_.data(), false, false, rows_, of_encoder_);
  }

 private:
  // Parts of a cell's 4 h units, in their order.
  enum Slice { kIn = 0, kForget = 1, kOut = 2, kCandidate = 3 };

  struct Weights {
    std::size_t input = 0;  // tensors
    std::size_t state = 0;
    AlignedVector<T> input_turned, state_turned;
  };
  // What a cell makes of every row. Where the rule chooses one cell for each row, there is one of these: every row has
  // what its own cell makes of it, and no other is computed.
  struct Cell {
    AlignedVector<T> from_input, from_state;    // [row][4 h]: what both say before it is squashed
    AlignedVector<T> squashed;                  // [row][4 h]
    AlignedVector<T> memory, told;              // [row][h]: its own c and tanh(c)
    AlignedVector<T> dfrom_input, dfrom_state;  // [row][4 h], and of one step
  };

  static std::ptrdiff_t at(int row, int units) { return static_cast<std::ptrdiff_t>(row) * padded(units); }

  const T* bias_of(std::size_t Weights::*which) {
    return shape_.has_modules() ? nullptr : parameters_.values(which == &Weights::input ? input_bias_ : state_bias_);
  }

  // Calls work(module, rows) with the rows among [first, first + count) that each module answers, counted from `first`.
  template <typename Work>
  void for_each_module(const RuleBatch& batch, int first, int count, const Work& work) {
    rows_of_.resize(weights_.size());
    for (std::vector<int>& rows : rows_of_) {
      rows.clear();
    }
    for (int row = 0; row < count; ++row) {
      const int module = batch.rules[static_cast<std::size_t>(first + row)] % shape_.modules;
      rows_of_[static_cast<std::size_t>(module)].push_back(row);
    }
    for (std::size_t module = 0; module < rows_of_.size(); ++module) {
      if (!rows_of_[module].empty()) {
        work(module, rows_of_[module]);
      }
    }
  }

  // The rows [first, first + count), which x and y begin with, through the weights of a cell, or each through those of
  // its own.
  void multiply(const RuleBatch& batch, std::size_t cell, std::size_t Weights::*which, const T* x, int in, int first,
                int count, T* y) {
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
    for_each_module(batch, first, count, [&](std::size_t module, const std::vector<int>& rows) {
      gather_rows(x, in, rows, some_x_);
      some_y_.resize(static_cast<std::size_t>(at(static_cast<int>(rows.size()), 4 * state_)));
      product(module, some_x_.data(), static_cast<int>(rows.size()), some_y_.data());
      scatter_rows(some_y_, 4 * state_, rows, y);
    });
  }

  // The way back: adds to the gradients of weights, and gives those of x.
  void multiply_back(const RuleBatch& batch, std::size_t cell, std::size_t Weights::*which, const T* x, int in,
                     const T* dy, int first, int count, T* dx) {
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
           .out = 4 * state_});
    };
    if (!one_each_) {
      back(cell, x, dy, count, dx);
      return;
    }
    for_each_module(batch, first, count, [&](std::size_t module, const std::vector<int>& rows) {
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
    dbefore_.assign(by(samples_, state_), T{0});
    dcode_.assign(by(rows_, shape_.width), T{0});
    gates_.assign(by(rows_, shape_.modules), T{0});
    dgates_.assign(by(samples_, shape_.modules), T{0});
    for (Cell& cell : cells_) {
      for (AlignedVector<T>* values : {&cell.from_input, &cell.from_state, &cell.squashed, &cell.dfrom_input}) {
        values->assign(by(rows_, 4 * state_), T{0});
      }
      cell.dfrom_state.assign(by(samples_, 4 * state_), T{0});
      cell.memory.assign(by(rows_, state_), T{0});
      cell.told.assign(by(rows_, state_), T{0});
    }
  }

  // Gates that see the rule alone are made once for each rule: two layers without biases.
  void say_rule_gates() {
    if (shape_.model != RuleModel::kModularOp) {
      return;
    }
    const T* first = parameters_.values(gate_first_);
    const T* second = parameters_.values(gate_second_);
    rule_hidden_.assign(static_cast<std::size_t>(at(shape_.rules, state_)), T{0});
    rule_gates_.assign(static_cast<std::size_t>(at(shape_.rules, shape_.modules)), T{0});
    drule_gates_.assign(rule_gates_.size(), T{0});
    for (int rule = 0; rule < shape_.rules; ++rule) {
      T* h = rule_hidden_.data() + at(rule, state_);
      T* gate = rule_gates_.data() + at(rule, shape_.modules);
      for (int unit = 0; unit < state_; ++unit) {
        h[unit] = std::max(first[at(rule, state_) + unit], T{0});
        for (int module = 0; module < shape_.modules; ++module) {
          gate[module] += h[unit] * second[at(unit, shape_.modules) + module];
        }
      }
    }
    softmax_rows(kernels_, rule_gates_.data(), shape_.rules, shape_.modules);
  }

  void backward_rule_gates() {
    if (shape_.model != RuleModel::kModularOp) {
      return;
    }
    const T* second = parameters_.values(gate_second_);
    T* dfirst = parameters_.gradients(gate_first_);
    T* dsecond = parameters_.gradients(gate_second_);
    for (int rule = 0; rule < shape_.rules; ++rule) {
      T* d = drule_gates_.data() + at(rule, shape_.modules);
      softmax_gradient(rule_gates_.data() + at(rule, shape_.modules), d, shape_.modules, d);
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

  // The rows of a step are `samples_` neighbours; in hidden_ and memory_ the step before stands at the same place.
  void forward_step(const RuleBatch& batch, int step) {
    const int first = step * samples_;
    for (std::size_t number = 0; number < cells_.size(); ++number) {
      multiply(batch, number, &Weights::state, hidden_.data() + at(first, state_), state_, first, samples_,
               cells_[number].from_state.data() + at(first, 4 * state_));
      squash(cells_[number], first);
    }
    choose_gates(batch, first);
    for (int row = first; row < first + samples_; ++row) {
      T* h = hidden_.data() + at(row + samples_, state_);
      T* c = memory_.data() + at(row + samples_, state_);
      std::fill_n(h, state_, T{0});
      std::fill_n(c, state_, T{0});
      for (std::size_t number = 0; number < cells_.size(); ++number) {
        const Cell& cell = cells_[number];
        const T gate = gate_of(row, number);
        const T* parts = cell.squashed.data() + at(row, 4 * state_);
        for (int unit = 0; unit < state_; ++unit) {
          c[unit] += gate * cell.memory[static_cast<std::size_t>(at(row, state_) + unit)];
          h[unit] += gate * (parts[kOut * state_ + unit] * cell.told[static_cast<std::size_t>(at(row, state_) + unit)]);
        }
      }
    }
  }

  T gate_of(int row, std::size_t cell) const {
    return shape_.has_modules() && !one_each_ ? gates_[static_cast<std::size_t>(at(row, shape_.modules)) + cell] : T{1};
  }

  // tanh(x) = 2 sigmoid(2 x) - 1: one function of the kernels serves both.
  void squash(Cell& cell, int first) {
    const int units = 4 * state_;
    for (int row = first; row < first + samples_; ++row) {
      const T* one = cell.from_input.data() + at(row, units);
      const T* other = cell.from_state.data() + at(row, units);
      T* sum = cell.squashed.data() + at(row, units);
      for (int unit = 0; unit < units; ++unit) {
        sum[unit] = (unit < kCandidate * state_ ? T{1} : T{2}) * (one[unit] + other[unit]);
      }
    }
    kernels_.sigmoid(cell.squashed.data() + at(first, units), cell.squashed.data() + at(first, units),
                     static_cast<int>(at(samples_, units)));
    for (int row = first; row < first + samples_; ++row) {
      T* parts = cell.squashed.data() + at(row, units);
      const T* before = memory_.data() + at(row, state_);
      T* c = cell.memory.data() + at(row, state_);
      T* told = cell.told.data() + at(row, state_);
      for (int unit = 0; unit < state_; ++unit) {
        parts[kCandidate * state_ + unit] = 2 * parts[kCandidate * state_ + unit] - 1;
        c[unit] = parts[kForget * state_ + unit] * before[unit] +
                  parts[kIn * state_ + unit] * parts[kCandidate * state_ + unit];
        told[unit] = 2 * c[unit];
      }
    }
    T* told = cell.told.data() + at(first, state_);
    kernels_.sigmoid(told, told, static_cast<int>(at(samples_, state_)));
    for (std::ptrdiff_t place = 0; place < at(samples_, state_); ++place) {
      told[place] = 2 * told[place] - 1;
    }
  }

  void choose_gates(const RuleBatch& batch, int first) {
    if (!shape_.has_modules()) {
      return;
    }
    for (int row = first; row < first + samples_; ++row) {
      T* gate = gates_.data() + at(row, shape_.modules);
      const int rule = batch.rules[static_cast<std::size_t>(row)];
      if (shape_.model == RuleModel::kModularOp) {
        std::copy_n(rule_gates_.data() + at(rule, shape_.modules), shape_.modules, gate);
      } else if (shape_.model == RuleModel::kGtModular) {
        std::fill_n(gate, shape_.modules, T{0});
        gate[rule % shape_.modules] = 1;
      } else {
        for (int module = 0; module < shape_.modules; ++module) {
          gate[module] = score(row, module);
        }
      }
    }
    if (shape_.model == RuleModel::kModular) {
      softmax_rows(kernels_, gates_.data() + at(first, shape_.modules), samples_, shape_.modules);
    }
  }

  // How well a cell fits: a weighed sum of what input and state say to it, as far as it is above zero. Its weights are
  // [8 h][module].
  T score(int row, int module) {
    const Cell& cell = cells_[static_cast<std::size_t>(module)];
    const T* weights = parameters_.values(scores_);
    const int units = 4 * state_;
    T sum = 0;
    for (int half = 0; half < 2; ++half) {
      const T* said = (half == 0 ? cell.from_input : cell.from_state).data() + at(row, units);
      for (int unit = 0; unit < units; ++unit) {
        sum += weights[at(half * units + unit, shape_.modules) + module] * std::max(said[unit], T{0});
      }
    }
    return sum;
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
    ask_gates(batch, first);
    std::ranges::fill(dbefore_, T{0});
    for (std::size_t number = 0; number < cells_.size(); ++number) {
      Cell& cell = cells_[number];
      for (int sample = 0; sample < samples_; ++sample) {
        backward_cell(cell, number, first + sample, sample);
      }
    }
    std::swap(dmemory_, dbefore_);
    std::ranges::fill(dhidden_, T{0});
    for (std::size_t number = 0; number < cells_.size(); ++number) {
      multiply_back(batch, number, &Weights::state, hidden_.data() + at(first, state_), state_,
                    cells_[number].dfrom_state.data(), first, samples_, dbefore_.data());
      for (std::size_t place = 0; place < dhidden_.size(); ++place) {
        dhidden_[place] += dbefore_[place];
      }
    }
  }

  // What the new states ask of the gates, and for learned scores what that asks of the scores.
  void ask_gates(const RuleBatch& batch, int first) {
    if (shape_.model != RuleModel::kModular && shape_.model != RuleModel::kModularOp) {
      return;
    }
    for (int sample = 0; sample < samples_; ++sample) {
      const int row = first + sample;
      const T* dh = dhidden_.data() + at(sample, state_);
      const T* dc = dmemory_.data() + at(sample, state_);
      T* asked = dgates_.data() + at(sample, shape_.modules);
      for (int module = 0; module < shape_.modules; ++module) {
        const Cell& cell = cells_[static_cast<std::size_t>(module)];
        const T* parts = cell.squashed.data() + at(row, 4 * state_);
        const T* c = cell.memory.data() + at(row, state_);
        const T* told = cell.told.data() + at(row, state_);
        T sum = 0;
        for (int unit = 0; unit < state_; ++unit) {
          sum += dh[unit] * (parts[kOut * state_ + unit] * told[unit]) + dc[unit] * c[unit];
        }
        asked[module] = sum;
      }
      if (shape_.model == RuleModel::kModular) {
        softmax_gradient(gates_.data() + at(row, shape_.modules), asked, shape_.modules, asked);
      } else {
        T* of_rule = drule_gates_.data() + at(batch.rules[static_cast<std::size_t>(row)], shape_.modules);
        for (int module = 0; module < shape_.modules; ++module) {
          of_rule[module] += asked[module];
        }
      }
    }
  }

  void backward_cell(Cell& cell, std::size_t number, int row, int sample) {
    const int units = 4 * state_;
    const T gate = gate_of(row, number);
    const T* dh = dhidden_.data() + at(sample, state_);
    const T* dc = dmemory_.data() + at(sample, state_);
    const T* parts = cell.squashed.data() + at(row, units);
    const T* told = cell.told.data() + at(row, state_);
    const T* before = memory_.data() + at(row, state_);
    T* dbefore = dbefore_.data() + at(sample, state_);
    T* dinput = cell.dfrom_input.data() + at(row, units);
    T* dstate = cell.dfrom_state.data() + at(sample, units);
    for (int unit = 0; unit < state_; ++unit) {
      const T in = parts[kIn * state_ + unit];
      const T forget = parts[kForget * state_ + unit];
      const T out = parts[kOut * state_ + unit];
      const T candidate = parts[kCandidate * state_ + unit];
      const T own = gate * dh[unit];
      const T down = gate * dc[unit] + own * out * (1 - told[unit] * told[unit]);
      dinput[kIn * state_ + unit] = down * candidate * in * (1 - in);
      dinput[kForget * state_ + unit] = down * before[unit] * forget * (1 - forget);
      dinput[kOut * state_ + unit] = own * told[unit] * out * (1 - out);
      dinput[kCandidate * state_ + unit] = down * in * (1 - candidate * candidate);
      dbefore[unit] += down * forget;
    }
    std::copy_n(dinput, units, dstate);
    if (shape_.model != RuleModel::kModular) {
      return;
    }
    const auto module = static_cast<std::ptrdiff_t>(number);
    const T dscore = dgates_[static_cast<std::size_t>(at(sample, shape_.modules) + module)];
    const T* weights = parameters_.values(scores_);
    T* dweights = parameters_.gradients(scores_);
    for (int half = 0; half < 2; ++half) {
      const T* said = (half == 0 ? cell.from_input : cell.from_state).data() + at(row, units);
      T* d = half == 0 ? dinput : dstate;
      for (int unit = 0; unit < units; ++unit) {
        const std::ptrdiff_t place = at(half * units + unit, shape_.modules) + module;
        dweights[place] += dscore * std::max(said[unit], T{0});
        d[unit] += said[unit] > 0 ? dscore * weights[place] : T{0};
      }
    }
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
  std::vector<Weights> weights_;
  std::vector<Cell> cells_;
  std::size_t input_bias_ = 0, state_bias_ = 0, scores_ = 0, gate_first_ = 0, gate_second_ = 0;

  int rows_ = 0;
  int samples_ = 0;
  AlignedVector<T> x_;
  Use of_encoder_, of_decoder_;
  AlignedVector<T> hidden_, memory_;              // [step + 1][sample][h]
  AlignedVector<T> dhidden_, dmemory_, dbefore_;  // [sample][h], of one step
  AlignedVector<T> dcode_;
  AlignedVector<T> gates_, dgates_;  // [row][module], and of one step
  AlignedVector<T> rule_hidden_, rule_gates_, drule_gates_;
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
