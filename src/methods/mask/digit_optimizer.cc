#include "methods/mask/digit_optimizer.h"

#include <algorithm>
#include <cmath>

#include "engine/flush_denormals.h"

namespace modlab::methods {
namespace {

// As torch.nn.utils.clip_grad_norm_ has it.
constexpr double kClipEpsilon = 1e-6;
// A piece's parameters, gradients and moments fit the second cache level.
constexpr std::size_t kPiece = 8192;
// What is left out or not as one: the weights from eight inputs to the sixteen units of a panel. Of fewer there would
// be more pieces than work.
constexpr std::size_t kNeighbours = 32;

}  // namespace

DigitOptimizer::DigitOptimizer(const models::PanelLayout& panels, const std::vector<std::uint8_t>& wanted, double lr,
                               double clip, Team& team, const engine::Kernels<float>& kernels)
    : clip_(clip),
      team_(team),
      kernels_(kernels),
      solo_(engine::solo::kernels_for(kernels.target)),
      masked_(engine::solo::masked_kernels_for(kernels.target)),
      first_(panels.size()),
      second_(panels.size()),
      rate_(static_cast<std::size_t>(kernels.lanes), static_cast<float>(lr)),
      decay_(rate_.size()) {
  for (std::size_t tensor = 0; tensor < panels.tensors(); ++tensor) {
    const std::size_t end = panels[tensor].offset + panels[tensor].count;
    for (std::size_t begin = panels[tensor].offset; begin < end; begin += kPiece) {
      const Piece piece = {begin, std::min(kPiece, end - begin)};
      all_pieces_.push_back(piece);
      if (wanted[tensor] != 0) {
        pieces_.push_back(piece);
      }
    }
  }
}

void DigitOptimizer::leave_out(const std::function<bool(std::size_t begin, std::size_t count)>& is_done) {
  std::vector<Piece> left;
  for (const Piece& piece : pieces_) {
    const std::size_t end = piece.begin + piece.count;
    for (std::size_t begin = piece.begin; begin < end; begin += kNeighbours) {
      const std::size_t count = std::min(kNeighbours, end - begin);
      if (is_done(begin, count)) {
        continue;
      }
      const bool follows = !left.empty() && left.back().begin + left.back().count == begin;
      if (follows && left.back().count + count <= kPiece) {
        left.back().count += count;
      } else {
        left.push_back({begin, count});
      }
    }
  }
  pieces_ = std::move(left);
}

double DigitOptimizer::squares(const AlignedVector<float>& values, const std::vector<Piece>& pieces) {
  squares_.resize(pieces.size());
  team_.run(pieces.size(), [&](std::size_t index) {
    const engine::FlushDenormals flush;
    const float* numbers = values.data() + pieces[index].begin;
    squares_[index] = static_cast<double>(solo_.dot(numbers, numbers, pieces[index].count));
  });
  double sum = 0;
  for (const double part : squares_) {
    sum += part;
  }
  return sum;
}

void DigitOptimizer::scale(float factor, AlignedVector<float>& gradients) {
  team_.run(all_pieces_.size(), [&](std::size_t index) {
    const engine::FlushDenormals flush;
    masked_.scale(factor, gradients.data() + all_pieces_[index].begin, all_pieces_[index].count);
  });
}

double DigitOptimizer::factor_for(double squares) const {
  return clip_ > 0 ? std::min(1.0, clip_ / (std::sqrt(squares) + kClipEpsilon)) : 1;
}

void DigitOptimizer::update(AlignedVector<float>& parameters, AlignedVector<float>& gradients) {
  step(parameters, gradients, clip_ > 0 ? factor_for(squares(gradients)) : 1);
}

void DigitOptimizer::step(AlignedVector<float>& parameters, AlignedVector<float>& gradients, double factor) {
  const engine::AdamScales scales = engine::AdamScales::after(++steps_);
  team_.run(pieces_.size(), [&](std::size_t index) {
    const engine::FlushDenormals flush;
    const auto [begin, count] = pieces_[index];
    if (factor < 1) {
      masked_.scale(static_cast<float>(factor), gradients.data() + begin, count);
    }
    kernels_.update({.kind = engine::OptimizerKind::kAdam,
                     .parameters = parameters.data() + begin,
                     .gradients = gradients.data() + begin,
                     .first = first_.data() + begin,
                     .second = second_.data() + begin,
                     .mask = nullptr,
                     .rate = rate_.data(),
                     .weight_decay = decay_.data(),
                     .scales = scales,
                     .count = static_cast<int>(count) / kernels_.lanes});
  });
}

}  // namespace modlab::methods
