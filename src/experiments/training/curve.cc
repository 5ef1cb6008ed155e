#include "experiments/training/curve.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "io/compress.h"

namespace modlab::experiments {
namespace {

static_assert(std::endian::native == std::endian::little, "the store's numbers are little-endian");

template <typename Value>
void append(std::string& bytes, Value value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

std::vector<int> loss_epochs(int epochs) {
  std::vector<int> chosen;
  for (int epoch = 1; epoch < epochs; epoch = std::max(epoch + 1, epoch + epoch / 20)) {
    chosen.push_back(epoch);
  }
  chosen.push_back(epochs);
  return chosen;
}

std::string encode_curve(const std::vector<engine::Scores>& curve, std::size_t parts) {
  std::string bytes;
  const std::vector<int> chosen = loss_epochs(static_cast<int>(curve.size()));
  bytes.reserve(parts * 4 * (curve.size() + chosen.size()));
  for (std::size_t part = 0; part < parts; ++part) {
    // Differences: a curve stands still most of the time, and zeros cost next to nothing.
    std::int32_t before = 0;
    for (const engine::Scores& scores : curve) {
      const auto now = static_cast<std::int32_t>(scores.parts[part].right_bits);
      append(bytes, now - before);
      before = now;
    }
  }
  for (std::size_t part = 0; part < parts; ++part) {
    for (const int epoch : chosen) {
      append(bytes, curve[static_cast<std::size_t>(epoch) - 1].parts[part].loss);
    }
  }
  return io::compress(bytes);
}

Curve decode_curve(std::string_view stream, int epochs, std::size_t parts, const std::string& source) {
  Curve curve;
  curve.loss_epochs = loss_epochs(epochs);
  curve.right_bits.resize(parts);
  curve.loss.resize(parts);
  const auto count = static_cast<std::size_t>(epochs);
  const std::string bytes = io::expand(stream, parts * 4 * (count + curve.loss_epochs.size()), source);
  const char* at = bytes.data();
  for (std::vector<std::uint32_t>& bits : curve.right_bits) {
    // Unsigned, so that steps of a damaged curve may run over: whoever asks for it checks the counts.
    std::uint32_t sum = 0;
    for (std::size_t epoch = 0; epoch < count; ++epoch, at += 4) {
      std::uint32_t step = 0;
      std::memcpy(&step, at, 4);
      sum += step;
      bits.push_back(sum);
    }
  }
  for (std::vector<float>& loss : curve.loss) {
    loss.resize(curve.loss_epochs.size());
    std::memcpy(loss.data(), at, 4 * loss.size());
    at += 4 * loss.size();
  }
  return curve;
}

}  // namespace modlab::experiments
