// The paths to one peer: pairs of an interface of this PE and one of the peer. Nobody knows which of them lead there.
// One is used as long as frames over it are acknowledged, then another one. Each direction has a path of its own; where
// nothing is against it, the PE with the higher number uses that of the other one. Round trips are those of the path in
// use.
#pragma once

#include <array>
#include <cstdint>

#include "transport/ethernet/address.hpp"
#include "transport/ethernet/round_trip.hpp"

namespace shmemx::ethernet {

struct Path {
  std::uint8_t own = 0;    // the interface of this PE
  std::uint8_t peers = 0;  // and that of the peer
  bool operator==(const Path&) const = default;
};

class Paths {
 public:
  static constexpr unsigned kMost = kMostInterfaces * kMostInterfaces;

  // Pairs of interfaces with the same number precede others: hosts are mostly alike.
  Paths(unsigned own_interfaces, unsigned peers_interfaces, std::uint64_t resend_ns) noexcept;

  Path current() const noexcept { return current_; }
  unsigned size() const noexcept { return n_; }
  const Path& operator[](unsigned i) const noexcept { return paths_[i]; }
  // The peer's newest frame has arrived over this path.
  void note_heard(Path path, std::uint64_t now_ns) noexcept { heard_ns_[path.own][path.peers] = now_ns; }
  // 0: never
  std::uint64_t heard_ns(Path path) const noexcept { return heard_ns_[path.own][path.peers]; }
  // Returns whether the path was left since frames were acknowledged.
  bool was_left(Path path) const noexcept { return (left_ & bit_of(path)) != 0; }
  void use(Path path) noexcept {
    current_ = path;
    round_trip_.change_path(false);
  }
  RoundTrip& round_trip() noexcept { return round_trip_; }
  const RoundTrip& round_trip() const noexcept { return round_trip_; }
  // Returns a path that has no interface in common with the current one: that over which the peer was heard last. There
  // is one if both PEs have several interfaces.
  Path second() const noexcept;
  // Leaves the current path for the best one of those that were not left before: `failing` says which own interfaces
  // cannot send now, one bit for each. Returns false if all had been left, so that the next round
  // begins.
  bool leave(unsigned failing) noexcept;

 private:
  static std::uint32_t bit_of(Path path) noexcept {
    return std::uint32_t{1} << (path.own * kMostInterfaces + path.peers);
  }
  const Path* best(unsigned failing) const noexcept;

  std::array<Path, kMost> paths_;
  unsigned n_ = 0;
  Path current_;
  RoundTrip round_trip_;
  std::uint32_t left_ = 0;
  std::uint64_t heard_ns_[kMostInterfaces][kMostInterfaces] = {};
};

}  // namespace shmemx::ethernet
