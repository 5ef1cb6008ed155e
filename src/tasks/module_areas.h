#pragma once

#include <string>
#include <vector>

#include "tasks/graph_layout.h"
#include "tasks/task.h"

namespace modlab::tasks {

// Modules as coloured areas behind their nodes: in a layout the group of a node is the number of its module. Before the
// layout is arranged, this gives nodes the room that the areas and their names need.
void make_room_for_areas(Layout& layout, const std::vector<TaskModule>& modules);

// The areas as SVG, each with its name; one area for each run of layers in which the module has nodes.
std::string draw_areas(const Layout& layout, const std::vector<TaskModule>& modules);

}  // namespace modlab::tasks
