#include "interpose/first_meeting.hpp"

#include <mpi.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "interpose/below.hpp"
#include "interpose/waiting.hpp"

namespace shmemx::interpose {
namespace {

// Processes leave MPI_Init nearly together; where many share few cores it takes them longer.
constexpr long kSeconds = 15;
constexpr long kRanksOfASecond = 20;
constexpr int kChildren = 8;  // of each process, in a tree with the order of a heap

long limit_in_seconds(int ranks) {
  const char* const text = std::getenv("SHMEMX_MPI_START_TIMEOUT");
  if (text != nullptr && *text != 0) return std::strtol(text, nullptr, 10);
  return kSeconds + ranks / kRanksOfASecond;
}

double now() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Messages along a tree, of a tag that a program hardly uses. A collective call would be matched by another one of a
// process without this library.
class Tree {
 public:
  Tree() : begin_(now()) {
    below().Comm_rank(MPI_COMM_WORLD, &rank_);
    below().Comm_size(MPI_COMM_WORLD, &ranks_);
    limit_ = limit_in_seconds(ranks_);
    int* greatest = nullptr;
    int found = 0;
    below().Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &greatest, &found);
    tag_ = found != 0 ? *greatest : 32767;
  }

  // Returns the least value of all.
  int least(int mine) {
    std::vector<int> below_me(kChildren, mine);
    for (int i = 0; i < children(); ++i) receive(first_child() + i, below_me[static_cast<std::size_t>(i)], 0);
    for (const int value : below_me) mine = value < mine ? value : mine;
    if (rank_ != 0) {
      const int parent = (rank_ - 1) / kChildren;
      send(parent, mine);
      receive(parent, mine, kLater);
    }
    for (int i = 0; i < children(); ++i) send(first_child() + i, mine);
    return mine;
  }

 private:
  static constexpr int kLater = 2;  // seconds: processes nearer to the one that does not answer are the first to say so

  int first_child() const noexcept { return kChildren * rank_ + 1; }
  int children() const noexcept {
    const int left = ranks_ - first_child();
    return left < 0 ? 0 : left < kChildren ? left : kChildren;
  }
  int height() const noexcept {
    int levels = 0;
    for (long child = first_child(); child < ranks_; child = kChildren * child + 1) ++levels;
    return levels;
  }

  void receive(int from, int& value, int later) {
    MPI_Request request = MPI_REQUEST_NULL;
    below().Irecv(&value, 1, MPI_INT, from, tag_, MPI_COMM_WORLD, &request);
    await(request, from, later + height());
  }
  void send(int to, int value) {
    MPI_Request request = MPI_REQUEST_NULL;
    below().Isend(&value, 1, MPI_INT, to, tag_, MPI_COMM_WORLD, &request);
    await(request, to, kLater + height());
  }
  void await(MPI_Request& request, int other, int later) const {
    for (unsigned steps = 0;; ++steps) {
      int done = 0;
      below().Test(&request, &done, MPI_STATUS_IGNORE);
      if (done != 0) return;
      release_core(steps);
      if (limit_ > 0 && now() - begin_ > static_cast<double>(limit_ + later)) end_job(other);
    }
  }
  [[noreturn]] void end_job(int other) const {
    std::fprintf(
        stderr,
        "shmemx-rma: [rank %d] rank %d has not begun to start shmemx for %ld seconds. Probably it runs without the "
        "interposer's library: its MPI is linked statically, or LD_PRELOAD was changed on the way to it "
        "(SHMEMX_MPI_START_TIMEOUT)\n",
        rank_, other, limit_);
    const timespec forwarding{0, 200'000'000};  // a launcher may drop what it has not printed when the job is aborted
    ::nanosleep(&forwarding, nullptr);
    below().Abort(MPI_COMM_WORLD, 2);
    std::abort();
  }

  int rank_ = 0;
  int ranks_ = 0;
  int tag_ = 0;
  long limit_ = 0;
  double begin_;
};

}  // namespace

bool meet_first(bool here) { return Tree().least(here ? 1 : 0) == 1; }

}  // namespace shmemx::interpose
