// Paths and ports: which path frames to a peer take, and frames that cannot leave.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "transport/ethernet/engine.hpp"

namespace shmemx::ethernet {
namespace {

constexpr std::uint64_t kMostRefusalNs = 10'000'000;  // without room for a frame

}  // namespace

// ---- paths ----

// Returns the interfaces that cannot send now, one bit for each.
unsigned Engine::failing_interfaces() const noexcept {
  unsigned failing = 0;
  for (unsigned i = 0; i < settings_.own.interfaces; ++i) failing |= outlets_[i].error != 0 ? 1U << i : 0U;
  return failing;
}

// Leaves the paths over interfaces that have begun to fail, where another interface is left.
void Engine::leave_failing_paths() noexcept {
  is_failing_ = false;
  const unsigned failing = failing_interfaces();
  if (failing == (1U << settings_.own.interfaces) - 1) return;
  for (Peer* const peer : peers_.list()) {
    if (peer->state != State::lost && (failing >> peer->paths.current().own & 1) != 0) peer->paths.leave(failing);
  }
}

void Engine::note_failure(unsigned interface, int error) noexcept {
  outlets_[interface].error = error;
  is_failing_ = true;
}

// The peer's newest frame has come over another path than that of the frames to it. This PE takes that one, too, if it
// has not used any before, if its own frames are not acknowledged, or if the peer misses acknowledgements. Otherwise
// the PE with the lower number leads, so that both take the same path.
void Engine::note_other_path(Peer& peer, Path path, const FrameHeader& header) noexcept {
  const bool is_first = peer.paths.heard_ns(peer.paths.current()) == 0 && !peer.paths.was_left(path);
  const bool is_late = peer.paths.round_trip().is_late() && !peer.paths.was_left(path);
  const bool is_ping = header.kind == FrameKind::ack && (header.flags & kAckNow) != 0;
  const bool is_again =
      header.kind == FrameKind::records && peer.in.turn_of(header.number) == transport::Turn::duplicate;
  const bool leads = peer.pe < setup_.me && !peer.paths.was_left(path) &&
                     (header.kind == FrameKind::records || header.kind == FrameKind::ack);
  outlets_[path.own].error = 0;
  outlets_[path.own].refused_ns = 0;
  if (!is_first && !is_late && !is_ping && !is_again && !leads) return;
  peer.paths.use(path);
}

// Requests a sign of life: over the current path, later over all.
void Engine::send_pings(Peer& peer) noexcept {
  peer.unsent.is_ping_due = !send_control(peer, peer.paths.current(), FrameKind::ack, kAckNow);
  if (peer.keepalive.silent_rounds == transport::Keepalive::kRoundsUntilPing) return;
  for (unsigned i = 0; i < peer.paths.size(); ++i) {
    const Path path = peer.paths[i];
    if (path != peer.paths.current()) send_control(peer, path, FrameKind::ack, kAckNow);
  }
}

std::string Engine::paths_text(const Paths& paths, const EndpointAddress& address, bool states) const {
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

// ---- ports ----

// Gives frames to a port, in several calls if it takes only some at once. Returns how many are gone; its queue is full
// for the others.
std::size_t Engine::give_to_port(Path path, std::span<const OutgoingFrame> frames) noexcept {
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
std::size_t Engine::note_refusal(Path path, std::size_t taken, std::size_t all) noexcept {
  Outlet& outlet = outlets_[path.own];
  if (const int error = outlet.port->error(); error != 0) {
    note_failure(path.own, error);
    return all;
  }
  now_ns_ = clock_();
  if (taken != 0 || outlet.refused_ns == 0) outlet.refused_ns = now_ns_;
  if (now_ns_ - outlet.refused_ns < kMostRefusalNs) return taken;
  note_failure(path.own, ENOBUFS);
  return all;
}

// Frames to the peer wait for room in a port's queue. They would have carried an acknowledgement.
void Engine::note_blocked(Peer& peer) noexcept {
  peer.in.await_ack();
  list_for_acks(peer);
  blocked_.add(peer);
}

void Engine::retry_blocked() noexcept {
  blocked_.take_each([this](Peer& peer) {
    if (peer.state != State::lost) resume(peer);
  });
}

void Engine::resume(Peer& peer) noexcept {
  if (peer.out.has_unsent()) transmit(peer);
  if (peer.unsent.is_ping_due)
    peer.unsent.is_ping_due = !send_control(peer, peer.paths.current(), FrameKind::ack, kAckNow);
  for (const Unsent::Block& block : std::exchange(peer.unsent.blocks, {}))
    send_block(peer, block.path, block.request.handle, block.request.what);
  if (!peer.pulls.is_empty()) send_requests(peer, false);
}

}  // namespace shmemx::ethernet
