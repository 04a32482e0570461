#include "transport/ethernet/path_keeper.hpp"

#include <cerrno>
#include <cstring>

namespace shmemx::ethernet {
namespace {

constexpr std::uint64_t kMostRefusalNs = 10'000'000;  // without room for a frame

}  // namespace

PathKeeper::PathKeeper(int me, const Settings& settings, std::span<Port* const> ports, PollClock& clock,
                       FrameCounts& counts)
    : me_(me), settings_(settings), clock_(clock), counts_(counts) {
  for (std::size_t i = 0; i < ports.size(); ++i) outlets_[i].port = ports[i];
}

// ---- ports ----

std::size_t PathKeeper::send(Path path, std::span<const OutgoingFrame> frames) noexcept {
  Outlet& outlet = outlets_[path.own];
  std::size_t n = 0;
  while (n != frames.size()) {
    const std::size_t taken = outlet.port->send(frames.subspan(n));
    if (taken == 0) break;
    n += taken;
  }
  counts_.sent += n;
  if (n == frames.size() && outlet.port->error() == 0) [[likely]] {
    outlet.refused_ns = 0;
    outlet.error = 0;
    return n;
  }
  return note_refusal(path, n, frames.size());
}

// A queue that does not move for long, as that of an interface whose cable is cut, counts as a network that loses
// frames. Returns how many are gone.
std::size_t PathKeeper::note_refusal(Path path, std::size_t taken, std::size_t all) noexcept {
  Outlet& outlet = outlets_[path.own];
  if (const int error = outlet.port->error(); error != 0) {
    note_failure(path.own, error);
    return all;
  }
  const std::uint64_t now = clock_.read();
  if (taken != 0 || outlet.refused_ns == 0) outlet.refused_ns = now;
  if (now - outlet.refused_ns < kMostRefusalNs) return taken;
  note_failure(path.own, ENOBUFS);
  return all;
}

void PathKeeper::note_failure(unsigned interface, int error) noexcept {
  outlets_[interface].error = error;
  is_failing_ = true;
}

// Returns the interfaces that cannot send now, one bit for each.
unsigned PathKeeper::failing_interfaces() const noexcept {
  unsigned failing = 0;
  for (unsigned i = 0; i < settings_.own.interfaces; ++i) failing |= outlets_[i].error != 0 ? 1U << i : 0U;
  return failing;
}

// ---- paths ----

// This PE takes the path of the peer's frames, too, if it has not used any before, if its own frames are not
// acknowledged, or if the peer misses acknowledgements. Otherwise the PE with the lower number leads, so that both take
// the same path.
void PathKeeper::note_other_path(Peer& peer, Path path, const FrameHeader& header) noexcept {
  const bool is_first = peer.paths.heard_ns(peer.paths.current()) == 0 && !peer.paths.was_left(path);
  const bool is_late = peer.paths.round_trip().is_late() && !peer.paths.was_left(path);
  const bool is_ping = header.kind == FrameKind::ack && (header.flags & kAckNow) != 0;
  const bool is_again =
      header.kind == FrameKind::records && peer.in.turn_of(header.number) == transport::Turn::duplicate;
  const bool leads = peer.pe < me_ && !peer.paths.was_left(path) &&
                     (header.kind == FrameKind::records || header.kind == FrameKind::ack);
  outlets_[path.own].error = 0;
  outlets_[path.own].refused_ns = 0;
  if (is_first || is_late || is_ping || is_again || leads) peer.paths.use(path);
}

void PathKeeper::leave_silent(Peer& peer) const noexcept {
  if (peer.paths.round_trip().is_path_silent() && peer.paths.size() > 1) peer.paths.leave(failing_interfaces());
}

void PathKeeper::leave_failing(const std::vector<Peer*>& peers) noexcept {
  is_failing_ = false;
  const unsigned failing = failing_interfaces();
  if (failing == (1U << settings_.own.interfaces) - 1) return;
  for (Peer* const peer : peers) {
    if (peer->state != Peer::State::lost && (failing >> peer->paths.current().own & 1) != 0) peer->paths.leave(failing);
  }
}

[[gnu::cold]] std::string PathKeeper::text(const Paths& paths, const EndpointAddress& address, bool states) const {
  std::string text;
  for (unsigned i = 0; i < paths.size(); ++i) {
    const Path path = paths[i];
    text += (i == 0 ? "" : "; ") + settings_.names[path.own] +
            (states ? "" : " " + mac_text(settings_.own.macs[path.own])) + " -> " + mac_text(address.macs[path.peers]);
    const int error = outlets_[path.own].error;
    if (states) text += ": " + std::string(error != 0 ? std::strerror(error) : "No answer");
    if (!states && paths.size() > 1 && path == paths.current()) text += " (in use)";
  }
  return text;
}

}  // namespace shmemx::ethernet
