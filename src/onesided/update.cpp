#include "onesided/update.hpp"

#include "onesided/requests.hpp"
#include "progress/send.hpp"

namespace shmemx::onesided {
namespace {

RequestMessage request_for(const context::Place& place, const atomic::Operation& operation, void* at,
                           am::Leave leave) noexcept {
  return {place.pe, am::kAtomicFetch, contiguous(at, atomic::element_bytes(operation.type)), leave};
}

}  // namespace

void post(const char* routine, const context::Place& place, const atomic::Operation& operation,
          am::SendOptions options) noexcept {
  const AtomicHeader header = header_of(place, operation);
  progress::send(routine, {.pe = place.pe,
                           .handler = am::kAtomic,
                           .header = am::bytes_of(header),
                           .leave = options.leave,
                           .counting = options.counting});
}

std::uint64_t fetch(const char* routine, const context::Place& place, const atomic::Operation& operation) noexcept {
  std::uint64_t bits = 0;
  Tracker open;
  AtomicHeader header = header_of(place, operation);
  send_request(routine, request_for(place, operation, &bits, am::Leave::now), header, {&open});
  await_replies(routine, place.pe, open);
  return bits;
}

void fetch_nbi(const char* routine, const context::Context& context, void* fetch, const context::Place& place,
               const atomic::Operation& operation) noexcept {
  AtomicHeader header = header_of(place, operation);
  const Initiator initiator = initiator_of(context);
  const am::Leave leave = leave_of_nbi(initiator, sizeof(std::uint64_t));
  send_request(routine, request_for(place, operation, fetch, leave), header, initiator);
}

}  // namespace shmemx::onesided
