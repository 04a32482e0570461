#include "am/gathering.hpp"

namespace shmemx::am {
namespace {

constexpr std::size_t kMaxBatches = 256;  // at once, so that their memory does not grow with the job

}  // namespace

// The batch that is full has others behind it: the network may send it with them, and nobody waits for its
// acknowledgement.
SmallSent Gathering::try_send_small(int pe, HandlerId id, Bytes header, Bytes payload, SendOptions options) noexcept {
  if (try_append(pe, id, header, payload)) return SmallSent::yes;
  const bool fills = coalescer_.holds(pe);
  if (fills && !send(pe, {.id = kBatch, .urgency = transport::Urgency::gather, .more = true})) return SmallSent::no;
  const NetSend how{.id = id, .options = options};
  if (options.held || fills || !peers_.is_idle(pe)) {
    if (!begin(pe, how, header, payload)) return SmallSent::no;
  } else {
    if (sender_.send(pe, how, header, payload) == transport::Sent::no) return SmallSent::no;
    counts_.operations += 1;
    counts_.messages += 1;
    counts_.bytes += header.size() + payload.size();
  }
  return fills ? SmallSent::filled : SmallSent::yes;
}

bool Gathering::begin(int pe, const NetSend& how, Bytes header, Bytes payload) noexcept {
  if (!send(pe, {.id = kBatch, .urgency = transport::Urgency::gather})) return false;
  if (!is_small(header.size() + payload.size())) return sender_.send(pe, how, header, payload) != transport::Sent::no;
  if (coalescer_.count() == kMaxBatches && !send(coalescer_.oldest(), {.id = kBatch})) return false;
  Batch& batch = coalescer_.begin(pe, how.id, header, payload);
  if (how.options.held) batch.hold();
  peers_.note_unflushed(pe, peers_[pe]);  // quiet has to wait for what has not even left
  network_thread.note_gathering();
  network_thread.call();
  return true;
}

// A message that is alone in its batch leaves as itself: a batch has its own acknowledgement, whatever is in it.
transport::Sent Gathering::send_alone(int pe, NetSend how, const Batch& batch) noexcept {
  Bytes rest = batch.whole();
  ItemHeader item{};
  Bytes message;
  static_cast<void>(take_item(rest, item, message));
  how.id = static_cast<HandlerId>(item.handler);
  return sender_.send(pe, how, {}, message);
}

bool Gathering::send_contents(int pe, const NetSend& how, const Batch& batch) noexcept {
  const transport::Sent sent =
      batch.items() == 1 ? send_alone(pe, how, batch) : sender_.send(pe, how, {}, batch.whole());
  if (sent == transport::Sent::no) return false;
  counts_.operations += batch.items();
  counts_.messages += 1;
  counts_.bytes += batch.whole().size() - batch.items() * sizeof(ItemHeader);
  return true;
}

bool Gathering::send(int pe, const NetSend& how) noexcept {
  return coalescer_.send(pe, [&](int to, const Batch& batch) { return send_contents(to, how, batch); });
}

template <class IsDue>
bool Gathering::send_due(IsDue&& is_due) noexcept {
  constexpr NetSend kAlone{.id = kBatch};
  return coalescer_.send_due(is_due, [&](int to, const Batch& batch) { return send_contents(to, kAlone, batch); });
}

bool Gathering::send_all() noexcept {
  return send_due([](int, const Batch&) { return true; });
}

void Gathering::send_of_idle_slow() noexcept {
  is_acknowledged_ = false;
  send_due([this](int pe, const Batch& batch) { return !batch.is_held() && peers_.is_idle(pe); });
}

void Gathering::send_old(std::uint64_t now_ns) noexcept {
  if (now_ns - looked_ns_ < kLookIntervalNs) return;
  looked_ns_ = now_ns;
  send_due([](int, Batch& batch) { return batch.is_old_at_look(); });
  sender_.flush();
}

}  // namespace shmemx::am
