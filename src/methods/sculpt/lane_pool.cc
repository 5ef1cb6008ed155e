#include "methods/sculpt/lane_pool.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <vector>

#include "core/parallel.h"
#include "core/thread_seconds.h"

namespace modlab::methods {
namespace {

// Trials that are under way at a time: enough to fill the lanes of some threads, few enough for their networks to fit
// into memory.
constexpr int kOpenTrials = 64;

// Calls that can share a block.
struct BlockKind {
  TrainingRecipe recipe;
  std::size_t layers = 0;

  friend auto operator<=>(const BlockKind&, const BlockKind&) = default;
};

class LanePool {
 public:
  LanePool(std::span<const TrialSpec> specs, const engine::Kernels<float>& kernels, SculptProgress& progress,
           const TrialSink& sink)
      : specs_(specs), kernels_(kernels), progress_(progress), sink_(sink), trials_(specs.size()) {
    // Trials of a kind after each other, so that they are under way together.
    order_.resize(specs.size());
    for (std::size_t trial = 0; trial < specs.size(); ++trial) {
      order_[trial] = trial;
    }
    std::ranges::stable_sort(order_, [&](std::size_t a, std::size_t b) { return kind_of(a) < kind_of(b); });
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (!progress_.engine.stop) {
      Batch batch = next_batch();
      if (batch.calls.empty()) {
        if (in_flight_ == 0) {
          break;
        }
        changed_.wait(lock);
        continue;
      }
      ++in_flight_;
      lock.unlock();
      std::vector<Trial::Call> more = train(batch);
      lock.lock();
      --in_flight_;
      for (Trial::Call& call : more) {
        add(std::move(call));
      }
      changed_.notify_all();
    }
    changed_.notify_all();
  }

  void fail(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(failure);
    progress_.engine.stop = true;
    changed_.notify_all();
  }

  void rethrow() const {
    if (failure_) {
      std::rethrow_exception(failure_);
    }
  }

 private:
  struct Batch {
    const TrainingRecipe* recipe = nullptr;
    std::vector<Trial::Call> calls;
  };

  BlockKind kind_of(std::size_t trial) const {
    const TrialSettings& settings = *specs_[trial].settings;
    return {settings.recipe, settings.hidden.size()};
  }

  // Larger networks first, and those of a size together: a block is as wide as its widest network.
  static std::size_t cost(const PrunedMlp& network) {
    std::size_t cost = 0;
    const std::vector<std::vector<int>> units = used_units(network);
    for (std::size_t layer = 0; layer + 1 < units.size(); ++layer) {
      cost += units[layer].size() * units[layer + 1].size();
    }
    return cost;
  }

  void add(Trial::Call call) {
    const TrialSettings& settings = call.trial->settings();
    const std::size_t size = cost(call.network);
    ready_[{settings.recipe, settings.hidden.size()}].emplace(size, std::move(call));
  }

  std::size_t most_ready() const {
    std::size_t most = 0;
    for (const auto& [kind, calls] : ready_) {
      most = std::max(most, calls.size());
    }
    return most;
  }

  void admit_trials() {
    const auto lanes = static_cast<std::size_t>(kernels_.lanes);
    while (next_trial_ < order_.size() && open_trials_ < kOpenTrials && most_ready() < lanes) {
      const std::size_t number = order_[next_trial_++];
      trials_[number] = std::make_unique<Trial>(*specs_[number].settings, specs_[number].seed);
      ++open_trials_;
      add(trials_[number]->start());
    }
  }

  Batch next_batch() {
    admit_trials();
    const auto fullest =
        std::ranges::max_element(ready_, {}, [](const auto& kind_and_calls) { return kind_and_calls.second.size(); });
    Batch batch;
    if (fullest == ready_.end()) {
      return batch;
    }
    auto& calls = fullest->second;
    while (!calls.empty() && batch.calls.size() < static_cast<std::size_t>(kernels_.lanes)) {
      const auto largest = std::prev(calls.end());
      batch.calls.push_back(std::move(largest->second));
      calls.erase(largest);
    }
    batch.recipe = &batch.calls.front().trial->settings().recipe;
    if (calls.empty()) {
      ready_.erase(fullest);
    }
    return batch;
  }

  std::vector<Trial::Call> train(const Batch& batch) {
    std::vector<TrainingCall> calls;
    for (const Trial::Call& call : batch.calls) {
      calls.push_back({&call.network, call.seed});
    }
    const double begin = thread_seconds();
    std::vector<TrainedMlp> trained = train_side_by_side(*batch.recipe, calls, kernels_, progress_.engine);
    const double share = (thread_seconds() - begin) / static_cast<double>(calls.size());
    std::vector<Trial::Call> more;
    for (std::size_t call = 0; call < trained.size(); ++call) {  // none if it was asked to stop
      Trial& trial = *batch.calls[call].trial;
      progress_.edges_left = trained[call].network.edge_count();
      Trial::Next next = trial.take(batch.calls[call], std::move(trained[call]), share);
      ++progress_.trainings;
      std::ranges::move(next.calls, std::back_inserter(more));
      if (next.over) {
        finish(trial);
      }
    }
    return more;
  }

  // What becomes of a trial takes its time, and the others need not wait for it.
  void finish(const Trial& trial) {
    std::unique_ptr<Trial> over;
    std::size_t number = 0;
    {
      const std::lock_guard lock(mutex_);
      const auto place = std::ranges::find(trials_, &trial, [](const auto& pointer) { return pointer.get(); });
      over = std::move(*place);
      number = static_cast<std::size_t>(place - trials_.begin());
      --open_trials_;
    }
    sink_(number, over->outcome());
    ++progress_.trials_done;
  }

  std::span<const TrialSpec> specs_;
  const engine::Kernels<float>& kernels_;
  SculptProgress& progress_;
  const TrialSink& sink_;
  std::vector<std::unique_ptr<Trial>> trials_;  // those under way
  std::vector<std::size_t> order_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<BlockKind, std::multimap<std::size_t, Trial::Call>> ready_;  // by cost
  std::size_t next_trial_ = 0;
  int open_trials_ = 0;
  int in_flight_ = 0;
  std::exception_ptr failure_;
};

}  // namespace

void sculpt_all(std::span<const TrialSpec> trials, int threads, const engine::Kernels<float>& kernels,
                SculptProgress& progress, const TrialSink& sink) {
  LanePool pool(trials, kernels, progress, sink);
  const auto work = [&] {
    try {
      pool.work();
    } catch (...) {
      pool.fail(std::current_exception());
    }
  };
  on_threads(threads, work);
  pool.rethrow();
}

}  // namespace modlab::methods
