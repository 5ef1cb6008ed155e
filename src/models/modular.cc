#include "models/modular.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "models/module.h"
#include "models/selection.h"

namespace modlab::models {
namespace {

using engine::EvaluationRows;
using engine::Kernels;
using engine::Layout;
using engine::Rate;
using engine::Samples;
using engine::Step;
using engine::UnitBuffer;
using engine::Units;

// A truth table of six inputs is one chunk.
constexpr int kChunkRows = 64;

template <typename T>
class Modular final : public engine::Network<T> {
 public:
  Modular(const ModularShape& shape, const Kernels<T>& kernels)
      : kernels_(kernels),
        shape_(shape),
        places_(modular_layout(shape)),
        module_(shape.module_widths, kChunkRows, kernels),
        values_(shape.slots(), kChunkRows, kernels.lanes),
        dvalues_(shape.slots(), kChunkRows, kernels.lanes),
        z_(shape.slots() * shape.fan_in, kChunkRows, kernels.lanes),
        dz_(shape.fan_in, kChunkRows, kernels.lanes),
        outputs_(shape.outputs, kChunkRows, kernels.lanes),
        output_selection_(selection(places_.outputs, shape.output_candidates(), 1, shape.outputs, !shape.known_outputs),
                          kChunkRows, kernels) {
    int below = shape.inputs;
    int slot = 0;
    for (std::size_t level = 0; level < shape.levels.size(); ++level) {
      first_slot_.push_back(slot);
      const int slots = shape.levels[level];
      input_selections_.emplace_back(
          selection(places_.inputs[level], below, slots, shape.picks(level), !shape.known_inputs), kChunkRows, kernels);
      if (has_pool()) {
        SelectionShape members = selection(places_.members[level], shape.pool, slots, 1, !shape.known_modules);
        members.softmax = true;
        member_selections_.emplace_back(members, kChunkRows, kernels);
      }
      below = slots;
      slot += slots;
    }
    fill_combinations();
    if (has_pool()) {
      pool_values_ = UnitBuffer<T>(slot * shape.pool, kChunkRows, kernels.lanes);
      picked_parameters_.resize(module_.size() * kernels.lanes);
      picked_gradients_.resize(module_.size() * kernels.lanes);
      member_d_ = UnitBuffer<T>(shape.pool, kChunkRows, kernels.lanes);
      member_dz_ = UnitBuffer<T>(shape.fan_in, kChunkRows, kernels.lanes);
    }
  }

  const Layout& layout() const override { return places_.layout; }
  int chunk_rows() const override { return kChunkRows; }

  void begin_step(const Step<T>& step) override {
    if (step.evaluated && !has_noise(step) && shape_.tasks == 1) {
      adopt_evaluation();
      return;
    }
    output_selection_.begin_step(step);
    for (Selection<T>& inputs : input_selections_) {
      inputs.begin_step(step);
    }
    for (Selection<T>& members : member_selections_) {
      members.begin_step(step);
    }
  }

  Units<const T> forward(const Step<T>& step, const Samples<T>& samples) override {
    const int rows = samples.rows;
    for (std::size_t level = 0; level < shape_.levels.size(); ++level) {
      Selection<T>& inputs = input_selections_[level];
      inputs.begin_chunk(step, samples);
      if (has_pool()) {
        member_selections_[level].begin_chunk(step, samples);
      }
      const Units<const T> x = below(level, samples.inputs);
      for (int slot = 0; slot < shape_.levels[level]; ++slot) {
        const int index = first_slot_[level] + slot;
        const Units<T> z = z_.from(static_cast<std::size_t>(index) * shape_.fan_in);
        inputs.read(slot, x, z, rows);
        if (!has_pool()) {
          module_.forward(step.parameters + module_offset(index), z, values_.unit(index), rows);
        } else if (needs_whole_pool()) {
          const Units<T> pool_values = pool_values_.from(static_cast<std::size_t>(index) * shape_.pool);
          for (int member = 0; member < shape_.pool; ++member) {
            module_.forward(step.parameters + module_offset(member), z, pool_values.unit(member), rows);
          }
          member_selections_[level].read(slot, pool_values, values_.from(index), rows);
        } else {
          module_.forward(picked_member(step.parameters, member_selections_[level].step_picks(slot)), z,
                          values_.unit(index), rows);
        }
      }
    }
    output_selection_.begin_chunk(step, samples);
    output_selection_.read(0, output_values(), outputs_.view(), rows);
    return outputs_.view();
  }

