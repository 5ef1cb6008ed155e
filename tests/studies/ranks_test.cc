#include "studies/ranks/ranks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "core/errors.h"
#include "studies/ranks/run_message.h"
#include "temporary_folder.h"

namespace modlab::studies {
namespace {

constexpr auto kRanksStudy = R"(
name: small
title: A study for several ranks
tune: [lr]
parameters:
  task: {value: depth1}
  split_seed: {values: [40, 41]}
  seed: {values: [0..19]}
  epochs: {value: 40}
  lr: {values: [0.1, 0.01]}
grids:
  - {series: modular, parameters: {model: modular}}
  - {series: shared, parameters: {model: modular-shared}}
)";

// Ranks that are threads, and messages that lie in queues.
class QueueLink : public Link {
 public:
  struct Queues {
    std::mutex mutex;
    std::vector<std::deque<Message>> of;  // [rank]
    int closed = 0;
  };
  QueueLink(std::shared_ptr<Queues> queues, int rank) : queues_(std::move(queues)), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(queues_->of.size()); }
  int cores() const override { return 1; }
  void send(int to, std::string bytes) override {
    const std::lock_guard lock(queues_->mutex);
    queues_->of[static_cast<std::size_t>(to)].push_back({rank_, std::move(bytes)});
  }
  std::optional<Message> receive() override {
    const std::lock_guard lock(queues_->mutex);
    auto& own = queues_->of[static_cast<std::size_t>(rank_)];
    if (own.empty()) {
      return std::nullopt;
    }
    Message message = std::move(own.front());
    own.pop_front();
    return message;
  }
  void close() override {
    const std::lock_guard lock(queues_->mutex);
    ++queues_->closed;
  }

 private:
  std::shared_ptr<Queues> queues_;
  int rank_;
};

class Ranks : public testing::Test {
 protected:
  Ranks() {
    folder_.write("small.yaml", kRanksStudy);
    folder_.write("other.yaml", std::string(kRanksStudy) + "  - {series: dense, parameters: {model: dense}}\n");
  }

  StudyRequest request(const std::string& out, const std::string& file = "small.yaml") const {
    return make_request(folder_.file(file), {}, "", folder_.file(out));
  }

  // A study on so many ranks; `of_rank` says what each of them plans.
  void train(int ranks, const StudyRequest& own, const std::function<StudyRequest(int rank)>& of_rank,
             const std::function<void(StoreRank&)>& meanwhile = nullptr) {
    queues_ = std::make_shared<QueueLink::Queues>();
    queues_->of.resize(static_cast<std::size_t>(ranks));
    std::vector<std::jthread> others;
    for (int rank = 1; rank < ranks; ++rank) {
      others.emplace_back([this, rank, &of_rank] {
        QueueLink link(queues_, rank);
        train_for_store(
            link, {2, &engine::kernels()}, [&] { return of_rank(rank); }, [] { return false; });
      });
    }
    QueueLink link(queues_, 0);
    StoreRank store_rank(link);
    StudyInWork work(own, {1, &engine::kernels()});
    store_rank.begin(work);
    if (meanwhile) {
      meanwhile(store_rank);
    }
    store_rank.execute({1, &engine::kernels()});
    left_ = work.missing();
    if (left_ == 0) {
      work.finish();
    }
  }

  // Everything that a store has of its runs, but for seconds and machines.
  static std::vector<RunRows> rows_in(const std::string& folder) {
    Store store = Store::open(folder);
    std::vector<std::string> measures = store.measures();
    std::ranges::sort(measures);
    RunRowsReader reader = store.rows(measures);
    std::vector<RunRows> rows;
    while (std::optional<RunRows> row = reader.next()) {
      rows.push_back(std::move(*row));
    }
    return rows;
  }
  void expect_same(const std::string& one, const std::string& other) const {
    const std::vector<RunRows> left = rows_in(folder_.file(one));
    const std::vector<RunRows> right = rows_in(folder_.file(other));
    ASSERT_EQ(left.size(), right.size());
    for (std::size_t row = 0; row < left.size(); ++row) {
      EXPECT_TRUE(left[row].is_equal(right[row])) << left[row].id;
    }
  }
  void train_alone(const std::string& out) const {
    StudyInWork work(request(out), {2, &engine::kernels()});
    work.execute();
    work.finish();
  }

