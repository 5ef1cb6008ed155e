#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

namespace modlab::experiments {

// Calls work(run, threads that it may have), with several runs beside each other first. What one of them throws ends
// them all, and `stop` is set.
void run_side_by_side(std::size_t runs, int threads, std::atomic<bool>& stop,
                      const std::function<void(std::size_t run, int threads)>& work);

}  // namespace modlab::experiments
