#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/random.h"
#include "engine/network.h"
#include "models/torch/colour_network.h"
#include "models/torch/given_samples.h"
#include "models/torch/sequence_shape.h"

// Networks that run on libtorch, as the rooms that do not see it know them: functions of their parameters. Masks,
// optimisers, schedules and checkpoints are ours and the same for all of them.
namespace modlab::models {

// Some samples, by their numbers, and how a network looks at them.
struct TorchBatch {
  std::span<const std::uint32_t> rows;
  // [output]: 1 where it counts; empty: all do. Of classes, those that do not count cannot be answered either.
  std::span<const std::uint8_t> outputs = {};
  // While weights are trained: what is drawn (dropout, augmentation) follows from `noise`, and statistics are taken
  // from the batch. Otherwise the network is as it is used.
  bool trains_weights = false;
  std::uint64_t noise = 0;
  // Of samples that are one list of inputs: normal noise of this standard deviation on the first so many.
  double input_noise = 0;
  int noisy_inputs = 0;
  std::uint64_t step_noise = 0;  // the same for all parts of a training step: what is drawn for the step as a whole
};

// Of which numbers a step's masks are drawn: those of the engine's kernels (engine/solo/masked_kernels.h).
struct MaskDraws {
  std::span<const float> logits, weights;  // of all parameters, in the order of the layout
  Words4 key{};
  std::uint32_t step = 0;
  double inverse_tau = 1;
  bool deterministic = false;
};

class TorchNetwork {
 public:
  virtual ~TorchNetwork() = default;

  virtual const engine::Layout& layout() const = 0;
  // Its parameters as they were made or found, in the order of the layout.
  virtual std::vector<float> initial() const = 0;
  // What training changes besides the parameters, such as the means of batches.
  virtual std::vector<float> buffers() const = 0;
  virtual void set_buffers(std::span<const float> buffers) = 0;

  // The mean loss of samples, and its gradient by all parameters; both in the order of the layout. Tensors that
  // `wanted` says no to have no gradient: theirs is left as it is. Empty: all are wanted.
  virtual double gradient(std::span<const float> parameters, const TorchBatch& batch,
                          std::span<const std::uint8_t> wanted, std::span<float> gradients) = 0;

  // Whether masks are best drawn where it computes, since it is far from here, on a graphics card. If so: the mean of
  // the losses of some batches, each under a mask of its own, and its gradient by the logits.
  virtual bool draws_masks() const { return false; }
  virtual double mask_gradient(const MaskDraws& draws, std::span<const TorchBatch> batches,
                               std::span<const std::uint8_t> wanted, std::span<float> gradients);

  // What it says of samples, [row][answer].
  virtual int answers() const = 0;
  virtual std::vector<float> say(std::span<const float> parameters, std::span<const std::uint32_t> rows) = 0;
};

// What a network says of how much each of its modules counts, where its forward names that.
struct NamedGates {
  bool are_named = false;
  std::vector<std::size_t> shape;  // of one sample
  std::vector<float> values;       // [sample][of one sample]
};

// Someone's network. Its samples may be others at every step.
class ScriptedNetwork : public virtual TorchNetwork {
 public:
  // From now on rows are those of these samples, which stay as they are until others take their place.
  virtual void set_samples(std::shared_ptr<const GivenSamples> samples) = 0;
  // What it said of the batch of the last gradient(), [row][answer].
  virtual const std::vector<float>& said_while_learning() const = 0;
  // Of the rows of the last say(): the field `gates` of what its forward gives back.
  virtual const NamedGates& gates() const = 0;
};

// A network of PyTorch's, as torch.jit.save writes it.
struct ScriptFile {
  std::string path;
  std::string bytes;
};
// What is in such a file, without samples.
struct ScriptContents {
  engine::Layout layout;
  std::vector<float> parameters;
  bool is_checked = false;  // it says here what was recorded when it was saved
};

struct TorchPlace {
  std::string device = "cpu";
  int threads = 1;
};

// What src/torch offers.
class TorchLibrary {
 public:
  virtual ~TorchLibrary() = default;

  // Loading runs the file's code. Throws FormatError, also where the file has recorded what it says of some inputs
  // ("check.npz" among its extra files, with `inputs` and `outputs`) and does not say it here.
  virtual ScriptContents read_script(const ScriptFile& file) const = 0;
  // The network on these samples. Throws FormatError where the two do not fit.
  virtual std::unique_ptr<ScriptedNetwork> open_script(const ScriptFile& file,
                                                       std::shared_ptr<const GivenSamples> samples,
                                                       const TorchPlace& place) const = 0;
  // A network on sequences of tokens, with initial parameters that follow from the seed. It says one number of each
  // sample: 1 if it writes the whole answer rightly, each token being the likeliest after those that it wrote before,
  // and 0 otherwise. Throws ConfigError where a sequence is longer than its positions.
  virtual std::unique_ptr<TorchNetwork> open_sequences(const SequenceShape& shape,
                                                       std::shared_ptr<const TokenSequences> samples,
                                                       std::uint64_t seed, const TorchPlace& place) const = 0;
  // A network on images in colour, untrained.
  virtual std::unique_ptr<TorchNetwork> open_colour(const ColourShape& shape,
                                                    std::shared_ptr<const ColourSamples> samples,
                                                    const TorchPlace& place) const = 0;
};

// A file from anyone, and the same for bytes; says once that its code will run. Throws FormatError for pickles, which
// are never read, and for what is no TorchScript.
ScriptFile read_script_file(const std::string& path);
ScriptFile script_from(std::string bytes, const std::string& path);
bool is_torch_script(std::string_view bytes);

// The library lies beside the program and is loaded at the first call. Throws ConfigError if it is not there.
const TorchLibrary& torch_library();

}  // namespace modlab::models
