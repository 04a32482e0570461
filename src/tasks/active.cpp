#include "tasks/active.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

#include "am/endpoint.hpp"
#include "base/fatal.hpp"
#include "progress/policy.hpp"
#include "progress/send.hpp"
#include "progress/wait.hpp"
#include "tasks/pieces.hpp"

namespace shmemx::tasks {
namespace {

using am::Bytes;
using am::bytes_of;
using am::Endpoint;
using am::kActive;
using am::kActivePiece;
using am::Locked;
using am::Message;
using am::Verdict;

// In front of a message in one piece. Header and a word fit the line that a pair shares (nemesis/).
struct WholeHead {
  std::uint32_t id;
  std::uint32_t bytes;
};
static_assert(sizeof(WholeHead) == 8);  // the payload behind it stays aligned

constinit std::atomic<std::uint32_t> next_message{1};
// Read by each send: by its offset from the thread's own block, since a look-up would be a call.
[[gnu::tls_model("initial-exec")]] constinit thread_local bool in_handler = false;

using Words = std::vector<std::uint64_t>;
PartialMessages<Words>& partials() {
  static auto* const list = new PartialMessages<Words>;
  return *list;
}

void deliver(int source, std::uint32_t id, const void* payload, std::size_t bytes) {
  const Handler target = handler_table.find(static_cast<std::uint16_t>(id), HandlerKind::active);
  if (target.function == nullptr)
    fatal("shmemx_am_send", "PE %d has sent a message to handler %u, which this PE has not registered", source, id);
  in_handler = true;
  target.function(source, payload, bytes, target.argument);
  in_handler = false;
}

[[noreturn]] void reject(int source) {
  fatal("shmemx_am_send", "a message of PE %d is not one of this library", source);
}

Verdict on_whole(Endpoint&, const Message& message) {
  WholeHead head;
  Bytes payload = message.payload;
  if (!take_header(payload, head)) [[unlikely]]
    reject(message.source);
  if (head.id >= kHandlers || head.bytes != payload.size()) [[unlikely]]
    reject(message.source);
  deliver(message.source, head.id, payload.data(), payload.size());
  return Verdict::done;
}

Verdict on_piece(Endpoint&, const Message& message) {
  PieceHead head;
  Bytes piece = message.payload;
  if (!take_header(piece, head) || head.detail >= kHandlers || head.total > kActiveMaxBytes) reject(message.source);
  const auto make = [&head](Words& words) {
    words.resize((head.total + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
    return reinterpret_cast<std::byte*>(words.data());
  };
  using Added = PartialMessages<Words>::Added;
  Words whole;
  const Added added = partials().add(message.source, head, piece, make, whole);
  if (added == Added::damaged)
    fatal("shmemx_am_send", "a piece of a message of PE %d does not fit to the pieces before it", message.source);
  if (added == Added::whole) deliver(message.source, head.detail, whole.data(), head.total);
  return Verdict::done;
}

// Calls send(handler, header, piece) for each piece. The caller has checked the length.
template <class Send>
[[gnu::always_inline]] inline void for_each_piece(int id, const void* payload, std::size_t bytes, Send send) {
  const auto* const data = static_cast<const std::byte*>(payload);
  const std::size_t cell_bytes = am::own_endpoint().max_payload_bytes();
  if (bytes <= cell_bytes - sizeof(WholeHead)) [[likely]] {
    const WholeHead head{static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(bytes)};
    return send(kActive, bytes_of(head), Bytes{data, bytes});
  }
  const std::size_t room = cell_bytes - sizeof(PieceHead);
  const std::uint32_t message = next_message.fetch_add(1, std::memory_order_relaxed);  // a name only
  for (std::size_t offset = 0; offset < bytes;) {
    const std::size_t part = std::min(room, bytes - offset);
    const PieceHead head{message, static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(bytes),
                         static_cast<std::uint32_t>(id)};
    send(kActivePiece, bytes_of(head), Bytes{data + offset, part});
    offset += part;
  }
}

}  // namespace

bool set_active_handler(std::uint16_t id, HandlerFunction handler, void* argument) noexcept {
  progress::open();
  const Locked endpoint;
  return handler_table.set(id, HandlerKind::active, handler, argument);
}

void send_active(const char* routine, int pe, int id, const void* payload, std::size_t bytes) noexcept {
  if (in_handler) {
    Endpoint& endpoint = Locked::held();
    for_each_piece(id, payload, bytes, [&](am::HandlerId handler, Bytes head, Bytes piece) {
      if (endpoint.try_reply({.pe = pe, .handler = handler, .header = head, .payload = piece})) return;
      fatal("shmemx_am_send", "handlers have left more than %zu bytes unsent, allowed are %zu (SHMEMX_PENDING_MAX)",
            endpoint.replies().bytes(), endpoint.replies().limit_bytes());
    });
    return;
  }
  for_each_piece(id, payload, bytes, [&](am::HandlerId handler, Bytes head, Bytes piece) {
    progress::send(routine, {.pe = pe, .handler = handler, .header = head, .payload = piece});
  });
}

void flush_active(const char* routine) noexcept {
  progress::wait_until(routine, -1, [] {
    const Locked endpoint;
    return !endpoint->replies().holds(kActive) && !endpoint->replies().holds(kActivePiece);
  });
  progress::flush_all(routine);
}

void set_active_handlers() noexcept {
  am::set_handler(kActive, on_whole);
  am::set_handler(kActivePiece, on_piece);
}

}  // namespace shmemx::tasks
