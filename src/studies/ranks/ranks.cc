#include "studies/ranks/ranks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <thread>
#include <unordered_map>
#include <utility>

#include "core/errors.h"
#include "core/sha256.h"
#include "core/text.h"
#include "studies/ranks/crew.h"
#include "studies/ranks/run_message.h"

namespace modlab::studies {
namespace {

using namespace std::chrono_literals;
using experiments::FinishedRun;
using experiments::Run;

// The first byte of a message says what it is.
constexpr char kHello = 'H';     // to rank 0: threads, a fingerprint of what was planned, the machine
constexpr char kAsk = 'A';       // to rank 0: a thread has nothing to do
constexpr char kFinished = 'F';  // to rank 0: what became of runs
constexpr char kFailed = 'X';    // to rank 0: what is wrong, in words
constexpr char kLeft = 'L';      // to rank 0: the last message
constexpr char kWork = 'W';      // from rank 0: runs to carry out
constexpr char kNoMore = 'N';    // from rank 0: everything is handed out
constexpr char kEnd = 'E';       // from rank 0: stop at once

// MPI waits by looking all the time, which would take a core from training. So this looks now and then: soon after
// something has happened, later and later while nothing does. A look costs some thirty microseconds.
class Pause {
 public:
  void wait(bool has_news) {
    pause_ = has_news ? kShortest : std::min(2 * pause_, kLongest);
    std::this_thread::sleep_for(pause_);
  }

 private:
  static constexpr std::chrono::microseconds kShortest = 100us;
  static constexpr std::chrono::microseconds kLongest = 4ms;
  std::chrono::microseconds pause_ = kShortest;
};
// A rank asks before it has nothing to do: so many pieces of work lie ready.
constexpr int kInReserve = 1;
// One transaction takes at most so many runs of what has arrived meanwhile.
constexpr std::size_t kRunsOfCommit = 1000;
// Ranks end what they are at within a moment. One that does not is not waited for.
constexpr auto kPatienceInTheEnd = 10s;

std::string with_kind(char kind, std::string_view text = {}) { return std::string(1, kind).append(text); }

// Ranks must have planned the same runs: files may differ from machine to machine.
std::string fingerprint_of(const StudyPlan& plan) {
  std::vector<std::uint64_t> numbers;
  for (const PlannedRun& run : plan.runs) {
    numbers.push_back(run.number());
  }
  std::string text = encode_numbers(numbers);
  for (const auto& [name, facts] : plan.tasks()) {
    text += '\n' + name + '\n' + facts.fingerprint;
  }
  return sha256_hex(text + std::to_string(static_cast<int>(plan.keep)));
}

std::string host_name() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return host.data();
}

}  // namespace

StoreRank::StoreRank(Link& link) : link_(link), helpers_(static_cast<std::size_t>(link.size())) {
  helpers_.front().has_left = true;
  helpers_.front().is_told = true;
}

StoreRank::~StoreRank() {
  try {
    tell_all_to_end();
    work_ = nullptr;
    arrived_.clear();
    wait_until_all_left(kPatienceInTheEnd);
    if (all_left()) {
      link_.close();
    }
  } catch (const std::exception&) {
    // The launcher ends the others.
  }
}

int StoreRank::ranks() const { return link_.size(); }

void StoreRank::begin(StudyInWork& work) {
  work_ = &work;
  fingerprint_ = fingerprint_of(work.plan());
  handout_.emplace(work.batch().runs());
}

void StoreRank::execute(const experiments::Resources& resources) {
  takers_ += resources.threads;
  experiments::Resources with_folder = resources;
  with_folder.unfinished = work_->folder() + "/unfinished";
  std::atomic<int> takers{takers_};
  Crew crew(
      with_folder, wanted_for(work_->plan().keep),
      [&] {
        std::vector<Run> runs;
        for (const std::uint32_t place : handout_->next(takers)) {
          runs.push_back(work_->batch().runs()[place]);
        }
        return runs;
      },
      [&](std::vector<FinishedRun>&& finished) {
        work_->take(finished);
        for (const FinishedRun& run : finished) {
          handout_->note_finished(run.run->number);
        }
      });
  bool is_ending = false;
  Pause pause;
  while (!crew.is_done() || !all_left()) {
    const bool has_news = take_messages();
    takers = takers_;
    if (!is_ending && (stopped_ || !failure_.empty())) {
      is_ending = true;
      crew.stop();
      tell_all_to_end();
    }
    if (crew.is_done() && is_ending) {
      wait_until_all_left(kPatienceInTheEnd);
      break;
    }
    pause.wait(has_news);
    if (crew.is_done() && !is_ending) {
      try {
        crew.rethrow();
      } catch (...) {
        tell_all_to_end();
        wait_until_all_left(kPatienceInTheEnd);
        throw;
      }
    }
  }
  crew.rethrow();
  if (!failure_.empty()) {
    throw ConfigError(failure_);
  }
}

