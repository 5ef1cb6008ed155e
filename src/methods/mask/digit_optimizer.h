#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/team.h"
#include "engine/kernels/kernels.h"
#include "models/digits/panel_layout.h"

namespace modlab::methods {

// Clips gradients by their length and makes a step of Adam, on the threads of a team. Both are done piece by piece, and
// the pieces are the same for any number of threads.
class DigitOptimizer {
 public:
  // `wanted`: which tensors are optimised. `clip`: the longest gradient; 0: any.
  DigitOptimizer(const models::PanelLayout& panels, const std::vector<std::uint8_t>& wanted, double lr, double clip,
                 Team& team, const engine::Kernels<float>& kernels);

  // From now on neighbours that `is_done(begin, count)` says yes to stay as they are, and their gradients do not count.
  void leave_out(const std::function<bool(std::size_t begin, std::size_t count)>& is_done);

  // Everything in panels. Gradients are zero afterwards.
  void update(AlignedVector<float>& parameters, AlignedVector<float>& gradients);

  // The same in parts, for gradients that are clipped together with others: the squared length of what is optimised,
  // or of all parameters' gradients; the factor that cuts a gradient of such a length; and the step.
  double squares(const AlignedVector<float>& gradients) { return squares(gradients, pieces_); }
  double squares_of_all(const AlignedVector<float>& gradients) { return squares(gradients, all_pieces_); }
  double factor_for(double squares) const;
  void step(AlignedVector<float>& parameters, AlignedVector<float>& gradients, double factor);
  // Multiplies all parameters' gradients.
  void scale(float factor, AlignedVector<float>& gradients);

 private:
  struct Piece {
    std::size_t begin = 0;
    std::size_t count = 0;
  };

  double squares(const AlignedVector<float>& values, const std::vector<Piece>& pieces);

  double clip_;
  Team& team_;
  const engine::Kernels<float>& kernels_;
  const engine::solo::Kernels<float>& solo_;
  const engine::solo::MaskedKernels<float>& masked_;
  std::vector<Piece> pieces_;      // of what is optimised
  std::vector<Piece> all_pieces_;  // of all parameters
  std::vector<double> squares_;
  AlignedVector<float> first_, second_;
  AlignedVector<float> rate_, decay_;
  int steps_ = 0;
};

}  // namespace modlab::methods
