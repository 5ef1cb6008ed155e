#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "experiments/experiment.h"
#include "studies/study.h"

namespace modlab::studies {

// Runs of any kinds, ready to be carried out. Each kind packs its own; all of them are one piece of work.
class Batch {
 public:
  // Throws ConfigError for runs that cannot be.
  Batch(std::vector<experiments::Run> runs, const experiments::Resources& resources, const experiments::Wanted& wanted);
  // Networks from files in the place of runs.
  static Batch of_networks(std::vector<experiments::Run> runs, const std::vector<std::string>& files);
  Batch(Batch&&) = default;

  const std::vector<experiments::Run>& runs() const { return *runs_; }
  double estimate_seconds();
  // Kinds one after the other. A run either reaches the sink or leaves no trace.
  void execute(const experiments::Sink& sink);
  // The next two from any thread.
  experiments::Status status(double seconds) const;
  void stop();
  bool is_stopped() const { return state_->stopped; }
  std::string remark() const;

 private:
  struct Piece {
    std::size_t runs = 0;
    std::unique_ptr<experiments::Work> work;
  };
  struct State {
    std::atomic<std::size_t> piece{0};
    std::atomic<bool> stopped{false};
  };
  Batch() = default;
  template <typename PrepareKind>
  void prepare(std::vector<experiments::Run> runs, const PrepareKind& prepare_kind);

  // Pieces refer to them.
  std::unique_ptr<std::vector<experiments::Run>> runs_;
  std::vector<Piece> pieces_;
  std::unique_ptr<State> state_ = std::make_unique<State>();
};

// What a store keeps of each run.
experiments::Wanted wanted_for(Keep keep);

}  // namespace modlab::studies