  void backward(const Step<T>& step, const Samples<T>& samples, Units<const T> doutputs, T* gradients) override {
    const int rows = samples.rows;
    for (int slot = 0; slot < shape_.slots(); ++slot) {
      std::fill_n(dvalues_.unit(slot), static_cast<std::size_t>(rows) * kernels_.lanes, T{0});
    }
    output_selection_.collect(0, step, samples, doutputs, output_values(), gradients);
    output_selection_.write(0, doutputs, dvalues_.from(first_output_slot()), rows);
    for (std::size_t level = shape_.levels.size(); level-- > 0;) {
      const Units<const T> x = below(level, samples.inputs);
      for (int slot = 0; slot < shape_.levels[level]; ++slot) {
        module_backward(level, slot, step, samples, gradients);
        input_selections_[level].collect(slot, step, samples, dz_.view(), x, gradients);
        if (level > 0) {
          input_selections_[level].write(slot, dz_.view(), dvalues_.from(first_slot_[level - 1]), rows);
        }
      }
    }
  }

  void end_step(const Step<T>& step, T* gradients) override {
    output_selection_.end_step(step, gradients);
    for (Selection<T>& inputs : input_selections_) {
      inputs.end_step(step, gradients);
    }
    for (Selection<T>& members : member_selections_) {
      members.end_step(step, gradients);
    }
  }

  void begin_evaluation(const T* parameters) override {
    output_selection_.begin_evaluation(parameters);
    for (Selection<T>& inputs : input_selections_) {
      inputs.begin_evaluation(parameters);
    }
    for (Selection<T>& members : member_selections_) {
      members.begin_evaluation(parameters);
    }
  }

  Units<const T> evaluate(const T* parameters, const EvaluationRows<T>& rows) override {
    for (std::size_t level = 0; level < shape_.levels.size(); ++level) {
      const Units<const T> x = below(level, rows.inputs);
      for (int slot = 0; slot < shape_.levels[level]; ++slot) {
        const int index = first_slot_[level] + slot;
        const T* module = has_pool()
                              ? picked_member(parameters, member_selections_[level].evaluated_picks(slot, rows.task))
                              : parameters + module_offset(index);
        if (level == 0 && can_look_up(rows)) {
          look_up(slot, module, rows);
          continue;
        }
        const Units<T> z = z_.from(static_cast<std::size_t>(index) * shape_.fan_in);
        input_selections_[level].read_evaluated(slot, rows.task, x, z, rows.rows);
        module_.forward(module, z, values_.unit(index), rows.rows);
      }
    }
    output_selection_.read_evaluated(0, rows.task, output_values(), outputs_.view(), rows.rows);
    return outputs_.view();
  }

 private:
  SelectionShape selection(std::size_t offset, int candidates, int columns, int k, bool learned) const {
    const std::size_t begin = places_.layout.structural_begin;
    return {.offset = offset,
            .noise_unit = (offset - begin) / shape_.tasks,
            .structural_begin = begin,
            .candidates = candidates,
            .columns = columns,
            .k = k,
            .tasks = shape_.tasks,
            .softmax = false,
            .learned = learned,
            .per_sample = shape_.noise_per_sample};
  }

  bool has_pool() const { return shape_.pool > 0; }
  bool has_noise(const Step<T>& step) const { return step.noise != nullptr || shape_.noise_per_sample; }

  // Without noise a step picks what evaluation of the same parameters picked.
  void adopt_evaluation() {
    output_selection_.adopt_evaluation();
    for (Selection<T>& inputs : input_selections_) {
      inputs.adopt_evaluation();
    }
    for (Selection<T>& members : member_selections_) {
      members.adopt_evaluation();
    }
  }

