#include "experiments/mask/mask_picture.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace modlab::experiments {
namespace {

using methods::MaskOutcome;
using models::MaskTensor;

constexpr double kShareSteps = 63;

struct MatrixSide {
  std::size_t rows = 0;
  std::size_t columns = 0;
};

// Units are rows; what is no matrix is one row.
MatrixSide matrix_side(const MaskTensor& tensor) {
  const std::size_t rows = tensor.shape.size() > 1 ? tensor.shape.front() : 1;
  return {rows, rows == 0 ? 0 : tensor.kept.size() / rows};
}

// How many logits have a chance to keep in each bin.
std::vector<std::size_t> chance_histogram(const std::vector<float>& logits, const std::vector<std::uint8_t>& idle) {
  std::vector<std::size_t> counts(kChanceBins);
  for (std::size_t at = 0; at < logits.size(); ++at) {
    if (!idle.empty() && idle[at] != 0) {
      continue;
    }
    const double chance = 1 / (1 + std::exp(-static_cast<double>(logits[at])));
    const auto bin = static_cast<std::size_t>(chance * static_cast<double>(kChanceBins));
    ++counts[std::min(bin, kChanceBins - 1)];
  }
  return counts;
}

// The masks of the targets on one tensor.
class TensorMasks {
 public:
  TensorMasks(const MaskOutcome& outcome, std::size_t tensor) {
    for (std::size_t target = 0; target < outcome.targets.size(); ++target) {
      masks_.push_back(&outcome.of_target(target).mask.tensors[tensor]);
    }
  }

  std::string letters_of_weights(std::size_t weights) const {
    std::string letters;
    for (std::size_t weight = 0; weight < weights; ++weight) {
      for (std::size_t first = 0; first < masks_.size(); first += kTargetsPerLetter) {
        std::size_t set = 0;
        for (std::size_t target = first; target < std::min(first + kTargetsPerLetter, masks_.size()); ++target) {
          set |= masks_[target]->kept[weight] != 0 ? std::size_t{1} << (target - first) : 0;
        }
        letters += kPictureLetters[set];
      }
    }
    return letters;
  }

  std::string letters_of_blocks(const MatrixSide& side, const MatrixSide& blocks) const {
    std::string letters;
    for (std::size_t down = 0; down < blocks.rows; ++down) {
      for (std::size_t across = 0; across < blocks.columns; ++across) {
        const auto border = [](std::size_t at, std::size_t of, std::size_t size) { return at * size / of; };
        letters += block_letters(
            {border(down, blocks.rows, side.rows), border(across, blocks.columns, side.columns)},
            {border(down + 1, blocks.rows, side.rows), border(across + 1, blocks.columns, side.columns)}, side.columns);
      }
    }
    return letters;
  }

 private:
  std::string block_letters(const MatrixSide& begin, const MatrixSide& end, std::size_t columns) const {
    std::vector<std::size_t> counts(masks_.size() + 1);  // last: what several keep
    for (std::size_t row = begin.rows; row < end.rows; ++row) {
      for (std::size_t column = begin.columns; column < end.columns; ++column) {
        std::size_t keepers = 0;
        std::size_t last = 0;
        for (std::size_t target = 0; target < masks_.size(); ++target) {
          if (masks_[target]->kept[row * columns + column] != 0) {
            ++keepers;
            last = target;
          }
        }
        if (keepers > 0) {
          ++counts[keepers == 1 ? last : masks_.size()];
        }
      }
    }
    const auto size = static_cast<double>((end.rows - begin.rows) * (end.columns - begin.columns));
    std::string letters;
    for (const std::size_t count : counts) {
      const auto step = static_cast<std::size_t>(std::lround(kShareSteps * static_cast<double>(count) / size));
      letters += kPictureLetters[count > 0 ? std::max<std::size_t>(1, step) : 0];
    }
    return letters;
  }

  std::vector<const MaskTensor*> masks_;
};

}  // namespace

nlohmann::ordered_json mask_picture(const MaskOutcome& outcome) {
  const std::vector<MaskTensor>& tensors = outcome.stages.front().mask.tensors;
  std::size_t weights = 0;
  std::size_t longest = 0;
  for (const MaskTensor& tensor : tensors) {
    weights += tensor.kept.size();
    longest = std::max({longest, matrix_side(tensor).rows, matrix_side(tensor).columns});
  }
  // A picture stays small where tensors are many.
  const std::size_t most_blocks = tensors.size() > kManyTensors ? kFewBlocks : kMostBlocks;
  const bool is_exact = weights <= kMostExactWeights && longest <= kLongestExactSide;
  nlohmann::ordered_json picture;
  picture["histograms"] = nlohmann::ordered_json::array();
  for (const methods::MaskStage& stage : outcome.stages) {
    picture["histograms"].push_back(chance_histogram(stage.logits, outcome.idle_logits));
  }
  picture["exact"] = is_exact;
  picture["tensors"] = nlohmann::ordered_json::array();
  for (std::size_t tensor = 0; tensor < tensors.size(); ++tensor) {
    const MatrixSide side = matrix_side(tensors[tensor]);
    const MatrixSide cells =
        is_exact ? side : MatrixSide{std::min(side.rows, most_blocks), std::min(side.columns, most_blocks)};
    const TensorMasks masks(outcome, tensor);
    picture["tensors"].push_back({{"name", tensors[tensor].name},
                                  {"shape", {side.rows, side.columns}},
                                  {"cells", {cells.rows, cells.columns}},
                                  {"letters", is_exact ? masks.letters_of_weights(tensors[tensor].kept.size())
                                                       : masks.letters_of_blocks(side, cells)}});
  }
  return picture;
}

}  // namespace modlab::experiments
