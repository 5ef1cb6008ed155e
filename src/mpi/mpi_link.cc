#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <memory>
#include <vector>

#include "core/link.h"

// The only file that knows MPI. The program loads it when it is one of several ranks (core/mpi_launch.h).
namespace modlab {
namespace {

constexpr int kTag = 1;

class MpiLink : public Link {
 public:
  MpiLink() {
    int provided = 0;
    // Other threads train meanwhile, but only one makes calls.
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    cores_ = count_cores();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int cores() const override { return cores_; }

  void send(int to, std::string bytes) override {
    Sent& sent = sent_.emplace_back(Sent{std::move(bytes), MPI_REQUEST_NULL});
    MPI_Isend(sent.bytes.data(), static_cast<int>(sent.bytes.size()), MPI_BYTE, to, kTag, MPI_COMM_WORLD,
              &sent.request);
  }

  std::optional<Message> receive() override {
    forget_sent();
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &there, &status);
    if (there == 0) {
      return std::nullopt;
    }
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    Message message{status.MPI_SOURCE, std::string(static_cast<std::size_t>(count), '\0')};
    MPI_Recv(message.bytes.data(), count, MPI_BYTE, status.MPI_SOURCE, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return message;
  }

  void close() override {
    for (Sent& sent : sent_) {
      MPI_Wait(&sent.request, MPI_STATUS_IGNORE);
    }
    sent_.clear();
    MPI_Finalize();
  }

 private:
  struct Sent {
    std::string bytes;  // which stay until they have left
    MPI_Request request;
  };

  void forget_sent() {
    std::erase_if(sent_, [](Sent& sent) {
      int done = 0;
      MPI_Test(&sent.request, &done, MPI_STATUS_IGNORE);
      return done != 0;
    });
  }

  // Launchers bind ranks to cores, to halves of machines, or to nothing: those that may run in the same places share
  // them.
  static int count_cores() {
    cpu_set_t own;
    CPU_ZERO(&own);
    sched_getaffinity(0, sizeof(own), &own);
    MPI_Comm machine;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    int ranks = 0;
    MPI_Comm_size(machine, &ranks);
    std::vector<cpu_set_t> all(static_cast<std::size_t>(ranks));
    MPI_Allgather(&own, sizeof(own), MPI_BYTE, all.data(), sizeof(own), MPI_BYTE, machine);
    MPI_Comm_free(&machine);
    const auto sharing =
        std::ranges::count_if(all, [&](const cpu_set_t& other) { return CPU_EQUAL(&own, &other) != 0; });
    return std::max(1, CPU_COUNT(&own) / static_cast<int>(sharing));
  }

  int rank_ = 0;
  int size_ = 1;
  int cores_ = 1;
  std::list<Sent> sent_;
};

}  // namespace
}  // namespace modlab

extern "C" modlab::Link* modlab_open_link() { return new modlab::MpiLink; }
