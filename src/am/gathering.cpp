#include "am/gathering.hpp"

namespace shmemx::am {
namespace {

using transport::Urgency;

constexpr std::size_t kMaxBatches = 256;  // at once, so that their memory does not grow with the job

}  // namespace

bool Gathering::try_send(const OutgoingMessage& message) noexcept {
  const bool is_short = message.payload.size() < transport::kLongBytes;
  switch (message.leave) {
    case Leave::followed:
    case Leave::soon:
      if (is_small(message.bytes())) return try_append(message) || begin(message);
      return try_send_alone(message, is_short || message.leave == Leave::followed ? Urgency::gather : Urgency::now);
    case Leave::idle:
    case Leave::session:
      return gathers(message) ? try_send_gathering(message) : try_send_alone(message);
    case Leave::burst: {
      const bool follows = message.bytes() < transport::kLongBytes && bursts_.follows(message.pe);
      return try_send_alone(message, follows ? Urgency::gather : Urgency::now);
    }
    case Leave::now:
      break;
  }
  return try_send_alone(message);
}

// What waits for the PE leaves first.
bool Gathering::try_send_alone(const OutgoingMessage& message, Urgency urgency) noexcept {
  if (coalescer_.holds(message.pe) && !send_batch(message.pe, Urgency::gather)) [[unlikely]]
    return false;
  return sender_.try_send(message, urgency);
}

// The batch that is full has others behind it: the network may send it with them, and nobody waits for its
// acknowledgement.
bool Gathering::try_send_gathering(const OutgoingMessage& message) noexcept {
  if (try_append(message)) return true;
  const bool fills = coalescer_.holds(message.pe);
  if (fills && !send_batch(message.pe, Urgency::gather, Counting::covered)) return false;
  if (message.leave == Leave::session || fills || !peers_.is_idle(message.pe)) {
    if (!begin(message)) return false;
  } else {
    if (!sender_.try_send(message)) return false;
    counts_.operations += 1;
    counts_.messages += 1;
    counts_.bytes += message.bytes();
  }
  counts_.filled += fills ? 1 : 0;
  return true;
}

bool Gathering::begin(const OutgoingMessage& message) noexcept {
  const int pe = message.pe;
  if (!send_batch(pe, Urgency::gather)) return false;
  if (coalescer_.count() == kMaxBatches && !send_batch(coalescer_.oldest())) return false;
  Batch& batch = coalescer_.begin(pe, message.handler, message.header, message.payload);
  if (message.leave == Leave::session) batch.hold();
  peers_.note_unflushed(pe, peers_[pe]);  // quiet has to wait for what has not even left
  network_thread.note_gathering();
  network_thread.call();
  return true;
}

// A message that is alone in its batch leaves as itself: a batch has its own acknowledgement, whatever is in it.
bool Gathering::send_contents(OutgoingMessage message, const Batch& batch, Urgency urgency) noexcept {
  message.payload = batch.whole();
  if (batch.items() == 1) {
    Bytes rest = batch.whole();
    ItemHeader item{};
    static_cast<void>(take_item(rest, item, message.payload));
    message.handler = static_cast<HandlerId>(item.handler);
  }
  if (!sender_.try_send(message, urgency)) return false;
  counts_.operations += batch.items();
  counts_.messages += 1;
  counts_.bytes += batch.whole().size() - batch.items() * sizeof(ItemHeader);
  return true;
}

bool Gathering::send_batch(int pe, Urgency urgency, Counting counting) noexcept {
  return coalescer_.send(pe, [&](int to, const Batch& batch) {
    return send_contents({.pe = to, .handler = kBatch, .header = {}, .counting = counting}, batch, urgency);
  });
}

template <class IsDue>
bool Gathering::send_due(IsDue&& is_due) noexcept {
  return coalescer_.send_due(is_due, [&](int pe, const Batch& batch) {
    return send_contents({.pe = pe, .handler = kBatch, .header = {}}, batch, Urgency::now);
  });
}

bool Gathering::send_batches() noexcept {
  return send_due([](int, const Batch&) { return true; });
}

void Gathering::send_of_idle_slow() noexcept {
  is_acknowledged_ = false;
  send_due([this](int pe, const Batch& batch) { return !batch.is_held() && peers_.is_idle(pe); });
}

bool Gathering::send_old(std::uint64_t now_ns) noexcept {
  if (is_empty()) return false;
  if (now_ns - looked_ns_ < kLookIntervalNs) return true;
  looked_ns_ = now_ns;
  send_due([](int, Batch& batch) { return batch.is_old_at_look(); });
  flush_networks();
  return true;
}

}  // namespace shmemx::am
