#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

// The lane kernels: what a network is made of. A lane is one network of a block; every scalar of the textbook algorithm
// is a vector over lanes. Arrays of activations are indexed [unit][row][lane], parameters [parameter][lane]. Nothing is
// ever summed across lanes, and the order of sums over inputs and rows does not depend on tile sizes, so a lane's bits
// are the same on every target.
//
// `T` is float in training; the same kernels in double, one lane at a time, are the oracle of the gradient tests.
namespace modlab::engine {

// Units of activations: `stride` elements lie between the same row of two neighbouring units.
template <typename T>
struct Units {
  T* data = nullptr;
  std::size_t stride = 0;

  T* unit(std::size_t index) const { return data + index * stride; }
  Units from(std::size_t index) const { return {unit(index), stride}; }
  operator Units<const T>() const { return {data, stride}; }
};

// An input as a field of its sample's word: (word >> shift) & mask.
struct Field {
  int shift;
  std::uint32_t mask;
};

// y = act(W x + b), with W [out][in].
template <typename T>
struct DenseForward {
  Units<const T> x;
  const T* weights;
  const T* bias;
  Units<T> y;
  int rows, in, out;
  bool relu;
};

// dx = W' dy, zeroed where the activation x came out of a ReLU at zero.
template <typename T>
struct DenseInputGradient {
  Units<const T> dy;
  const T* weights;
  Units<const T> x;
  Units<T> dx;
  int rows, in, out;
  bool relu;
};

// dW += dy x', db += dy.
template <typename T>
struct DenseWeightGradient {
  Units<const T> x;
  Units<const T> dy;
  T* weights;
  T* bias;
  int rows, in, out;
};

// A module with one hidden layer: out = w2 . relu(W1 z + b1) + b2. `parameters` holds W1 [hidden][fan_in], b1, w2, b2.
template <typename T>
struct ModuleForward {
  Units<const T> z;
  const T* parameters;
  T* out;  // [row][lane]
  int rows, fan_in, hidden;
};

template <typename T>
struct ModuleBackward {
  Units<const T> z;
  const T* parameters;
  const T* dout;  // [row][lane]
  Units<T> dz;    // overwritten
  T* gradients;   // added to, or overwritten
  bool overwrite;
  int rows, fan_in, hidden;
};

// What a module says on each row of a truth table, when it reads `fan_in` picked bits: it was computed once for each of
// the 2^fan_in combinations (first position = most significant bit), and here every lane looks its rows up.
template <typename T>
struct LookUp {
  const T* combinations;        // [combination][lane]
  Units<const T> picks;         // [position][lane]
  std::span<const Field> bits;  // where each candidate's bit lies in a word
  const std::uint32_t* words;   // [row]
  T* out;                       // [row][lane]
  int rows, fan_in;
};

// For each column the indices of the k largest of n scores, largest first, ties to the lower index; written as numbers.
template <typename T>
struct TopK {
  Units<const T> scores;  // [candidate][column][lane]
  const T* noise;         // same layout as scores, or null
  Units<T> picks;         // [position][column][lane]
  int candidates, columns, k;
};

// z[position][row] = x[pick of position][row].
template <typename T>
struct Gather {
  Units<const T> x;
  int candidates;
  Units<const T> picks;  // [position][row][lane], or [position][lane] if one pick serves all rows
  bool pick_per_row;
  Units<T> z;
  int rows, k;
};

// dx[pick of position][row] += dz[position][row].
template <typename T>
struct Scatter {
  Units<const T> dz;
  Units<const T> picks;
  bool pick_per_row;
  Units<T> dx;
  int candidates, rows, k;
};

// sums[candidate] += sum over rows of (sum over positions of d) * x[candidate] (* slope[candidate]), over the rows
// whose task is `task` if tasks are given. The gradient of straight-through selection before its soft vector's slope.
template <typename T>
struct Correlate {
  Units<const T> d;
  int positions;
  Units<const T> x;
  Units<const T> slope;  // [candidate][row][lane], or [candidate][lane] if one serves all rows; null data: none
  bool slope_per_row;
  const T* row_task;  // [row][lane], or null
  T task;
  T* sums;  // [candidate][...][lane], `sum_stride` apart
  std::size_t sum_stride;
  int candidates, rows;
};

// slope = q (1 - q) / tau of the sigmoid q of (score + noise) / tau, elementwise.
template <typename T>
struct SigmoidSlope {
  const T* scores;
  const T* noise;        // or null
  const T* inverse_tau;  // [lane]
  T* slope;
  int count;
};

// gradients += sums * slope, elementwise: what SigmoidSlope gives, without storing it.
template <typename T>
struct SigmoidFinish {
  const T* scores;
  const T* noise;
  const T* inverse_tau;
  const T* sums;
  T* gradients;
  int count;
};

// gradients[m] += q_m (g_m - sum_n q_n g_n) / tau for the softmax q of (score + noise) / tau and sums g, in every
// column.
template <typename T>
struct SoftmaxFinish {
  Units<const T> scores;  // [member][column][lane]
  const T* noise;         // same layout, or null
  const T* inverse_tau;
  Units<const T> sums;
  Units<T> gradients;
  int members, columns;
};

// The softmax of (score + noise) / tau in every column.
template <typename T>
struct SoftmaxShares {
  Units<const T> scores;  // [member][column][lane]
  const T* noise;         // same layout, or null
  const T* inverse_tau;
  Units<T> shares;
  int members, columns;
};

// What SoftmaxFinish adds, summed over rows of their own g: that of a row is d * o[m], and rows of other tasks are left
// out.
template <typename T>
struct SoftmaxRows {
  Units<const T> shares;  // [member][row][lane], or [member][lane] if they serve all rows
  bool share_per_row;
  const T* inverse_tau;
  const T* d;         // [row][lane]
  Units<const T> o;   // [member][row][lane]
  const T* row_task;  // [row][lane], or null
  T task;
  T* gradients;  // [member][...][lane], `gradient_stride` apart
  std::size_t gradient_stride;
  int members, rows;
};

// out[row] = the value that belongs to the row's task, plus noise.
template <typename T>
struct TakeTask {
  const T* values;  // [task][lane], `task_stride` apart
  std::size_t task_stride;
  const T* row_task;
  const T* noise;  // [row][lane] or null, added
  T* out;          // [row][lane]
  int rows, tasks;
};

enum class LossKind { kBce, kMse };

// d = dLoss/dz for the mean over rows and outputs given by `scale` = 1 / (rows of the batch * outputs).
template <typename T>
struct LossGradient {
  Units<const T> z;
  Units<const T> targets;
  Units<T> d;
  T scale;
  T* loss;  // [lane], added to, or null
  LossKind kind;
  int rows, outputs;
};

// Adds to sums[part][quantity][lane]: loss, right bits, right rows.
inline constexpr int kParts = 3;       // train, validation, test
inline constexpr int kQuantities = 3;  // loss, bits, rows
template <typename T>
struct Score {
  Units<const T> z;
  const std::uint32_t* targets;  // [row], bit k is output k
  const T* part;                 // [row][lane]: which part the row belongs to
  T* sums;
  LossKind kind;
  int rows, outputs;
};

// Bit fields of 32-bit sample words as numbers.
template <typename T>
struct Expand {
  const std::uint32_t* samples;  // [row][lane]: index into words; or [row] if `same_in_all_lanes`
  bool same_in_all_lanes;
  const std::uint32_t* words;
  std::span<const Field> fields;
  Units<T> out;  // one unit for each field
  int rows;
};

// Random numbers of a stream: element `index` of the block's draw `step`. keys: [4][lane].
struct Draw {
  const std::uint32_t* keys;
  std::uint32_t step;
  std::uint32_t first;  // counter of the first group of four elements
};
// x = clean + deviation * normal.
template <typename T>
struct AddNormal {
  Draw draw;
  const T* deviation;  // [lane]
  Units<const T> clean;
  Units<T> x;
  int units, rows;
};
template <typename T>
struct GumbelNoise {
  Draw draw;
  T* out;
  int count;
};
// Between 0 and 1, and neither of them.
template <typename T>
struct Uniforms {
  Draw draw;
  T* out;  // [index][lane]
  int count;
};
struct RandomWords {
  Draw draw;
  std::uint32_t* out;  // [index][lane]
  int count;
};

enum class OptimizerKind { kAdam, kAdamW, kSgd, kMomentum, kRmsprop };

inline constexpr double kAdamBeta1 = 0.9;
inline constexpr double kAdamBeta2 = 0.999;

// Adam's moments are kept as plain discounted sums of g and g^2; what turns them into bias-corrected means (the second
// after its square root) is the same for all parameters.
struct AdamScales {
  double first = 1;
  double second = 1;

