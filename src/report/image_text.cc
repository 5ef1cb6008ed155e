#include "report/image_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/learned_routing.h"
#include "tasks/routing.h"

namespace modlab::report {
namespace {

using measures::CombinationScore;

std::string image_wiring_text(const measures::ImageView& view) {
  const models::ImageRouting& routing = *view.routing;
  std::string text;
  for (std::size_t slot = 0; slot < routing.images.size(); ++slot) {
    text +=
        fmt::format("image slot {} reads image {}{}\n", slot + 1, routing.images[slot] + 1,
                    routing.members.empty() ? "" : fmt::format(" with shared module {}", routing.members[slot] + 1));
  }
  text += fmt::format("{}{}\n", tasks::wiring_text(routing.bits),
                      routing.bits.modules.empty() ? "" : "; modules " + tasks::modules_text(routing.bits));
  if (!std::isnan(view.measures.edit_distance)) {
    text += fmt::format("Edit distance to the true graph: {:.0f}\n", view.measures.edit_distance);
  }
  return text;
}

std::string image_modules_text(const measures::ImageView& view, bool has_pool) {
  std::string text = "\nWhat an image module says, on average, to the test images of each digit\n";
  for (std::size_t module = 0; module < view.modules.size(); ++module) {
    const measures::ImageModuleView& here = view.modules[module];
    text += fmt::format("{} {}: |correlation| with the digit's bits {:.3f}\n", has_pool ? "shared module" : "module",
                        module + 1, here.specialisation);
    std::string heading = "         ";
    for (std::size_t digit = 0; digit < here.means.front().size(); ++digit) {
      heading += fmt::format("{:>8}", digit);
    }
    text += heading + "\n";
    for (std::size_t output = 0; output < here.means.size(); ++output) {
      std::string line = fmt::format("  out {:<3}", output + 1);
      for (const double mean : here.means[output]) {
        line += fmt::format("{:>8.2f}", mean);
      }
      text += line + "\n";
    }
  }
  return text;
}

// Two digits as a square: first digit down, second across.
std::string digit_pairs_text(const measures::ImageView& view, const tasks::ImageInputs& inputs) {
  std::string text =
      "\nPercent of right bits by digit pair (first digit down), with images that were not trained on;\n"
      "[ ] unseen in training, ( ) validation\n   ";
  for (int digit = 0; digit < inputs.digits; ++digit) {
    text += fmt::format("{:>7}", digit);
  }
  text += "\n";
  for (int first = 0; first < inputs.digits; ++first) {
    std::string line = fmt::format("{:>3} ", first);
    for (int second = 0; second < inputs.digits; ++second) {
      const auto found = std::ranges::find_if(view.combinations, [&](const CombinationScore& score) {
        return tasks::digits_of(inputs, score.row) == std::vector<int>{first, second};
      });
      if (found == view.combinations.end()) {
        line += "       ";
        continue;
      }
      const char* brackets = found->part == engine::Part::kTest         ? "[]"
                             : found->part == engine::Part::kValidation ? "()"
                                                                        : "  ";
      line += fmt::format("{:>7}",
                          fmt::format("{}{:.0f}{}", brackets[0], 100.0 * found->right_bits / found->bits, brackets[1]));
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace

std::string image_text(const measures::ImageView& view, const tasks::ImageInputs& inputs) {
  std::string text;
  if (!view.routing) {
    text += "A network without modules has no routing to show.\n";
  } else {
    text += image_wiring_text(view) + image_modules_text(view, !view.routing->members.empty());
  }
  return inputs.images == 2 ? text + digit_pairs_text(view, inputs) : text;
}

}  // namespace modlab::report
