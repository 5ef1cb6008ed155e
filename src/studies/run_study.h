#pragma once

#include "models/population.h"
#include "studies/store.h"
#include "studies/study_plan.h"

namespace modlab::studies {

// Trains runs and writes each block to the store as it finishes, measures included. Stops as train_blocks does.
void run_study(const models::Plan& runs, Keep keep, int threads, const engine::Kernels<float>& kernels,
               engine::Progress& progress, Store& store);

// How long the runs will take on so many threads of this machine, in seconds: from a few epochs of every shape.
double estimate_seconds(const models::Plan& runs, Keep keep, int threads, const engine::Kernels<float>& kernels);

}  // namespace modlab::studies
