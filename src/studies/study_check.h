#pragma once

#include "studies/study.h"

// What a study's file may say without a line of it being wrong, and what it cannot mean.
namespace modlab::studies {

// Figures, claims and the gallery name only series that the study has. Throws ConfigError with the nearest name.
void check_series(const Study& study);

// Every setting that is given means something to a run: those of a grid to one of its own. Throws ConfigError.
void check_settings(const Study& study);
// The same of settings in "lr=0.1" from a command line, which the study has taken.
void check_overrides(const Study& study, const std::vector<std::string>& overrides);

}  // namespace modlab::studies
