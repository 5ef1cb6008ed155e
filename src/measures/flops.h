#pragma once

#include <string>
#include <vector>

#include "models/images/image_spec.h"
#include "models/run_spec.h"
#include "tasks/task.h"

namespace modlab::measures {

// What a training step touches: weights used per sample forward and backward, and parameters updated.
struct FlopCount {
  double forward = 0;
  double backward = 0;
  double update = 0;
};

// kPaper: the accounting of the paper's Table 1. Biases and activations are free; a selection of k values among n
// candidates is k n products, forward and backward; a sparse network has the weights that its mask keeps; an epoch has
// floor(D/b) + 1 updates, one more than happen where b divides D.
// kExact: what this program computes. Biases count like weights. A selection gathers its values forward, which is free,
// and backward costs one product for each of its candidates. A sparse network costs as much as a dense one, because
// the kernels multiply by the zeros too. Where rows of a batch choose pool members for themselves (several tasks,
// Gumbel noise per sample), every member runs on every row, backward too. An epoch has ceil(D/b) updates.
// On images: selecting an image is a product for each of its pixels (exact: only backward), and a convolution's weight
// counts once for each position.
// Both: a sample costs what one task costs, while updates reach the selection vectors of all tasks; every pool member
// is evaluated in every slot unless the modules are known; evaluation after the epochs is not training and is left out.
enum class Counting { kPaper, kExact };

FlopCount count_flops(const models::RunSpec& resolved, const tasks::TaskSuite& suite,
                      Counting counting = Counting::kPaper);
FlopCount count_flops(const models::ImageSpec& resolved, const tasks::TaskSuite& suite,
                      Counting counting = Counting::kPaper);

// The summands of a count, by what they are spent on.
struct FlopPart {
  std::string name;
  FlopCount count;
};
std::vector<FlopPart> flop_parts(const models::RunSpec& resolved, const tasks::TaskSuite& suite,
                                 Counting counting = Counting::kPaper);
std::vector<FlopPart> flop_parts(const models::ImageSpec& resolved, const tasks::TaskSuite& suite,
                                 Counting counting = Counting::kPaper);

// floor(D/b)+1, or ceil(D/b).
double updates_per_epoch(int train_rows, int batch_size, Counting counting);
// Weight updates up to and including an epoch.
double updates_to_epoch(int epoch, int train_rows, int batch_size, Counting counting);
// A weight costs 2 operations forward, 4 backward and 18 in an update, which is Adam's price whatever the optimiser.
double training_flops(const FlopCount& count, int epoch, int train_rows, int batch_size, Counting counting);

// A cell of the paper's Table 1: what the formulas give, and what is printed there.
struct TableOneRow {
  models::ModelKind model = models::ModelKind::kDense;
  std::string task;
  FlopCount computed;
  FlopCount printed;
};

// Five architectures, each on depth 1, 2, 3 and MNIST.
std::vector<TableOneRow> table_one();

}  // namespace modlab::measures
