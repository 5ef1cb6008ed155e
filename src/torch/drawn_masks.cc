#include "torch/drawn_masks.h"

#include "engine/solo/masked_kernels.h"

namespace modlab::on_torch {
namespace {

constexpr std::int64_t kWord = 0xffffffff;

// Threefry (core/random.h) of many counters at once. libtorch has no unsigned words: these are the lower halves of
// longer ones.
using Words = std::array<torch::Tensor, 4>;

void threefry(Words& x, const Words4& key) {
  const std::array<std::int64_t, 5> schedule = {
      key[0], key[1], key[2], key[3], static_cast<std::int64_t>(kThreefryParity ^ key[0] ^ key[1] ^ key[2] ^ key[3])};
  const auto add = [](torch::Tensor& word, const auto& other) { word.add_(other).bitwise_and_(kWord); };
  const auto turned = [](const torch::Tensor& word, int bits) {
    return word.bitwise_left_shift(bits).bitwise_or_(word.bitwise_right_shift(32 - bits)).bitwise_and_(kWord);
  };
  for (std::size_t word = 0; word < x.size(); ++word) {
    add(x[word], schedule[word]);
  }
  for (int round = 0; round < kThreefryRounds; ++round) {
    const int* rotation = kThreefryRotations[round % 8];
    const std::size_t first = round % 2 == 0 ? 1 : 3;
    const std::size_t second = 4 - first;
    add(x[0], x[first]);
    x[first] = turned(x[first], rotation[0]).bitwise_xor_(x[0]);
    add(x[2], x[second]);
    x[second] = turned(x[second], rotation[1]).bitwise_xor_(x[2]);
    if (round % 4 == 3) {
      const auto injection = static_cast<std::size_t>(round / 4 + 1);
      for (std::size_t word = 0; word < x.size(); ++word) {
        add(x[word], schedule[(injection + word) % 5]);
      }
      add(x[3], static_cast<std::int64_t>(injection));
    }
  }
}

}  // namespace

std::array<torch::Tensor, 4> drawn_words(const models::MaskDraws& draws, int group, const torch::Device& device) {
  const torch::TensorOptions options = torch::TensorOptions(torch::kLong).device(device);
  const auto count = std::ssize(draws.weights);
  const engine::solo::MaskNoise noise{draws.key, draws.step, 0, 0};
  const std::int64_t use = engine::solo::mask_use(noise, 4 * group);
  Words words = {torch::arange(count, options), torch::full({count}, static_cast<std::int64_t>(draws.step), options),
                 torch::full({count}, use, options), torch::zeros({count}, options)};
  threefry(words, draws.key);
  for (torch::Tensor& word : words) {
    word = word.bitwise_right_shift(1);
  }
  return words;
}

torch::Tensor masked_weights(const models::MaskDraws& draws, const torch::Tensor& logits, const torch::Tensor& weights,
                             const torch::Tensor& words) {
  if (draws.deterministic) {
    const torch::Tensor soft = torch::sigmoid(logits * draws.inverse_tau);
    return weights * ((logits > 0).to(torch::kFloat) - soft.detach() + soft);
  }
  constexpr std::int64_t kMost = 0x7fffffff;
  constexpr double kStep = 0x1p-31;
  // A word says how far its uniform number is from 1; each has a float's precision near 0.
  const torch::Tensor rest = (words.to(torch::kFloat) * kStep).add_(kStep / 2);
  const torch::Tensor uniform = (words.bitwise_xor(kMost).to(torch::kFloat) * kStep).add_(kStep / 2);
  const torch::Tensor soft = torch::sigmoid((logits + (uniform.log() - rest.log())) * draws.inverse_tau);
  const torch::Tensor chance = torch::sigmoid(logits.detach()).clamp_max(1 - 0x1p-24);
  const torch::Tensor hard = (words < (chance * 0x1p31).to(torch::kLong)).to(torch::kFloat);
  return weights * (hard - soft.detach() + soft);
}

}  // namespace modlab::on_torch