bool StoreRank::take_messages() {
  bool has_any = false;
  std::size_t runs = 0;
  while (std::optional<Link::Message> message = link_.receive()) {
    has_any = true;
    take_message(*message);
    runs = 0;
    for (const auto& [origin, arrived] : arrived_) {
      runs += arrived.size();
    }
    if (runs >= kRunsOfCommit) {
      commit();
    }
  }
  commit();
  return has_any;
}

void StoreRank::take_message(const Link::Message& message) {
  const std::string_view text = std::string_view(message.bytes).substr(1);
  Helper& helper = helpers_[static_cast<std::size_t>(message.from)];
  switch (message.bytes.front()) {
    case kHello:
      take_hello(message.from, text);
      break;
    case kAsk:
      hand_out(message.from);
      break;
    case kFinished:
      if (work_ != nullptr) {
        std::vector<FinishedRun> finished =
            decode_finished(text, [this](std::uint64_t number) { return handout_->find(number); });
        std::ranges::move(finished, std::back_inserter(arrived_[helper.origin]));
      }
      break;
    case kFailed:
      fail(std::string(text));
      break;
    case kLeft:
      helper.has_left = true;
      break;
    default:
      throw FormatError("a message of another rank is damaged; start the job again");
  }
}

void StoreRank::take_hello(int from, std::string_view text) {
  if (work_ == nullptr) {
    return;  // nothing came of planning
  }
  const std::vector<std::string> parts = split_text(text, '\n');
  if (parts.size() < 3 || parts[1] != fingerprint_) {
    fail(fmt::format("rank {} plans other runs than rank 0; all machines need the same modlab, study and task files",
                     from));
    return;
  }
  Helper& helper = helpers_[static_cast<std::size_t>(from)];
  helper.threads = static_cast<int>(parse_integer(parts[0]).value_or(1));
  takers_ += helper.threads;
  helper.origin = work_->store().number_of({parts[2], "", ""});
}

void StoreRank::hand_out(int to) {
  std::vector<std::uint64_t> numbers;
  if (work_ != nullptr && !stopped_ && failure_.empty()) {
    for (const std::uint32_t place : handout_->next(takers_)) {
      numbers.push_back(work_->batch().runs()[place].number);
    }
  }
  link_.send(to, numbers.empty() ? with_kind(kNoMore) : with_kind(kWork, encode_numbers(numbers)));
}

void StoreRank::commit() {
  for (auto& [origin, runs] : arrived_) {
    if (runs.empty()) {
      continue;
    }
    work_->take(runs, origin);
    for (const FinishedRun& run : runs) {
      handout_->note_finished(run.run->number);
    }
    runs.clear();
  }
}

void StoreRank::fail(std::string text) { failure_ = failure_.empty() ? std::move(text) : failure_; }

void StoreRank::tell_all_to_end() {
  for (std::size_t rank = 0; rank < helpers_.size(); ++rank) {
    if (!std::exchange(helpers_[rank].is_told, true) && !helpers_[rank].has_left) {
      link_.send(static_cast<int>(rank), with_kind(kEnd));
    }
  }
}

void StoreRank::wait_until_all_left(std::chrono::seconds most) {
  const auto end = std::chrono::steady_clock::now() + most;
  Pause pause;
  while (!all_left() && std::chrono::steady_clock::now() < end) {
    pause.wait(take_messages());
  }
}

bool StoreRank::all_left() const {
  return std::ranges::all_of(helpers_, [](const Helper& helper) { return helper.has_left; });
}

experiments::Status StoreRank::status(double seconds) const {
  const auto finished = static_cast<double>(handout_->finished());
  return {handout_->share_finished(),
          fmt::format("{} of {} runs, {:.0f} a second on {} ranks", handout_->finished(), work_->batch().runs().size(),
                      seconds > 0 ? finished / seconds : 0, link_.size())};
}

namespace {

// Between the threads that train and the one that talks to rank 0.
class Mailbox {
 public:
  // Waits; nothing if there is no more.
  std::vector<std::uint64_t> next() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.wait(lock, [this] { return has_ended_ || !work_.empty(); });
    --waiting_;
    if (work_.empty()) {
      return {};
    }
    std::vector<std::uint64_t> runs = std::move(work_.front());
    work_.pop_front();
    return runs;
  }
  void put_work(std::vector<std::uint64_t> runs) {
    {
      const std::lock_guard lock(mutex_);
      work_.push_back(std::move(runs));
    }
    changed_.notify_one();
  }
  // Whoever waits is let go; with `now`, what is here is left undone.
  void end(bool now) {
    {
      const std::lock_guard lock(mutex_);
      has_ended_ = true;
      if (now) {
        work_.clear();
      }
    }
    changed_.notify_all();
  }
  bool has_ended() {
    const std::lock_guard lock(mutex_);
    return has_ended_;
  }
  // Threads that nothing is here for; negative where there is more than they need.
  int idle() {
    const std::lock_guard lock(mutex_);
    return waiting_ - static_cast<int>(work_.size());
  }

