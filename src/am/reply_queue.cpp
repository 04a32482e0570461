#include "am/reply_queue.hpp"

#include <algorithm>

namespace shmemx::am {

bool ReplyQueue::holds(HandlerId id) const noexcept {
  const auto is_one = [id](const Kept& kept) { return kept.reply.handler == id; };
  return std::any_of(peers_.begin(), peers_.end(),
                     [&](const auto& peer) { return std::any_of(peer.second.begin(), peer.second.end(), is_one); });
}

bool ReplyQueue::keep(const OutgoingMessage& reply) {
  Kept kept{reply, {}};
  const std::size_t copied = reply.header.size() + (reply.lifetime.until_flush ? 0 : reply.payload.size());
  if (bytes_ + sizeof(Kept) + copied > limit_bytes_) return false;
  kept.copy.reserve(copied);
  kept.copy.insert(kept.copy.end(), reply.header.begin(), reply.header.end());
  if (!reply.lifetime.until_flush) kept.copy.insert(kept.copy.end(), reply.payload.begin(), reply.payload.end());
  bytes_ += bytes_of_kept(kept);
  peers_[reply.pe].push_back(std::move(kept));
  return true;
}

OutgoingMessage ReplyQueue::reply_of(const Kept& kept) noexcept {
  OutgoingMessage reply = kept.reply;
  const Bytes copy(kept.copy);
  reply.header = copy.first(kept.reply.header.size());
  if (!reply.lifetime.until_flush) reply.payload = copy.subspan(kept.reply.header.size());
  return reply;
}

}  // namespace shmemx::am