  static AdamScales after(int steps) {
    return {(1 - kAdamBeta1) / (1 - std::pow(kAdamBeta1, steps)),
            std::sqrt((1 - kAdamBeta2) / (1 - std::pow(kAdamBeta2, steps)))};
  }
};

// One update of `count` parameters, all with the same rates. mask: [parameter][lane] of 0 and 1, or null.
template <typename T>
struct Update {
  OptimizerKind kind;
  T* parameters;
  T* gradients;
  T* first;   // first moment, or velocity
  T* second;  // second moment
  const T* mask;
  const T* rate;          // [lane]
  const T* weight_decay;  // [lane]
  AdamScales scales;
  int count;
};

// How a mask is drawn from its logits: 0 or 1 with noise, a number between them that is often 0 or 1, or 0 or 1 by the
// sign of the logit.
enum class MaskDrawing { kGumbel, kHardConcrete, kDeterministic };

// Factors for weights drawn from logits l and uniform numbers u: with the soft sample s = sigmoid((l + log(u / (1 -
// u))) / tau) the factor is 1 where s > 1/2 and otherwise 0, and its slope that of s (straight-through).
template <typename T>
struct DrawMask {
  const T* logits;       // [logit][lane], as all that follows
  const T* odds;         // exp(-l), which all samples of a step share
  const T* uniforms;     // between 0 and 1; null: 1/2
  const T* inverse_tau;  // [lane]
  bool has_tau;          // some of them is not 1
  MaskDrawing kind;
  T* factors;
  T* slopes;
  int count;
};

// masked = weights * factors, and the reach of a logit: weights * slopes, by which a gradient of the masked weight
// becomes one of the logit. `logit_of` says of each parameter which logit is its own, or that it has none (-1).
template <typename T>
struct ApplyMask {
  const T* weights;
  const T* factors;  // of logits from first_logit on
  const T* slopes;   // the same
  int first_logit;
  const std::int32_t* logit_of;
  T* masked;
  T* reach;
  int count;
};

// dlogits += gradients * reach, from the gradients of masked weights, which are zero afterwards.
template <typename T>
struct MaskGradient {
  T* gradients;
  const T* reach;
  const std::int32_t* logit_of;
  T* dlogits;
  int count;
};

// dlogits += alpha, the gradient of a penalty on the sum of logits, or of one on the expected number of kept weights.
template <typename T>
struct MaskPenalty {
  const T* logits;
  const T* alpha;  // [lane]
  T* dlogits;
  bool of_count;
  int count;
};

// Shortens gradients that are longer than their lane allows.
template <typename T>
struct ClipLanes {
  T* gradients;
  const T* longest;  // [lane]
  int count;
};

// values *= weights of their units and lanes.
template <typename T>
struct WeighUnits {
  Units<T> values;
  const T* weights;  // [unit][lane]
  int units, rows;
};

template <typename T>
struct Kernels {
  int lanes;
  const char* target;