  // A first-level module sees only 2^fan_in different inputs in a whole truth table.
  bool can_look_up(const EvaluationRows<T>& rows) const {
    return rows.words != nullptr && shape_.picks(0) == shape_.fan_in && shape_.fan_in <= engine::kMaxModuleFanIn &&
           (1 << shape_.fan_in) < rows.rows;
  }
  void look_up(int slot, const T* module, const EvaluationRows<T>& rows) {
    const int combinations = 1 << shape_.fan_in;
    module_.forward(module, combinations_.view(), combination_values_.unit(0), combinations);
    kernels_.look_up({.combinations = combination_values_.unit(0),
                      .picks = input_selections_[0].evaluated_picks(slot, rows.task),
                      .bits = rows.fields,
                      .words = rows.words,
                      .out = values_.unit(slot),
                      .rows = rows.rows,
                      .fan_in = shape_.fan_in});
  }
  // All inputs that a module reading bits can see, first position = most significant bit.
  void fill_combinations() {
    if (shape_.fan_in > engine::kMaxModuleFanIn) {
      return;
    }
    const int count = 1 << shape_.fan_in;
    combinations_ = UnitBuffer<T>(shape_.fan_in, count, kernels_.lanes);
    combination_values_ = UnitBuffer<T>(1, count, kernels_.lanes);
    for (int position = 0; position < shape_.fan_in; ++position) {
      for (int combination = 0; combination < count; ++combination) {
        const bool is_one = ((combination >> (shape_.fan_in - 1 - position)) & 1) != 0;
        std::fill_n(combinations_.unit(position) + combination * kernels_.lanes, kernels_.lanes, is_one ? T{1} : T{0});
      }
    }
  }
  // Module logits learn from what every member would have said; and a choice per row needs every member at hand.
  bool needs_whole_pool() const { return !shape_.known_modules || member_selections_.front().per_row(); }

  Units<const T> below(std::size_t level, Units<const T> inputs) {
    return level == 0 ? inputs : Units<const T>(values_.from(first_slot_[level - 1]));
  }
  int first_output_slot() const { return shape_.outputs_from_all ? 0 : first_slot_.back(); }
  Units<const T> output_values() { return values_.from(first_output_slot()); }

  std::size_t module_offset(int module) const { return places_.modules[module] * kernels_.lanes; }
  // Each lane's picked pool member, blended into one copy: choosing parameters is choosing among "units" of parameters.
  // Done anew for each use, since one copy stays in the first cache level where one for each slot would not.
  const T* picked_member(const T* parameters, Units<const T> picks) {
    kernels_.gather({.x = {parameters + module_offset(0), module_.size() * kernels_.lanes},
                     .candidates = shape_.pool,
                     .picks = picks,
                     .pick_per_row = false,
                     .z = {picked_parameters_.data(), 0},
                     .rows = static_cast<int>(module_.size()),
                     .k = 1});
    return picked_parameters_.data();
  }
  // Hands the gradients of such a copy back to the pool member that each lane picked.
  void return_gradients(Units<const T> picks, T* gradients) {
    kernels_.scatter({.dz = {picked_gradients_.data(), 0},
                      .picks = picks,
                      .pick_per_row = false,
                      .dx = {gradients + module_offset(0), module_.size() * kernels_.lanes},
                      .candidates = shape_.pool,
                      .rows = static_cast<int>(module_.size()),
                      .k = 1});
  }

  // From the gradient of a slot's value to dz_, its module's gradients and its module logits'.
  void module_backward(std::size_t level, int slot, const Step<T>& step, const Samples<T>& samples, T* gradients) {
    const int index = first_slot_[level] + slot;
    const Units<T> z = z_.from(static_cast<std::size_t>(index) * shape_.fan_in);
    const Units<T> d = dvalues_.from(index);
    if (!has_pool()) {
      const std::size_t module = module_offset(index);
      module_.backward(step.parameters + module, z, d.data, dz_.view(), gradients + module, samples.rows);
      return;
    }
    Selection<T>& members = member_selections_[level];
    const Units<T> pool_values = pool_values_.from(static_cast<std::size_t>(index) * shape_.pool);
    members.collect(slot, step, samples, d, pool_values, gradients);
    if (!members.per_row()) {
      const Units<const T> picks = members.step_picks(slot);
      module_.backward(picked_member(step.parameters, picks), z, d.data, dz_.view(), picked_gradients_.data(),
                       samples.rows, Module<T>::Gradients::kOverwrite);
      return_gradients(picks, gradients);
      return;
    }
    const std::size_t row_elements = static_cast<std::size_t>(samples.rows) * kernels_.lanes;
    for (int member = 0; member < shape_.pool; ++member) {
      std::fill_n(member_d_.unit(member), row_elements, T{0});
    }
    members.write(slot, d, member_d_.view(), samples.rows);
    for (int member = 0; member < shape_.pool; ++member) {
      const std::size_t module = module_offset(member);
      const Units<T> dz = member == 0 ? dz_.view() : member_dz_.view();
      module_.backward(step.parameters + module, z, member_d_.unit(member), dz, gradients + module, samples.rows);
      for (int position = 0; member > 0 && position < shape_.fan_in; ++position) {
        kernels_.add_to(dz.unit(position), dz_.unit(position), samples.rows);
      }
    }
  }

