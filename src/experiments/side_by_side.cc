#include "experiments/side_by_side.h"

#include <algorithm>

#include "core/parallel.h"

namespace modlab::experiments {

void run_side_by_side(std::size_t runs, int threads, std::atomic<bool>& stop,
                      const std::function<void(std::size_t run, int threads)>& work) {
  const int at_once = static_cast<int>(std::clamp<std::size_t>(runs, 1, static_cast<std::size_t>(threads)));
  parallel_for(runs, at_once, [&](std::size_t run) {
    if (stop) {
      return;
    }
    try {
      work(run, threads / at_once);
    } catch (...) {
      stop = true;
      throw;
    }
  });
}

}  // namespace modlab::experiments
