#include "studies/ranks/crew.h"

#include <utility>

namespace modlab::studies {

Crew::Crew(experiments::Resources resources, const experiments::Wanted& wanted, Next next, experiments::Sink sink)
    : resources_(std::move(resources)), wanted_(wanted), next_(std::move(next)), sink_(std::move(sink)) {
  const int threads = std::exchange(resources_.threads, 1);
  working_ = threads;
  for (int thread = 0; thread < threads; ++thread) {
    threads_.emplace_back([this] { work(); });
  }
}

Crew::~Crew() { stop(); }

void Crew::stop() {
  stopped_ = true;
  const std::lock_guard lock(mutex_);
  for (Batch* batch : batches_) {
    batch->stop();
  }
}

void Crew::rethrow() const {
  if (failure_) {
    std::rethrow_exception(failure_);
  }
}

void Crew::work() {
  try {
    while (!stopped_) {
      std::vector<experiments::Run> runs = next_();
      if (runs.empty()) {
        break;
      }
      carry_out(std::move(runs));
    }
  } catch (...) {
    {
      const std::lock_guard lock(mutex_);
      failure_ = failure_ ? failure_ : std::current_exception();
    }
    stop();  // the others need not train what nobody can take
  }
  --working_;
}

void Crew::carry_out(std::vector<experiments::Run> runs) {
  Batch batch(std::move(runs), resources_, wanted_);
  {
    const std::lock_guard lock(mutex_);
    batches_.push_back(&batch);
  }
  struct Leave {
    Crew& crew;
    Batch* batch;
    ~Leave() {
      const std::lock_guard lock(crew.mutex_);
      std::erase(crew.batches_, batch);
    }
  } const leave{*this, &batch};
  if (!stopped_) {  // it may have been told so before the batch was there to be told
    batch.execute(sink_);
  }
}

}  // namespace modlab::studies