  test::TemporaryFolder folder_;
  std::shared_ptr<QueueLink::Queues> queues_;
  std::size_t left_ = 0;
};

TEST_F(Ranks, FindWhatOneProcessFinds) {
  train_alone("alone");
  const StudyRequest own = request("together");
  train(4, own, [&](int) { return own; });
  EXPECT_EQ(left_, 0U);
  expect_same("alone", "together");
  EXPECT_EQ(queues_->closed, 4);
  const std::vector<Origin> origins = Store::open(own.folder).origins();
  EXPECT_GE(origins.size(), 1U);
  for (const Origin& origin : origins) {
    EXPECT_NE(origin.machine, "");
  }
}

TEST_F(Ranks, GoOnWhereTheyWereStopped) {
  train_alone("alone");
  const StudyRequest own = request("together");
  train(
      3, own, [&](int) { return own; }, [](StoreRank& rank) { rank.stop(); });
  EXPECT_GT(left_, 0U);
  EXPECT_EQ(queues_->closed, 3);
  train(2, own, [&](int) { return own; });
  EXPECT_EQ(left_, 0U);
  expect_same("alone", "together");
}

TEST_F(Ranks, WhatFailsOnOneIsSaidByTheFirst) {
  const StudyRequest own = request("together");
  try {
    train(3, own, [&](int rank) {
      if (rank == 2) {
        throw ConfigError("this machine has no such file");
      }
      return own;
    });
    ADD_FAILURE() << "nobody complains";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("rank 2 on "), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("no such file"), std::string::npos) << error.what();
  }
  EXPECT_EQ(queues_->closed, 3);
  // What was trained before is there, and the rest is trained now.
  train(2, own, [&](int) { return own; });
  train_alone("alone");
  expect_same("alone", "together");
}

TEST_F(Ranks, ThatPlanAnotherStudyAreRefused) {
  const StudyRequest own = request("together");
  const StudyRequest other = request("together", "other.yaml");
  try {
    train(2, own, [&](int) { return other; });
    ADD_FAILURE() << "nobody complains";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("rank 1 plans other runs"), std::string::npos) << error.what();
  }
}

TEST_F(Ranks, AreSentHomeIfTheFirstCannotPlan) {
  const StudyRequest own = request("together");
  queues_ = std::make_shared<QueueLink::Queues>();
  queues_->of.resize(2);
  std::jthread other([&] {
    QueueLink link(queues_, 1);
    train_for_store(
        link, {1, &engine::kernels()}, [&] { return own; }, [] { return false; });
  });
  QueueLink link(queues_, 0);
  { const StoreRank rank(link); }
  other.join();
  EXPECT_EQ(queues_->closed, 2);
}

TEST(RunMessages, AreTheSameToTheBit) {
  const experiments::Run run = experiments::make_run({{"task", "depth1"}, {"model", "modular"}});
  experiments::FinishedRun finished{&run, {}};
  finished.result.diverged = true;
  finished.result.seconds = 0.1;
  finished.result.snapshots["best"] = {{"test_accuracy", 0.1 + 0.2}, {"best_epoch", -0.0}};
  finished.result.snapshots["last"] = {};
  finished.result.blobs = {{"curve", std::string("a\0b", 3)}, {"weights/best", ""}};
  const std::string bytes = encode_finished(std::vector{finished});
  const auto find = [&](std::uint64_t number) { return number == run.number ? &run : nullptr; };
  const std::vector<experiments::FinishedRun> back = decode_finished(bytes, find);
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(back.front().run, &run);
  EXPECT_TRUE(back.front().result.diverged);
  EXPECT_EQ(back.front().result.seconds, 0.1);
  EXPECT_EQ(back.front().result.snapshots, finished.result.snapshots);
  EXPECT_TRUE(std::signbit(back.front().result.snapshots.at("best").at("best_epoch")));
  EXPECT_EQ(back.front().result.blobs, finished.result.blobs);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(decode_finished(bytes.substr(0, size), find), FormatError) << size;
  }
  EXPECT_THROW(decode_finished(bytes + "x", find), FormatError);
  EXPECT_THROW(decode_finished(bytes, [](std::uint64_t) { return nullptr; }), FormatError);
  EXPECT_EQ(decode_numbers(encode_numbers(std::vector<std::uint64_t>{1, 2})), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_THROW(decode_numbers("12345678"), FormatError);
}

}  // namespace
}  // namespace modlab::studies
