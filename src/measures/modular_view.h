#pragma once

#include <optional>
#include <vector>

#include "measures/specialisation.h"
#include "models/blueprint.h"

namespace modlab::measures {

// A modular network taken apart once for all that is measured on it.
struct ModularView {
  const models::ModularShape& shape;
  models::ModularLayout places;
  const std::vector<float>& parameters;
  std::vector<tasks::Routing> routings;  // one for each task

  // Where the parameters of a slot's module begin; slots count through all levels.
  std::size_t module_of(int task, std::size_t level, int slot, int slot_index) const;
};

// Nothing for a monolithic network. The view must not outlive its arguments.
std::optional<ModularView> view_modular(const models::Blueprint& blueprint, const std::vector<float>& parameters);

// What a module says on many rows: `inputs` are its inputs, each on all rows. The sums are those of plain_forward.h, in
// the same order.
std::vector<double> module_values(const ModularView& view, std::size_t module,
                                  const std::vector<const std::vector<double>*>& inputs);

// Every slot on every row of the truth table, [slot through all levels][row].
std::vector<std::vector<double>> slot_values(const ModularView& view, int task);

std::optional<Specialisation> specialisation(const ModularView& view, const tasks::TaskSuite& suite);
std::optional<InSitu> in_situ_correlation(const ModularView& view, const tasks::TaskSuite& suite, int task);

}  // namespace modlab::measures