  void put_result(std::string bytes) {
    const std::lock_guard lock(mutex_);
    results_.push_back(std::move(bytes));
  }
  std::deque<std::string> take_results() {
    const std::lock_guard lock(mutex_);
    return std::exchange(results_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::vector<std::uint64_t>> work_;
  std::deque<std::string> results_;
  int waiting_ = 0;
  bool has_ended_ = false;
};

class TrainingRank {
 public:
  // `is_sent_home` becomes true when rank 0 says so.
  TrainingRank(Link& link, const experiments::Resources& resources, const StudyRequest& request, bool& is_sent_home)
      : link_(link), is_sent_home_(is_sent_home), plan_(plan_study(request.study, request.preset)) {
    for (Run& run : missing_runs(plan_, {})) {
      const std::uint64_t number = run.number;
      runs_.emplace(number, std::move(run));
    }
    experiments::Resources with_folder = resources;
    with_folder.unfinished = request.folder + "/unfinished";
    link_.send(0, with_kind(kHello, fmt::format("{}\n{}\n{}", resources.threads, fingerprint_of(plan_),
                                                machine_text(resources))));
    crew_.emplace(
        with_folder, wanted_for(plan_.keep), [this] { return next(); },
        [this](std::vector<FinishedRun>&& finished) {
          mailbox_.put_result(with_kind(kFinished, encode_finished(finished)));
        });
  }
  ~TrainingRank() {
    mailbox_.end(true);
    crew_->stop();
  }
  TrainingRank(const TrainingRank&) = delete;
  TrainingRank& operator=(const TrainingRank&) = delete;

  void serve(const std::function<bool()>& is_interrupted) {
    Pause pause;
    while (true) {
      const bool is_done = crew_->is_done();  // before the results are looked at: there are no more then
      for (std::string& result : mailbox_.take_results()) {
        link_.send(0, std::move(result));
      }
      if (is_done) {
        break;
      }
      const int idle = mailbox_.idle();
      for (; !mailbox_.has_ended() && asked_ < idle + kInReserve; ++asked_) {
        link_.send(0, with_kind(kAsk));
      }
      bool has_news = idle > 0;
      while (const std::optional<Link::Message> message = link_.receive()) {
        take(*message);
        has_news = true;
      }
      if (is_interrupted()) {
        mailbox_.end(true);
        crew_->stop();
      }
      pause.wait(has_news);
    }
    crew_->rethrow();
  }

 private:
  std::vector<Run> next() {
    std::vector<Run> runs;
    for (const std::uint64_t number : mailbox_.next()) {
      runs.push_back(runs_.at(number));
    }
    return runs;
  }

  void take(const Link::Message& message) {
    switch (message.bytes.front()) {
      case kWork:
        --asked_;
        mailbox_.put_work(decode_numbers(std::string_view(message.bytes).substr(1)));
        break;
      case kNoMore:
        --asked_;
        mailbox_.end(false);
        break;
      default:
        is_sent_home_ = true;
        mailbox_.end(true);
        crew_->stop();
    }
  }

  Link& link_;
  bool& is_sent_home_;
  StudyPlan plan_;
  std::unordered_map<std::uint64_t, Run> runs_;
  Mailbox mailbox_;
  int asked_ = 0;  // questions without an answer
  std::optional<Crew> crew_;
};

// Rank 0 says so itself, once it has heard why; it must not find this one gone before.
void wait_to_be_sent_home(Link& link, bool& is_sent_home, const std::function<bool()>& is_interrupted) {
  Pause pause;
  while (!is_sent_home && !is_interrupted()) {
    const std::optional<Link::Message> message = link.receive();
    is_sent_home = message && message->bytes.front() == kEnd;
    pause.wait(message.has_value());
  }
}

}  // namespace

void train_for_store(Link& link, const experiments::Resources& resources,
                     const std::function<StudyRequest()>& make_request, const std::function<bool()>& is_interrupted) {
  bool is_sent_home = false;
  try {
    const StudyRequest request = make_request();
    TrainingRank(link, resources, request, is_sent_home).serve(is_interrupted);
  } catch (const std::exception& error) {
    link.send(0, with_kind(kFailed, fmt::format("rank {} on {}: {}", link.rank(), host_name(), error.what())));
    wait_to_be_sent_home(link, is_sent_home, is_interrupted);
  }
  link.send(0, with_kind(kLeft));
  link.close();
}

}  // namespace modlab::studies
