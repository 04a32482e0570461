#include "progress/send.hpp"

#include "progress/wait.hpp"

namespace shmemx::progress {
namespace {

bool try_send(const am::OutgoingMessage& message) noexcept {
  {
    const am::Locked endpoint;
    if (endpoint->try_send(message)) return true;
  }
  if (!am::poll(am::is_internode(message.pe) ? message.pe : -1)) return false;  // wakes other threads of this PE
  const am::Locked endpoint;
  return endpoint->try_send(message);
}

// The network reads the payload from the caller's memory, so this waits until it has done so.
void send_long(const char* routine, am::OutgoingMessage message) noexcept {
  transport::Outgoing outgoing;
  message.lifetime = am::until_done(outgoing);
  bool taken = false;
  wait_for(routine, [&] {
    const am::Locked endpoint;
    taken = taken || endpoint->try_send(message);
    if (!outgoing.done) endpoint->poll(message.pe);
    return taken && outgoing.done;
  });
}

}  // namespace

void send_waiting(const char* routine, am::OutgoingMessage message) noexcept {
  const bool is_tracked = message.payload.size() >= transport::kLongBytes && !message.lifetime.until_flush;
  if (is_tracked && am::is_internode(message.pe)) return send_long(routine, message);
  wait_for(routine, [&] { return try_send(message); });
}

void LongSends::send(am::OutgoingMessage message) noexcept {
  if (message.payload.size() < transport::kLongBytes || !am::is_internode(message.pe))
    return progress::send(routine_, message);
  message.lifetime = am::until_done(outgoing_.emplace_back(transport::Outgoing{.done = false, .is_patient = true}));
  wait_for(routine_, [&] { return try_send(message); });
}

void LongSends::finish() noexcept {
  while (!outgoing_.empty()) {
    wait_for(routine_, [&] {
      const am::Locked endpoint;
      if (!outgoing_.front().done) endpoint->poll(-1);
      return outgoing_.front().done;
    });
    outgoing_.pop_front();
  }
}

void flush(const char* routine, int pe) noexcept {
  if (am::is_internode(pe)) {
    wait_for(routine, [pe] {
      const am::Locked endpoint;
      return endpoint->try_send_held(pe) || (endpoint->poll(pe), false);
    });
  }
  nemesis::Number number;
  {
    const am::Locked endpoint;
    number = endpoint->number_to_flush(pe);
    if (endpoint->is_flushed(pe, number)) return;
  }
  wait_under_lock(routine, pe, [&](am::Endpoint& endpoint) { return endpoint.is_flushed(pe, number); });
}

void flush_all(const char* routine) noexcept {
  std::size_t count;
  {
    const am::Locked endpoint;
    count = endpoint->unflushed_count();
  }
  if (count == 0) return;
  // The list changes by appending, and here: threads that flush at the same time may take entries away, so each look is
  // checked against its present length.
  for (std::size_t i = count; i-- > 0;) {
    int pe;
    {
      const am::Locked endpoint;
      pe = endpoint->unflushed_pe(i);
    }
    if (pe >= 0) flush(routine, pe);
  }
  const am::Locked endpoint;
  endpoint->drop_flushed();
}

}  // namespace shmemx::progress
