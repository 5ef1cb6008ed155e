#include "measures/flops.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/blueprint.h"
#include "models/images/image_blueprint.h"
#include "models/initial_weights.h"

namespace modlab::measures {
namespace {

// Operations for each weight of a forward pass, of a backward pass, and for each parameter of an Adam update (paper).
constexpr double kForwardFlops = 2;
constexpr double kBackwardFlops = 4;
constexpr double kUpdateFlops = 18;

double weight_count(const std::vector<int>& widths) {
  double count = 0;
  for (std::size_t layer = 0; layer + 1 < widths.size(); ++layer) {
    count += static_cast<double>(widths[layer]) * widths[layer + 1];
  }
  return count;
}

double bias_count(const std::vector<int>& widths) { return std::accumulate(widths.begin() + 1, widths.end(), 0.0); }

double kept_weights(const models::RunSpec& spec, const engine::Layout& layout) {
  const std::vector<float> mask = models::random_mask(layout, spec.density, spec.seed);
  double kept = 0;
  for (const engine::Tensor& tensor : layout.tensors) {
    if (tensor.shape.size() == 2) {
      const auto begin = mask.begin() + static_cast<std::ptrdiff_t>(tensor.offset);
      kept += std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(tensor.count), 0.0);
    }
  }
  return kept;
}

FlopCount sum(const std::vector<FlopPart>& parts) {
  FlopCount total;
  for (const FlopPart& part : parts) {
    total.forward += part.count.forward;
    total.backward += part.count.backward;
    total.update += part.count.update;
  }
  return total;
}

// `logits` of one task; `reads`: the values chosen with each, summed up over them. A gather is free, its gradient a
// product for each logit.
FlopPart selection_part(const char* name, double logits, double reads, int tasks, bool is_exact) {
  const double products = is_exact ? logits : reads;
  return {name, {.forward = is_exact ? 0 : products, .backward = products, .update = tasks * logits}};
}

std::vector<FlopPart> modular_parts(const models::ModularShape& shape, Counting counting) {
  const bool is_exact = counting == Counting::kExact;
  const bool has_pool = shape.pool > 0;
  const double slots = shape.slots();
  const double module = weight_count(shape.module_widths) + (is_exact ? bias_count(shape.module_widths) : 0.0);
  // Members are learned from what each of them would have said. And where rows of a batch choose for themselves, the
  // kernels run every member on every row, forward and backward.
  const bool by_row = is_exact && has_pool && (shape.tasks > 1 || shape.noise_per_sample);
  const bool runs_pool = has_pool && (by_row || !shape.known_modules);
  std::vector<FlopPart> parts = {{"modules",
                                  {.forward = module * slots * (runs_pool ? shape.pool : 1),
                                   .backward = module * slots * (by_row ? shape.pool : 1),
                                   .update = module * (has_pool ? shape.pool : slots)}}};
  if (!shape.known_inputs) {
    double logits = 0;
    double reads = 0;
    int below = shape.inputs;
    for (std::size_t level = 0; level < shape.levels.size(); ++level) {
      const double on_level = static_cast<double>(below) * shape.levels[level];
      logits += on_level;
      reads += shape.picks(level) * on_level;
      below = shape.levels[level];
    }
    parts.push_back(selection_part("input selection", logits, reads, shape.tasks, is_exact));
  }
  if (!shape.known_outputs) {
    const double candidates = shape.output_candidates();
    parts.push_back(selection_part("output selection", candidates, shape.outputs * candidates, shape.tasks, is_exact));
  }
  if (has_pool && !shape.known_modules) {
    const double logits = shape.pool * slots;
    parts.push_back(selection_part("module selection", logits, logits, shape.tasks, is_exact));
  }
  return parts;
}

// A reader of images: products for each sample, and parameters.
struct ReaderCost {
  double products = 0;
  double parameters = 0;
};

ReaderCost reader_cost(const models::ImageReader& reader, Counting counting) {
  const bool is_exact = counting == Counting::kExact;
  const double layers = weight_count(reader.widths) + (is_exact ? bias_count(reader.widths) : 0.0);
  ReaderCost cost{layers, layers};
  int rows = reader.rows;
  int columns = reader.columns;
  int channels_in = reader.parts;
  for (const int channels : reader.channels) {
    rows -= models::kKernelSize - 1;
    columns -= models::kKernelSize - 1;
    const double weights =
        channels * (static_cast<double>(channels_in) * models::kKernelSize * models::kKernelSize + (is_exact ? 1 : 0));
    cost.products += weights * rows * columns;
    cost.parameters += weights;
    rows /= models::kPoolSize;
    columns /= models::kPoolSize;
    channels_in = channels;
  }
  return cost;
}

std::vector<FlopPart> image_parts(const models::ImageModularShape& shape, Counting counting) {
  const bool is_exact = counting == Counting::kExact;
  const bool has_pool = shape.bits.pool > 0;
  const bool runs_pool = has_pool && !shape.bits.known_modules;
  const double slots = shape.image_slots;
  const ReaderCost reader = reader_cost(shape.reader, counting);
  std::vector<FlopPart> parts = {{"image modules",
                                  {.forward = reader.products * slots * (runs_pool ? shape.image_pool : 1),
                                   .backward = reader.products * slots,
                                   .update = reader.parameters * (has_pool ? shape.image_pool : slots)}}};
  if (!shape.bits.known_inputs) {
    const double logits = shape.images * slots;
    const double products = shape.reader.pixels() * logits;
    parts.push_back({"image selection", {.forward = is_exact ? 0 : products, .backward = products, .update = logits}});
  }
  if (runs_pool) {
    // Selecting a member is a product for each value that it gives.
    const double logits = shape.image_pool * slots;
    const double products = shape.reader.outputs() * logits;
    parts.push_back(
        {"image module sel.", {.forward = is_exact ? 0 : products, .backward = products, .update = logits}});
  }
  const std::vector<FlopPart> above = modular_parts(shape.bits, counting);
  parts.insert(parts.end(), above.begin(), above.end());
  return parts;
}

std::vector<FlopPart> layer_parts(const models::RunSpec& spec, const engine::Layout& layout,
                                  const std::vector<int>& widths, Counting counting) {
  const bool is_masked = spec.model == models::ModelKind::kSparse && counting == Counting::kPaper;
  const double weights = is_masked ? kept_weights(spec, layout) : weight_count(widths);
  const double all = weights + (counting == Counting::kExact ? bias_count(widths) : 0.0);
  return {{"layers", {all, all, all}}};
}

}  // namespace

