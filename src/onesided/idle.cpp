#include "onesided/idle.hpp"

#include "am/endpoint.hpp"
#include "onesided/direct.hpp"
#include "onesided/requests.hpp"

namespace shmemx::onesided {
namespace {

bool all_is_handled(am::Endpoint& endpoint) {
  return endpoint.arm() && (endpoint.net() == nullptr || endpoint.net()->arm());
}

bool all_is_executed(am::Endpoint& endpoint, const PeerStates& peers) {
  const std::size_t count = endpoint.unflushed_count();
  endpoint.drop_flushed();
  for (std::size_t i = 0; i < count; ++i) {
    const int pe = endpoint.unflushed_pe(i);
    if (pe >= 0 && !peers.is_gone(pe)) return false;
  }
  return !has_direct_open() && !requests.any_unanswered(peers.is_gone);
}

// Messages of a pair are executed in the order of sending, so a PE that has said that it leaves is heard last.
bool others_have_left(am::NetChannel& net, const PeerStates& peers, MessageCounts& counts) {
  for (const int pe : net.contacts()) {
    if (!peers.shares_arena(pe)) {
      if (!peers.has_left(pe)) return false;
    } else if (!peers.is_gone(pe)) {
      counts.sent += net.sent_to(pe);
      counts.executed += net.executed_of(pe);
    }
  }
  return true;
}

}  // namespace

bool is_idle(const PeerStates& peers, MessageCounts& counts) noexcept {
  const am::TryLocked endpoint;
  return endpoint && all_is_handled(*endpoint) && all_is_executed(*endpoint, peers) &&
         (endpoint->net() == nullptr || others_have_left(*endpoint->net(), peers, counts));
}

}  // namespace shmemx::onesided
