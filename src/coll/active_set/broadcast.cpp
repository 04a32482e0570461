#include "coll/active_set/broadcast.hpp"

#include "coll/active_set/members.hpp"

namespace shmemx::coll {

void broadcast_push(ActiveGroup& group, const BroadcastCall& call) noexcept {
  if (group.me() != call.root) return group.await_release();
  for (int pe = 0; pe < group.size(); ++pe) {
    if (pe == call.root) continue;
    group.await_departure(pe);
    rma::copy(call.dest.at(pe), call.source.at(call.root), call.bytes);
    group.release(pe);
  }
}

void broadcast_pull(ActiveGroup& group, const BroadcastCall& call) noexcept {
  group.sync();
  if (group.me() != call.root && call.bytes != 0)
    rma::copy(call.dest.at(group.me()), call.source.at(call.root), call.bytes);
  group.sync();
}

void broadcast_remote(ActiveGroup& group, const BroadcastCall& call) noexcept {
  if (group.me() == call.root) {
    for (int i = 1; i < group.size(); ++i)
      members_of(group).put(pe_ahead(group, i), call.dest.pe0, call.source.pe0, call.bytes);
    flush(group);
  }
  group.sync();
}

}  // namespace shmemx::coll
