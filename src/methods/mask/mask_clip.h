#pragma once

namespace modlab::methods {

// Over what the length of a gradient is taken before it is cut: what is optimised, or also what the published code
// leaves lying around, the weights' gradients of all steps so far and the last ones of earlier masks.
enum class MaskClip { kLogits, kPublished };

}  // namespace modlab::methods
