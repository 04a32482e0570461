#include "onesided/requests.hpp"

#include <algorithm>

#include "base/fatal.hpp"

namespace shmemx::onesided {
namespace {

constexpr std::uint32_t kIndexMask = kMaxRequests - 1;
constexpr std::uint32_t kGenerations = (~std::uint32_t{0} / kMaxRequests) + 1;

// Changed under the endpoint's lock only.
void add(OpenCount& count, std::uint32_t change) noexcept {
  count.store(count.load(std::memory_order_relaxed) + change, std::memory_order_release);  // reply
}
constexpr std::uint32_t kMinusOne = ~std::uint32_t{0};

// Published by the count.
void note(Tracker& tracker, Code code, const RefusedRange& refused) noexcept {
  Code none = 0;
  if (!tracker.error.compare_exchange_strong(none, code, std::memory_order_relaxed)) return;
  tracker.refused_offset.store(refused.offset, std::memory_order_relaxed);
  tracker.refused_bytes.store(refused.bytes, std::memory_order_relaxed);
  tracker.removed_ms.store(refused.removed_ms, std::memory_order_relaxed);
}

}  // namespace

Ticket Requests::open(const Placement& placement, int pe, const Initiator& initiator) noexcept {
  std::uint32_t index = fresh();
  if (freed_ != 0) {
    index = free_[--freed_];
  } else {
    fresh_.store(index + 1, std::memory_order_relaxed);  // the same thread reads it
  }
  Request& entry = entries_[index];
  const std::uint32_t generation = (entry.generation + 1) % kGenerations;
  entry = {placement, initiator, pe, generation, false};
  if (initiator.context != 0) {
    owners_[index].store(owner_of(initiator.context, pe), std::memory_order_relaxed);  // the same thread reads it
    add(nbi_, 1);
  }
  if (initiator.also != nullptr) add(initiator.also->open, 1);
  if (initiator.local != nullptr) [[unlikely]]
    add(initiator.local->open, 1);
  add_to(initiator.counter, 1);
  add(initiator.tracker->open, 1);
  return static_cast<Ticket>(generation * kMaxRequests + index);
}

Request* Requests::find(Ticket ticket, int pe) noexcept {
  Request& entry = entries_[ticket & kIndexMask];
  const bool is_it = entry.initiator.tracker != nullptr && entry.generation == ticket / kMaxRequests && entry.pe == pe;
  return is_it ? &entry : nullptr;
}

void Requests::note_error(const Request& request, Code code, const RefusedRange& refused) noexcept {
  note(*request.initiator.tracker, code, refused);
  if (request.initiator.also != nullptr) note(*request.initiator.also, code, refused);
}

void Requests::close(Ticket ticket) noexcept {
  const std::uint32_t index = ticket & kIndexMask;
  Request& entry = entries_[index];
  const Initiator initiator = entry.initiator;
  entry.initiator.tracker = nullptr;
  free_[freed_++] = static_cast<std::uint16_t>(index);
  if (owners_[index].load(std::memory_order_relaxed) != 0) {  // written under the lock
    owners_[index].store(0, std::memory_order_release);       // owner
    add(nbi_, kMinusOne);
  }
  // The trackers last: once they count nothing, the program may reuse its counter and a waiter may return, which ends
  // the tracker of a caller. A request of a caller has one tracker.
  if (initiator.counter != nullptr) [[unlikely]]
    add_to(initiator.counter, -1);
  if (initiator.local != nullptr) [[unlikely]]
    add(initiator.local->open, kMinusOne);
  add(initiator.tracker->open, kMinusOne);
  if (initiator.also != nullptr) add(initiator.also->open, kMinusOne);
}

bool Requests::any_open(std::uint32_t context, int pe) const noexcept {
  const std::uint64_t sought = owner_of(context, pe);
  return std::any_of(owners_, owners_ + fresh(), [sought](const auto& owner) {
    return owner.load(std::memory_order_acquire) == sought;  // owner
  });
}

bool Requests::any_unanswered(bool (*is_gone)(int pe)) const noexcept {
  if (in_use() == 0) return false;
  return std::any_of(entries_, entries_ + fresh(), [is_gone](const Request& request) {
    return request.initiator.tracker != nullptr && !request.initiator.is_lock && !is_gone(request.pe);
  });
}

Ticket open_request(const char* routine, const Placement& placement, int pe, const Initiator& initiator) noexcept {
  Ticket ticket = 0;
  const auto try_open = [&] {
    const am::Locked endpoint;
    if (!requests.has_room(initiator)) return false;
    ticket = requests.open(placement, pe, initiator);
    return true;
  };
  if (!try_open()) progress::wait_until(routine, -1, try_open);
  return ticket;
}

void reject(const char* what, int source, const char* wrong) noexcept {
  fatal(nullptr, "a message of PE %d, %s, %s; nothing has been touched", source, what, wrong);
}

}  // namespace shmemx::onesided
