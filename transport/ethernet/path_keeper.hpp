// The ports, and which of the paths to a peer its frames take.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "transport/ethernet/peer.hpp"
#include "transport/ethernet/poll_clock.hpp"
#include "transport/ethernet/port.hpp"
#include "transport/ethernet/settings.hpp"

namespace shmemx::ethernet {

using transport::FrameCounts;

class PathKeeper {
 public:
  // `ports`: one for each interface.
  PathKeeper(int me, const Settings& settings, std::span<Port* const> ports, PollClock& clock, FrameCounts& counts);

  // Gives frames to the port of a path, in several calls if it takes only some at once. Returns how many are gone; its
  // queue is full for the others.
  std::size_t send(Path path, std::span<const OutgoingFrame> frames) noexcept;
  // An interface cannot send. Paths over others are used, if there are any.
  void note_failure(unsigned interface, int error) noexcept;

  // The peer's newest frame has come over another path than that of the frames to it, which may take that one from now
  // on.
  void note_other_path(Peer& peer, Path path, const FrameHeader& header) noexcept;
  // Leaves the current path of a peer if nothing is acknowledged over it.
  void leave_silent(Peer& peer) const noexcept;
  // An interface has begun to fail since leave_failing() was called.
  bool is_failing() const noexcept { return is_failing_; }
  // Leaves the paths over interfaces that fail, where another interface is left.
  void leave_failing(const std::vector<Peer*>& peers) noexcept;

  // Lists the paths to a peer. `states`: with the state of each, as the cause of a loss; else with the one in use.
  std::string text(const Paths& paths, const EndpointAddress& address, bool states) const;

 private:
  struct Outlet {
    Port* port = nullptr;
    std::uint64_t refused_ns = 0;  // since when it has taken no frame; 0: it takes them
    int error = 0;                 // why frames cannot leave, as errno; 0: they can
  };

  unsigned failing_interfaces() const noexcept;
  std::size_t note_refusal(Path path, std::size_t taken, std::size_t all) noexcept;

  int me_;
  const Settings& settings_;
  PollClock& clock_;
  FrameCounts& counts_;
  std::array<Outlet, kMostInterfaces> outlets_;  // by interface
  bool is_failing_ = false;
};

}  // namespace shmemx::ethernet
