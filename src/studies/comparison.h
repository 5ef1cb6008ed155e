#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "studies/judgement.h"

namespace modlab::studies {

// What became of a run, for a comparison on the spot.
struct ComparedRun {
  const experiments::Run* run = nullptr;
  const experiments::Numbers* numbers = nullptr;
};

// The headline of runs with one value of a setting minus that of runs with another, paired by split and seed; all other
// settings are the same.
struct Comparison {
  std::string value;
  std::string reference;
  std::string where;  // "task depth2, ratio 0.3": settings that differ between comparisons; empty where none do
  const experiments::Measure* measure = nullptr;
  Evidence evidence;
};

// Every value of the setting against the first one. An empty name stands for `model` if runs differ in it, and
// otherwise for the first setting in which they do. Throws ConfigError where there is nothing to compare.
std::vector<Comparison> compare_runs(std::span<const ComparedRun> runs, const std::string& setting);

}  // namespace modlab::studies