  const Kernels<T>& kernels_;
  ModularShape shape_;
  ModularLayout places_;
  Module<T> module_;
  std::vector<int> first_slot_;  // of each level, counting slots through all levels
  UnitBuffer<T> values_;         // each slot's output
  UnitBuffer<T> dvalues_;
  UnitBuffer<T> z_;  // each slot's inputs
  UnitBuffer<T> dz_;
  UnitBuffer<T> outputs_;
  UnitBuffer<T> combinations_;  // all inputs of a module that reads bits
  UnitBuffer<T> combination_values_;
  UnitBuffer<T> pool_values_;  // what every pool member says in every slot
  UnitBuffer<T> member_d_;
  UnitBuffer<T> member_dz_;
  AlignedVector<T> picked_parameters_;
  AlignedVector<T> picked_gradients_;
  Selection<T> output_selection_;
  std::vector<Selection<T>> input_selections_;
  std::vector<Selection<T>> member_selections_;
};

}  // namespace

int ModularShape::slots() const { return std::accumulate(levels.begin(), levels.end(), 0); }

int ModularShape::picks(std::size_t level) const { return std::min(fan_in, level == 0 ? inputs : levels[level - 1]); }

ModularLayout modular_layout(const ModularShape& shape) {
  ModularLayout places;
  Layout& layout = places.layout;
  const auto logits_shape = [&](int candidates, int columns) {
    std::vector<int> dimensions = {candidates, columns};
    if (shape.tasks > 1) {
      dimensions.insert(dimensions.begin(), shape.tasks);
    }
    return dimensions;
  };
  const auto add_input_selections = [&] {
    int below = shape.inputs;
    for (std::size_t level = 0; level < shape.levels.size(); ++level) {
      places.inputs.push_back(layout.add(fmt::format("level{}.inputs", level + 1),
                                         logits_shape(below, shape.levels[level]),
                                         shape.known_inputs ? Rate::kFrozen : Rate::kInput, 0, 0));
      below = shape.levels[level];
    }
    std::vector<int> dimensions = {shape.output_candidates()};
    if (shape.tasks > 1) {
      dimensions.insert(dimensions.begin(), shape.tasks);
    }
    places.outputs = layout.add("outputs", dimensions, shape.known_outputs ? Rate::kFrozen : Rate::kInput, 0, 0);
  };
  // The published order: own modules after the selection vectors, a shared pool before them.
  if (shape.pool > 0) {
    for (int member = 0; member < shape.pool; ++member) {
      places.modules.push_back(layout.count);
      add_module_tensors(layout, fmt::format("pool.module{}", member), shape.module_widths);
    }
    layout.structural_begin = layout.count;
    for (std::size_t level = 0; level < shape.levels.size(); ++level) {
      places.members.push_back(layout.add(fmt::format("level{}.modules", level + 1),
                                          logits_shape(shape.pool, shape.levels[level]),
                                          shape.known_modules ? Rate::kFrozen : Rate::kModule, 0, 0));
    }
    add_input_selections();
    layout.structural_count = layout.count - layout.structural_begin;
  } else {
    add_input_selections();
    layout.structural_count = layout.count;
    for (std::size_t level = 0; level < shape.levels.size(); ++level) {
      for (int slot = 0; slot < shape.levels[level]; ++slot) {
        places.modules.push_back(layout.count);
        add_module_tensors(layout, fmt::format("level{}.module{}", level + 1, slot), shape.module_widths);
      }
    }
  }
  return places;
}

template <typename T>
std::unique_ptr<engine::Network<T>> make_modular(const ModularShape& shape, const Kernels<T>& kernels) {
  return std::make_unique<Modular<T>>(shape, kernels);
}

template std::unique_ptr<engine::Network<float>> make_modular(const ModularShape&, const Kernels<float>&);
template std::unique_ptr<engine::Network<double>> make_modular(const ModularShape&, const Kernels<double>&);

}  // namespace modlab::models
