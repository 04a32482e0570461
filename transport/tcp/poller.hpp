// The descriptors that wake this PE: an epoll instance with all sockets, a timer, and an event descriptor.
//
// A watched socket makes each packet dearer. While this PE reads its few sockets itself all the time, they are not
// watched, and the event descriptor is readable instead: a thread that sleeps on the epoll instance wakes up, and calls
// watch_all() before it sleeps again.
#pragma once

#include "transport/tcp/parts.hpp"
#include "transport/tcp/peers.hpp"

namespace shmemx::tcp {

class Poller {
 public:
  explicit Poller(const Parts& parts) noexcept : parts_(parts) {}
  Status open();
  int epoll() const noexcept { return epoll_.get(); }

  // Watches the socket of a peer that is connected now, and all others.
  void add(const Connection& peer) noexcept;
  void watch_all() noexcept;
  // A read has brought something.
  void note_read() noexcept { ++reads_; }
  // Stops watching if nobody has slept for many reads.
  void unwatch_busy() noexcept {
    if (is_watching_ && reads_ >= kReadsBeforeUnwatch) unwatch_all();
  }
  bool has_few() const noexcept { return parts_.peers.up().size() <= kFewConnections; }

  // The kernel takes no more bytes: an event tells when it does again.
  void block(Connection& peer) noexcept;
  // The peer does not wait for that any more. Its events are as before.
  void unblock(Connection& peer) noexcept;
  bool any_blocked() const noexcept { return blocked_ != 0; }
  void expect_input(const Connection& peer) noexcept;

  // Runs the timer while a connection may become overdue, while it is not known whether everything has arrived, and
  // while payloads are in use, if all threads are about to sleep. At longer intervals for connections that are idle,
  // whose links may be down, too.
  void update_timer(bool is_sleeping = false) noexcept;
  // Returns whether the timer has expired since the last call.
  bool take_timer() noexcept;

 private:
  static constexpr unsigned kReadsBeforeUnwatch = 64;
  static constexpr std::size_t kFewConnections = 2;  // are read one by one, without epoll

  void unwatch_all() noexcept;
  long wanted_interval(bool is_sleeping) const noexcept;

  const Parts& parts_;
  NetworkFd epoll_;
  NetworkFd timer_;
  NetworkFd wake_fd_;
  bool is_watching_ = true;
  unsigned reads_ = 0;    // reads that returned bytes, since watch_all()
  unsigned blocked_ = 0;  // peers
  long timer_ns_ = 0;     // interval of the timer, 0 while it does not run
};

}  // namespace shmemx::tcp
