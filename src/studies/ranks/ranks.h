#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/link.h"
#include "studies/ranks/handout.h"
#include "studies/workbench.h"

// A study that several processes train: rank 0 keeps the store and hands out work, and all of them train. What comes of
// it is what one process would have found.
namespace modlab::studies {

// Rank 0. It trains too, beside the thread that talks to the others.
class StoreRank {
 public:
  // At once, so that the others are sent home whatever becomes of planning.
  explicit StoreRank(Link& link);
  ~StoreRank();
  StoreRank(const StoreRank&) = delete;
  StoreRank& operator=(const StoreRank&) = delete;

  int ranks() const;
  // Before the rest.
  void begin(StudyInWork& work);
  // Until all is finished, or stopped. Throws ConfigError for what goes wrong on another rank, and what the store
  // throws; what was finished before is in the store.
  void execute(const experiments::Resources& resources);
  // The next two from any thread.
  experiments::Status status(double seconds) const;
  void stop() { stopped_ = true; }
  bool is_stopped() const { return stopped_; }

 private:
  // Another rank.
  struct Helper {
    int threads = 0;
    std::int64_t origin = 0;  // as the store numbers them
    bool is_told = false;     // to end
    bool has_left = false;
  };

  bool take_messages();  // whether there were any
  void take_message(const Link::Message& message);
  void take_hello(int from, std::string_view text);
  void hand_out(int to);
  void commit();
  void fail(std::string text);
  void tell_all_to_end();
  void wait_until_all_left(std::chrono::seconds most);
  bool all_left() const;

  Link& link_;
  std::vector<Helper> helpers_;  // [rank]; the first is this one
  StudyInWork* work_ = nullptr;
  std::string fingerprint_;
  std::optional<Handout> handout_;
  int takers_ = 0;                                                         // threads of all ranks that have said so
  std::map<std::int64_t, std::vector<experiments::FinishedRun>> arrived_;  // by origin; not committed yet
  std::string failure_;
  std::atomic<bool> stopped_{false};
};

// Any other rank: trains what it is given until it is sent home. `make_request` plans the study as rank 0 does; what it
// throws is said there. Nothing is printed. It also ends when `is_interrupted`.
void train_for_store(Link& link, const experiments::Resources& resources,
                     const std::function<StudyRequest()>& make_request, const std::function<bool()>& is_interrupted);

}  // namespace modlab::studies