  void (*dense_forward)(const DenseForward<T>&);
  void (*dense_input_gradient)(const DenseInputGradient<T>&);
  void (*dense_weight_gradient)(const DenseWeightGradient<T>&);
  void (*module_forward)(const ModuleForward<T>&);
  void (*module_backward)(const ModuleBackward<T>&);
  void (*top_k)(const TopK<T>&);
  void (*gather)(const Gather<T>&);
  void (*scatter)(const Scatter<T>&);
  void (*correlate)(const Correlate<T>&);
  void (*sigmoid_slope)(const SigmoidSlope<T>&);
  void (*sigmoid_finish)(const SigmoidFinish<T>&);
  void (*softmax_finish)(const SoftmaxFinish<T>&);
  void (*softmax_shares)(const SoftmaxShares<T>&);
  void (*softmax_rows)(const SoftmaxRows<T>&);
  void (*take_task)(const TakeTask<T>&);
  void (*loss_gradient)(const LossGradient<T>&);
  void (*score)(const Score<T>&);
  void (*update)(const Update<T>&);
  void (*keep_lanes)(const T* keep, const T* from, T* to, int count);  // to = from in the lanes where keep is not zero
  void (*add_to)(const T* from, T* to, int count);
  void (*mask_odds)(const T* logits, T* odds, int count);
  void (*draw_mask)(const DrawMask<T>&);
  void (*apply_mask)(const ApplyMask<T>&);
  void (*mask_gradient)(const MaskGradient<T>&);
  void (*mask_penalty)(const MaskPenalty<T>&);
  void (*clip_lanes)(const ClipLanes<T>&);
  void (*weigh_units)(const WeighUnits<T>&);

  // Float only: the oracle is given its inputs.
  void (*expand)(const Expand<T>&);
  void (*look_up)(const LookUp<T>&);
  void (*add_normal)(const AddNormal<T>&);
  void (*gumbel_noise)(const GumbelNoise<T>&);
  void (*uniforms)(const Uniforms<T>&);
  void (*random_words)(const RandomWords&);
  double (*fma_peak_gflops)();
};

// Widest fan-in that module_forward, module_backward and look_up take; wider or deeper modules are made of dense
// layers.
inline constexpr int kMaxModuleFanIn = 4;

// The kernels for this machine, or those that MODLAB_TARGET (avx512, avx2, scalar) asks for. Throws ConfigError if that
// target is unknown or not supported here.
const Kernels<float>& kernels();
// One named target.
const Kernels<float>& kernels_for(const std::string& target);
std::vector<std::string> supported_targets();
const Kernels<double>& oracle_kernels();

}  // namespace modlab::engine
