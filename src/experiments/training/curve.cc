#include "experiments/training/curve.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "core/errors.h"
#include "io/compress.h"

namespace modlab::experiments {
namespace {

static_assert(std::endian::native == std::endian::little, "the store's numbers are little-endian");

template <typename Value>
void append(std::string& bytes, Value value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

std::vector<std::size_t> loss_points(std::size_t points) {
  std::vector<std::size_t> chosen;
  for (std::size_t point = 1; point < points; point += std::max<std::size_t>(1, point / 20)) {
    chosen.push_back(point);
  }
  chosen.push_back(points);
  return chosen;
}

std::string encode_curve(const std::vector<engine::Scores>& curve, std::size_t parts) {
  std::string bytes;
  const std::vector<std::size_t> chosen = loss_points(curve.size());
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
    for (const std::size_t point : chosen) {
      append(bytes, curve[point - 1].parts[part].loss);
    }
  }
  return io::compress(bytes);
}

Curve decode_curve(std::string_view stream, int epochs, std::size_t parts, const std::string& source) {
  Curve curve;
  curve.epochs = engine::curve_epochs(epochs);
  const auto expanded = [&] {
    const std::size_t points = curve.epochs.size();
    return io::expand(stream, parts * 4 * (points + loss_points(points).size()), source);
  };
  std::string bytes;
  try {
    bytes = expanded();
  } catch (const FormatError&) {
    if (curve.epochs.size() == static_cast<std::size_t>(epochs)) {
      throw;
    }
    curve.epochs.resize(static_cast<std::size_t>(epochs));
    std::iota(curve.epochs.begin(), curve.epochs.end(), 1);
    bytes = expanded();
  }
  for (const std::size_t point : loss_points(curve.epochs.size())) {
    curve.loss_epochs.push_back(curve.epochs[point - 1]);
  }
  curve.right_bits.resize(parts);
  curve.loss.resize(parts);
  const char* at = bytes.data();
  for (std::vector<std::uint32_t>& bits : curve.right_bits) {
    // Unsigned, so that steps of a damaged curve may run over: whoever asks for it checks the counts.
    std::uint32_t sum = 0;
    for (std::size_t point = 0; point < curve.epochs.size(); ++point, at += 4) {
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
