#include "coll/internode/leader_gather.hpp"

#include <algorithm>

#include "base/bulk_copy.hpp"
#include "coll/common/eager.hpp"
#include "coll/common/select.hpp"

namespace shmemx::coll {

LeaderGather::LeaderGather(Team& team, const char* routine, const std::vector<std::size_t>& bytes)
    : team_(team), nodes_(nodes_of(team)), routine_(routine), begin_(1, 0) {
  for (int i = 0; i < nodes_.count(); ++i)
    begin_.push_back(begin_.back() + bytes[static_cast<std::size_t>(nodes_.ahead(i))]);
  memory_ = take_memory(begin_.back());
}

void LeaderGather::send(int to_node, int count, std::uint64_t epoch) noexcept {
  send_eager(team_, routine_, nodes_.leader(to_node), epoch, {memory_.get(), begin_of(count)});
}

void LeaderGather::receive(int from_node, int count, std::uint64_t epoch) noexcept {
  const int distance = distance_to(from_node);
  const std::size_t bytes = begin_of(distance + count) - begin_of(distance);
  const EagerMessage message = await_eager(team_, routine_, nodes_.leader(from_node), epoch, bytes);
  if (bytes != 0) copy_block(memory_.get() + begin_of(distance), message.data(), bytes);
}

void LeaderGather::exchange(std::uint64_t epoch) noexcept {
  const int n = nodes_.count();
  if (leaders_exchange_directly(nodes_)) {
    for (int i = 1; i < n; ++i) send(nodes_.behind(i), 1, epoch);
    for (int i = 1; i < n; ++i) receive(nodes_.ahead(i), 1, epoch);
    return;
  }
  for (int known = 1; known < n; known *= 2) {
    const int count = std::min(known, n - known);
    send(nodes_.behind(known), count, epoch);
    receive(nodes_.ahead(known), count, epoch);
  }
}

}  // namespace shmemx::coll
