#pragma once

#include <array>
#include <cstddef>

namespace modlab::tasks {

// Of a module's area in drawings of tasks and of networks; web/src/palette.ts has the same.
struct AreaColours {
  const char* fill;
  const char* line;
};

// Pale enough for text and wires on them; neighbours in the list differ in hue.
inline constexpr std::array<AreaColours, 8> kAreaColours = {{{"#dde5f6", "#44558f"},
                                                             {"#fde3d8", "#8f5030"},
                                                             {"#e0eed2", "#44702c"},
                                                             {"#f4efc9", "#77661c"},
                                                             {"#ece0f3", "#6b4488"},
                                                             {"#d8f0f0", "#2c6b70"},
                                                             {"#f9dde6", "#8f3f5c"},
                                                             {"#e6e6e1", "#5a5a50"}}};

constexpr const AreaColours& area_colours(std::size_t module) { return kAreaColours[module % kAreaColours.size()]; }

}  // namespace modlab::tasks
