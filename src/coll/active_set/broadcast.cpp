#include "coll/active_set/broadcast.hpp"

#include "coll/active_set/members.hpp"
#include "rma/copy.hpp"

namespace shmemx::coll {

void broadcast_push(ActiveGroup& group, Symmetric dest, Symmetric source, std::size_t bytes, int root) noexcept {
  if (group.me() != root) return group.await_release();
  for (int pe = 0; pe < group.size(); ++pe) {
    if (pe == root) continue;
    group.await_departure(pe);
    rma::copy(dest.at(pe), source.at(root), bytes);
    group.release(pe);
  }
}

void broadcast_pull(ActiveGroup& group, Symmetric dest, Symmetric source, std::size_t bytes, int root) noexcept {
  group.sync();
  if (group.me() != root && bytes != 0) rma::copy(dest.at(group.me()), source.at(root), bytes);
  group.sync();
}

void broadcast_remote(ActiveGroup& group, Symmetric dest, Symmetric source, std::size_t bytes, int root) noexcept {
  if (group.me() == root) {
    for (int i = 1; i < group.size(); ++i) members_of(group).put(pe_ahead(group, i), dest.pe0, source.pe0, bytes);
    flush(group);
  }
  group.sync();
}

}  // namespace shmemx::coll