std::vector<FlopPart> flop_parts(const models::RunSpec& resolved, const tasks::TaskSuite& suite, Counting counting) {
  const models::Blueprint blueprint = models::make_blueprint(resolved, suite);
  if (const auto* shape = std::get_if<models::ModularShape>(&blueprint.shape)) {
    return modular_parts(*shape, counting);
  }
  return layer_parts(resolved, blueprint.layout, std::get<models::MlpShape>(blueprint.shape).widths, counting);
}

std::vector<FlopPart> flop_parts(const models::ImageSpec& resolved, const tasks::TaskSuite& suite, Counting counting) {
  const models::ImageBlueprint blueprint = models::make_blueprint(resolved, suite);
  if (const auto* shape = std::get_if<models::ImageModularShape>(&blueprint.shape)) {
    return image_parts(*shape, counting);
  }
  const models::ImageReader& reader = std::get<models::ImageMlpShape>(blueprint.shape).reader;
  if (resolved.model == models::ModelKind::kCnn) {
    const ReaderCost cost = reader_cost(reader, counting);
    return {{"layers", {cost.products, cost.products, cost.parameters}}};
  }
  return layer_parts(resolved, blueprint.layout, reader.widths, counting);
}

FlopCount count_flops(const models::RunSpec& resolved, const tasks::TaskSuite& suite, Counting counting) {
  return sum(flop_parts(resolved, suite, counting));
}

FlopCount count_flops(const models::ImageSpec& resolved, const tasks::TaskSuite& suite, Counting counting) {
  return sum(flop_parts(resolved, suite, counting));
}

double updates_per_epoch(int train_rows, int batch_size, Counting counting) {
  const int whole_batches = train_rows / batch_size;
  return counting == Counting::kPaper || train_rows % batch_size != 0 ? whole_batches + 1 : whole_batches;
}

double updates_to_epoch(int epoch, int train_rows, int batch_size, Counting counting) {
  return epoch * updates_per_epoch(train_rows, batch_size, counting);
}

double training_flops(const FlopCount& count, int epoch, int train_rows, int batch_size, Counting counting) {
  const double sample = kForwardFlops * count.forward + kBackwardFlops * count.backward;
  return static_cast<double>(epoch) * train_rows * sample +
         updates_to_epoch(epoch, train_rows, batch_size, counting) * kUpdateFlops * count.update;
}

}  // namespace modlab::measures
