// Keepalive: says when to ping a silent peer, and when to give it up.
//
// Time is cut into rounds of an eighth of the time that a peer may be silent. A peer that was silent for two rounds
// gets a ping. After nine silent rounds it is lost; the first one may be shorter than a round. A round ends only when
// this PE polls, so time in which it did not poll does not count against its peers.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace shmemx::transport {

class Keepalive {
 public:
  static constexpr std::uint32_t kRoundsUntilPing = 2;
  static constexpr std::uint32_t kRoundsUntilLost = 9;

  // What is kept of one peer.
  struct Peer {
    std::uint32_t silent_rounds = 0;
    // To be called for everything that comes from the peer.
    void heard() noexcept { silent_rounds = 0; }
  };
  enum class Action : std::uint8_t {
    none,
    ping,  // send the peer a message that it has to reply to
    lose,  // the peer has been silent for too long
  };

  Keepalive(std::uint32_t silence_ms, std::uint64_t now_ns) noexcept;

  // Returns true once for each round that is over. The caller then calls end_round() for each peer it watches.
  bool is_round_over(std::uint64_t now_ns) noexcept;
  static Action end_round(Peer& peer) noexcept;
  std::uint64_t round_end_ns() const noexcept { return round_end_ns_; }

 private:
  std::uint64_t round_ns_;
  std::uint64_t round_end_ns_;
};

// A descriptor to sleep on that is readable if a network's own descriptor is, or if a round of the keepalive is over.
class KeepaliveTimer {
 public:
  static Result<KeepaliveTimer> open(int network_fd);

  int descriptor() const noexcept { return epoll_.get(); }
  // Makes the descriptor readable at `when_ns`. Does nothing if a time is set already.
  void set(std::uint64_t when_ns) noexcept;
  // Takes the time back: the descriptor is no longer readable because of it.
  void clear() noexcept;

 private:
  KeepaliveTimer() = default;

  UniqueFd epoll_;
  UniqueFd timer_;
  bool is_set_ = false;
};

}  // namespace shmemx::transport
