#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace modlab::models {

// Which weights of a network are kept.
struct MaskTensor {
  std::string name;
  std::vector<std::size_t> shape;
  std::vector<std::uint8_t> kept;  // 1 or 0
  // Weights that are zero in the network itself, as in a sparse or pruned one: no mask keeps them.
  std::size_t absent = 0;

  std::size_t present() const { return kept.size() - absent; }
};

struct WeightMask {
  std::string name;
  std::vector<MaskTensor> tensors;
  std::string network = {};  // what it is a mask of, in a word that no other network has; empty: nobody says

  const MaskTensor* find(const std::string& tensor) const;
};

// Metadata of safetensors: the mask's network, and how many weights of each tensor are zero in it.
inline constexpr auto kMaskedNetworkKey = "modlab.network";
inline constexpr auto kAbsentKey = "modlab.absent";

// What the numbers of a file say of their weights.
enum class Keeping {
  kOne,       // 1 is kept and 0 is not
  kNonzero,   // all but zeros are kept: the weights of a pruned network
  kPositive,  // what is above zero is kept: the logits of a mask
};

// The tensors of a safetensors or npz file from anyone, as a mask with the name of the file. Throws FormatError.
WeightMask read_weight_mask(const std::string& path, Keeping keeping);
// The same for bytes; `path` stands for the file.
WeightMask decode_weight_mask(const std::string& bytes, const std::string& path, Keeping keeping);

}  // namespace modlab::models
