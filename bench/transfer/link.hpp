// Communication of the two processes of a pair apart from the measured transfers: barriers, short exchanges of
// addresses and keys, file descriptors, and the instants at which a transfer starts and is complete.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/clock.hpp"

namespace shmemx::bench {

// Thrown if a mechanism cannot work here.
struct Unavailable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Returns `what` with the text of errno.
Unavailable system_refusal(const std::string& what);

inline void cpu_relax() { __builtin_ia32_pause(); }

constexpr std::size_t kMaxSamples = 4096;
constexpr std::size_t kMailBytes = 4096;

struct Series {
  std::uint32_t count;
  double value[kMaxSamples];
  void add(double sample) {
    if (count < kMaxSamples) value[count++] = sample;
  }
};

// The result of an order in one process.
struct Outcome {
  static constexpr int kSeries = 4;
  Series series[kSeries];
  double probe_before_ns;
  double probe_after_ns;
  std::uint64_t next_source;  // where the next transfer begins
  std::uint64_t next_dest;
  std::uint64_t laps;
  std::uint64_t checks;    // number of checks of transferred data
  std::uint64_t failures;  // number of failed checks
  char why[512];           // the reason if the order failed
};

// Shared by the two processes, and read by the coordinator between orders. Zero bytes are its beginning.
// Edges:  arrive  arrived.store -> arrived.load   everything a side did before a barrier
//         start   start.store -> start.load       the instant; barrier orders the rest
//         done    done.store -> done.load         the transfer is complete at the destination
//         probe   ping.store -> ping.load, pong   nothing but the numbers
struct PairBlock {
  struct alignas(64) Line {
    std::atomic<std::int64_t> value;
  };
  struct Mail {
    std::uint64_t bytes;
    std::byte data[kMailBytes];
  };
  Line arrived[2];
  Line start;
  Line done;
  Line late;
  Line ping, pong;
  Line failed;  // a side has failed: the other one must not wait for it
  Mail mail[2];
  Outcome outcome[2];
};

class Link {
 public:
  // `socket` is this process's end of a pair of sockets. `crowded`: both processes share one core.
  Link(PairBlock& block, int socket, bool local, bool crowded)
      : block_(block), socket_(socket), self_(local ? 0 : 1), crowded_(crowded) {}

  bool local() const { return self_ == 0; }
  bool crowded() const { return crowded_; }
  pid_t peer_pid() const { return peer_pid_; }
  Outcome& outcome() { return block_.outcome[self_]; }

  // Exchanges the process numbers.
  void meet();

  template <class Condition, class Poll>
  void wait(Condition condition, Poll poll) {
    for (unsigned spins = 0; !condition(); ++spins) {
      poll();
      cpu_relax();
      if (spins >= patience_ || crowded_) {
        if ((spins & 63) == 0 || crowded_) yield_core();
      }
    }
  }
  template <class Condition>
  void wait(Condition condition) {
    wait(condition, [] {});
  }

  // Waits for some milliseconds without yielding, so that no other program uses the core's cache.
  void keep_core(bool keep) { patience_ = keep ? 50 * kPatience : kPatience; }

  template <class Poll>
  void barrier(Poll poll) {
    const std::int64_t round = ++rounds_;
    block_.arrived[self_].value.store(round, std::memory_order_release);                                   // arrive
    wait([&] { return block_.arrived[1 - self_].value.load(std::memory_order_acquire) >= round; }, poll);  // arrive
  }
  void barrier() {
    barrier([] {});
  }

  // Exchanges a few bytes.
  std::vector<std::byte> exchange(std::span<const std::byte> mine);
  template <class T>
  T exchange(const T& mine) {
    const std::vector<std::byte> bytes = exchange(std::as_bytes(std::span(&mine, 1)));
    T theirs;
    std::memcpy(&theirs, bytes.data(), sizeof theirs);
    return theirs;
  }
  void send_fd(int fd);
  int receive_fd();

  // Returns in both processes at the same instant of the machine's clock, with that instant; 0 if the local process
  // has finished.
  std::int64_t start_together(bool more);
  // Called by both before a transfer; the local process calls transfer_done().
  void begin_transfer() { ++sequence_; }
  void transfer_done() { block_.done.value.store(sequence_, std::memory_order_release); }          // done
  bool is_done() const { return block_.done.value.load(std::memory_order_acquire) >= sequence_; }  // done
  // After a barrier: returns true if the remote process left start_together too late.
  bool was_late(std::int64_t start) const {
    return block_.late.value.load(std::memory_order_relaxed) == start;  // the barrier orders it
  }

  // Returns the one-way time of a cache line between the two processes in ns. Called by both.
  double probe();

  void give_up(const std::string& why);

 private:
  static constexpr unsigned kPatience = 4000;

  void yield_core();

  PairBlock& block_;
  int socket_;
  int self_;
  bool crowded_;
  unsigned patience_ = kPatience;
  pid_t peer_pid_ = -1;
  std::int64_t rounds_ = 0;
  std::int64_t sequence_ = 0;
  std::int64_t last_start_ = 0;
  std::int64_t trips_ = 0;
};

}  // namespace shmemx::bench
