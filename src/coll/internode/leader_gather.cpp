#include "coll/internode/leader_gather.hpp"

#include <algorithm>

#include "base/bulk_copy.hpp"
#include "coll/common/select.hpp"

namespace shmemx::coll {

LeaderGather::LeaderGather(FirstRound& round, const std::vector<std::size_t>& bytes)
    : round_(round), nodes_(round.nodes()), begin_(1, 0) {
  for (int i = 0; i < nodes_.count(); ++i)
    begin_.push_back(begin_.back() + bytes[static_cast<std::size_t>(nodes_.ahead(i))]);
  memory_ = take_memory(begin_.back());
}

void LeaderGather::send(int to_node, int count) noexcept { round_.send(to_node, {memory_.get(), begin_of(count)}); }

void LeaderGather::receive(int from_node, int count) noexcept {
  const int distance = distance_to(from_node);
  const std::size_t bytes = begin_of(distance + count) - begin_of(distance);
  const EagerMessage message = round_.receive(from_node, bytes);
  if (bytes != 0) copy_block(memory_.get() + begin_of(distance), message.data(), bytes);
}

int LeaderGather::first_partners() const noexcept { return leaders_exchange_directly(nodes_) ? nodes_.count() - 1 : 1; }

void LeaderGather::send_first() noexcept {
  for (int i = 1; i <= first_partners(); ++i) send(nodes_.behind(i), 1);
}

void LeaderGather::receive_first() noexcept {
  for (int i = 1; i <= first_partners(); ++i) receive(nodes_.ahead(i), 1);
}

void LeaderGather::pass_on() noexcept {
  if (leaders_exchange_directly(nodes_)) return;
  const int n = nodes_.count();
  for (int known = 2; known < n; known *= 2) {
    const int count = std::min(known, n - known);
    send(nodes_.behind(known), count);
    receive(nodes_.ahead(known), count);
  }
}

}  // namespace shmemx::coll
