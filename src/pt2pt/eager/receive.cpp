// The receiver's side of eager messages. A message without a receive is copied at once: its cell is needed.
#include <algorithm>

#include "base/bulk_copy.hpp"
#include "pt2pt/eager/eager.hpp"
#include "rma/copy.hpp"

namespace shmemx::pt2pt {

[[gnu::always_inline]] inline void Eager::take_whole(ReceiveRequest& receive, int source, int tag,
                                                     Payload data) noexcept {
  const std::size_t bytes = std::min(data.size(), receive.cursor.shape().bytes);
  if (receive.cursor.shape().kind != Shape::Kind::contiguous) {
    receive.cursor.scatter(data.data(), bytes);
  } else if (bytes != 0) {
    rma::copy(receive.cursor.shape().base, data.data(), bytes);
  }
  receive.result = {source, tag, bytes, bytes != data.size(), false};
  complete(receive);
}

void Eager::take_begin(ReceiveRequest& receive, int source, const EagerHeader& header, Payload data) noexcept {
  receive.goal = std::min<std::size_t>(header.bytes, receive.cursor.shape().bytes);
  receive.result = {source, header.tag, receive.goal, receive.goal != header.bytes, false};
  receive.peer = source;
  receive.phase = Phase::waiting;
  receive.next = Next::eager;
  receive.cursor.scatter(data.data(), std::min(data.size(), receive.goal));
}

void Eager::on_eager(int source, Payload payload) noexcept {
  EagerHeader header;
  if (!take_header(payload, header) || header.tag == kAny || payload.size() > header.bytes ||
      (header.bytes > kEagerBytes && !may_arrive(source, header.bytes))) [[unlikely]]
    return platform_->reject(source, "an eager message whose length or tag is wrong");
  if (payload.size() != header.bytes) return begin_arrival(source, header, payload);
  if (ReceiveRequest* const receive = matching_->of(header.tag).match(source, header.tag)) [[likely]]
    return take_whole(*receive, source, header.tag, payload);
  Unexpected* const message =
      matching_->of(header.tag).keep({source, header.tag}, header.bytes, header.bytes, Unexpected::Kind::eager);
  if (message == nullptr) return;
  if (!payload.empty()) copy_block(message->data(), payload.data(), payload.size());
  message->received = payload.size();
}

void Eager::begin_arrival(int source, const EagerHeader& header, Payload data) noexcept {
  Arrival& from = arrival(source);
  if (from.total != 0 || data.empty()) [[unlikely]]
    return platform_->reject(source, "an eager message inside another one");
  if (ReceiveRequest* const receive = matching_->of(header.tag).match(source, header.tag)) {
    take_begin(*receive, source, header, data);
    from.receive = receive;
  } else {
    from.message =
        matching_->of(header.tag).keep({source, header.tag}, header.bytes, header.bytes, Unexpected::Kind::eager);
    if (from.message == nullptr) return;
    copy_block(from.message->data(), data.data(), data.size());
    from.message->received = data.size();
  }
  from.total = header.bytes;
  from.received = data.size();
}

std::byte* Eager::placement(int source, Payload payload, std::size_t bytes) noexcept {
  EagerHeader header;
  if (!take_header(payload, header) || !payload.empty() || header.bytes != bytes || header.tag == kAny ||
      !platform_->is_internode(source) || !may_arrive(source, bytes) || arrival(source).total != 0)
    return nullptr;
  const ReceiveRequest* const found = matching_->of(header.tag).receive_of(source, header.tag);
  if (found == nullptr || found->cursor.shape().kind != Shape::Kind::contiguous || found->cursor.shape().bytes < bytes)
    return nullptr;
  ReceiveRequest& receive = *matching_->of(header.tag).match(source, header.tag);
  take_begin(receive, source, header, {});
  arrival(source) = {&receive, nullptr, bytes, 0, true};
  return receive.cursor.shape().base;
}

void Eager::placed(int source, std::size_t bytes) noexcept {
  Arrival& from = arrival(source);
  if (!from.is_placed || from.total != bytes)
    return platform_->reject(source, "an eager message that no receive waits for");
  ReceiveRequest& receive = *from.receive;
  from = Arrival{};
  complete(receive);
}

void Eager::on_more(int source, std::uint64_t offset, Payload data) noexcept {
  Arrival& from = arrival(source);
  if (from.total == 0 || from.is_placed || offset != from.received || data.empty() ||
      data.size() > from.total - from.received)
    return platform_->reject(source, "a part of an eager message that does not follow");
  if (ReceiveRequest* const receive = from.receive) {
    receive->cursor.scatter(data.data(), std::min(data.size(), receive->goal - receive->cursor.passed()));
  } else if (from.message != nullptr) {
    copy_block(from.message->data() + from.received, data.data(), data.size());
    from.message->received += data.size();
  }
  from.received += data.size();
  if (from.received != from.total) return;
  ReceiveRequest* const receive = from.receive;
  from = Arrival{};
  if (receive != nullptr) complete(*receive);
}

void Eager::take(ReceiveRequest& receive, Unexpected& message) noexcept {
  if (message.kind == Unexpected::Kind::own) {
    SendRequest& send = *message.own_send;
    matching_->of(message.tag).forget(message);
    return take_own(send, receive);
  }
  const Payload data{message.data(), message.received};
  if (message.received == message.bytes) {
    take_whole(receive, message.source, message.tag, data);
  } else {
    take_begin(receive, message.source, {message.tag, static_cast<std::uint32_t>(message.bytes)}, data);
    arrival(message.source).receive = &receive;
    arrival(message.source).message = nullptr;
  }
  matching_->of(message.tag).forget(message);
}

}  // namespace shmemx::pt2pt
