#include "am/dispatch.hpp"

#include "base/fatal.hpp"

namespace shmemx::am {

void set_handler(HandlerId id, Handler handler, HandlerTraits traits) noexcept {
  HandlerEntry& entry = handler_table[id];
  if (entry.handler == handler && entry.traits == traits) return;
  entry.handler = handler;
  entry.traits = traits;
}

void set_placement(HandlerId id, Placement placement) noexcept {
  if (handler_table[id].placement == placement) return;
  handler_table[id].placement = placement;
}

// A box message is copied: the slots have to be freed in order, and nothing behind it may wait for it.
bool Dispatch::defer(const nemesis::ShmMessage& message) noexcept {
  Deferred& kept = deferred_.emplace_back(Deferred{message.source, message.handler, message.cell, {}, {}});
  if (message.cell == nullptr) {
    kept.copy.assign(message.payload.begin(), message.payload.end());
  } else {
    kept.in_cell = message.payload;
  }
  return false;
}

void Dispatch::deliver_placed(int source, unsigned handler, Bytes header, std::size_t payload_bytes) noexcept {
  as_handler([&] {
    handler_table[handler].placement.placed(endpoint_, source, header, payload_bytes);
    return true;
  });
}

void Dispatch::reject(int source, unsigned handler) noexcept {
  fatal(nullptr, "a message of PE %d names handler %u, which does not exist", source, handler);
}

}  // namespace shmemx::am
