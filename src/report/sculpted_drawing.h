#pragma once

#include <nlohmann/json.hpp>

#include "methods/detect/detect.h"
#include "methods/sculpt/trial.h"
#include "tasks/task.h"

namespace modlab::report {

// A sculpted network as the page draws it: modules and units where arrange_modules puts them, and the edges after every
// accepted step of its history, which has its networks. web/src/report.ts describes the form (SculptedDrawing).
nlohmann::ordered_json sculpted_drawing(const methods::SculptedNetwork& carved, const methods::Detection& detection,
                                        const tasks::Task& task);

}  // namespace modlab::report
