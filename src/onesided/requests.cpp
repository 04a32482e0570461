#include "onesided/requests.hpp"

#include <algorithm>

#include "base/fatal.hpp"

namespace shmemx::onesided {
namespace {

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
  return open_in_line(placement, pe, initiator);
}

void Requests::note_error(const Request& request, Code code, const RefusedRange& refused) noexcept {
  note(*request.initiator.tracker, code, refused);
  if (request.initiator.also != nullptr) note(*request.initiator.also, code, refused);
}

void Requests::close(Ticket ticket) noexcept { close_in_line(ticket); }

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
