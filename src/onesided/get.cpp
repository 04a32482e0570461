// The initiator's side of get: each request is for what one reply holds, so the target keeps no state; several are
// under way at a time.
#include <algorithm>

#include "onesided/direct.hpp"
#include "onesided/operations.hpp"
#include "onesided/rdma.hpp"
#include "onesided/requests.hpp"
#include "onesided/wire.hpp"

namespace shmemx::onesided {
namespace {

constexpr std::uint32_t kPiecesUnderWay = 16;  // of one blocking get; the table has room for those of many threads

std::size_t room_in_reply(int pe) noexcept {
  return round_down(am::max_payload_bytes(pe) - sizeof(ReplyHeader), kCacheLine);
}

// A get under way. `limited` keeps the number of open requests small.
struct Getting {
  const char* routine;
  Initiator initiator;
  bool limited;

  void pace(int pe) const noexcept {
    if (limited) await_replies(routine, pe, *initiator.tracker, kPiecesUnderWay - 1);
  }
};

void get_by_messages(const Getting& getting, Transfer get) noexcept {
  const std::size_t room = room_in_reply(get.place.pe);
  while (get.bytes != 0) {
    const auto piece = static_cast<std::uint32_t>(std::min(get.bytes, room));
    getting.pace(get.place.pe);
    GetHeader header{get.place.window, get.place.offset, piece, 0};
    const am::Leave leave = getting.limited ? am::Leave::now : leave_of_nbi(getting.initiator, piece);
    send_request(get.routine, {get.place.pe, am::kGet, contiguous(get.local, piece), leave}, header, getting.initiator);
    get.skip(piece);
  }
}

// Any message has room for a word.
constexpr bool is_word(std::size_t bytes) noexcept { return bytes <= sizeof(std::uint64_t) && bytes != 0; }
void get_word(const char* routine, const Initiator& initiator, void* dest, const context::Place& source,
              std::size_t bytes, am::Leave leave) noexcept {
  GetHeader header{source.window, source.offset, static_cast<std::uint32_t>(bytes), 0};
  send_request(routine, {source.pe, am::kGet, contiguous(dest, bytes), leave}, header, initiator);
}

void get_blocks_gathered(const Getting& getting, std::byte* dest, const context::Place& source,
                         const rma::Strided& shape, std::size_t most) noexcept {
  const am::Leave leave = shape.block_count > most ? am::Leave::soon : am::Leave::now;  // the caller waits for all
  const auto block_bytes = static_cast<std::uint32_t>(shape.block_bytes);
  for (std::size_t done = 0; done < shape.block_count;) {
    const auto count = static_cast<std::uint32_t>(std::min(most, shape.block_count - done));
    getting.pace(source.pe);
    GetStridedHeader header{
        source.window, source.offset + done * shape.source_step, shape.source_step, block_bytes, count, 0, 0};
    const Placement placement{dest + done * shape.dest_step, shape.dest_step, block_bytes, count};
    send_request(getting.routine, {source.pe, am::kGetStrided, placement, leave}, header, getting.initiator);
    done += count;
  }
}

void start_get(const Getting& getting, void* dest, const context::Place& source, std::size_t bytes) noexcept {
  start({getting.routine, Direction::get, source, static_cast<std::byte*>(dest), bytes}, getting.initiator,
        [&getting](const Transfer& part) { get_by_messages(getting, part); });
}

// The first access to a piece asks for its key.
void start_get_past_target(const Getting& getting, void* dest, const context::Place& source,
                           std::size_t bytes) noexcept {
  start_by_network({getting.routine, Direction::get, source, static_cast<std::byte*>(dest), bytes}, getting.initiator,
                   [&getting](const Transfer& part) { get_by_messages(getting, part); });
}

// Returns false if messages have to do it.
[[gnu::noinline, gnu::cold]] bool get_past_target(const char* routine, void* dest, const context::Place& source,
                                                  std::size_t bytes) noexcept {
  if (bytes == 0) return false;
  if (!may_go_direct(source.pe, Direction::get) || is_public(source.window)) return false;
  Tracker open;
  start_get_past_target({routine, {&open}, true}, dest, source, bytes);
  await_replies(routine, source.pe, open);
  return true;
}

void get_each_block(const Getting& getting, std::byte* dest, context::Place source,
                    const rma::Strided& shape) noexcept {
  for (std::size_t i = 0; i < shape.block_count; ++i) {
    start_get(getting, dest, source, shape.block_bytes);
    source.offset += shape.source_step;
    dest += shape.dest_step;
  }
}

}  // namespace

void get(const char* routine, const context::Context& context, void* dest, context::Place source,
         std::size_t bytes) noexcept {
  if (has_rma_networks) {
    if (has_direct_keys() && bytes != 0 && get_direct(routine, context, dest, source, bytes)) return;
    if (get_past_target(routine, dest, source, bytes)) return;
  }
  Tracker open;
  if (is_word(bytes)) [[likely]] {
    get_word(routine, {&open}, dest, source, bytes, am::Leave::now);
  } else {
    start_get({routine, {&open}, true}, dest, source, bytes);
  }
  await_replies(routine, source.pe, open);
}

namespace {

void get_strided_by_messages(const char* routine, void* dest, const context::Place& source,
                             const rma::Strided& shape) noexcept {
  Tracker open;
  const Getting getting{routine, {&open}, true};
  auto* const to = static_cast<std::byte*>(dest);
  const std::size_t room = std::min(kElementBytes, room_in_reply(source.pe));
  if (shape.block_bytes <= room / 2 && shape.block_bytes < kRdmaBytes) {
    get_blocks_gathered(getting, to, source, shape, room / shape.block_bytes);
  } else {
    get_each_block(getting, to, source, shape);
  }
  await_replies(routine, source.pe, open);
}

void get_strided_past_target(const char* routine, const context::Context& context, void* dest, context::Place source,
                             rma::Strided left) noexcept {
  auto* to = static_cast<std::byte*>(dest);
  const auto skip = [&](std::size_t blocks) {
    source.offset += blocks * left.source_step;
    to += blocks * left.dest_step;
    left.block_count -= blocks;
  };
  for (bool has_asked = false; left.block_count != 0; has_asked = true) {
    const std::size_t done = has_direct_keys() ? get_strided_direct(routine, context, to, source, left) : 0;
    skip(done);
    if (left.block_count == 0) return;
    if (done == 0 && has_asked) return get_strided_by_messages(routine, to, source, left);
    get(routine, context, to, source, left.block_bytes);  // asks for the key of the next piece
    skip(1);
  }
}

}  // namespace

void get_strided(const char* routine, const context::Context& context, void* dest, context::Place source,
                 const rma::Strided& any_shape) noexcept {
  const rma::Strided shape = rma::joined(any_shape);
  if (shape.block_bytes == 0) return;
  if (shape.block_count == 1) return get(routine, context, dest, source, shape.block_bytes);
  if (has_rma_networks && may_go_direct(source.pe, Direction::get))
    return get_strided_past_target(routine, context, dest, source, shape);
  get_strided_by_messages(routine, dest, source, shape);
}

void get_nbi(const char* routine, const context::Context& context, void* dest, context::Place source,
             std::size_t bytes) noexcept {
  const Getting getting{routine, initiator_of(context), false};
  if (has_rma_networks && bytes != 0) {
    if (has_direct_keys() && get_nbi_direct(routine, context, dest, source, bytes)) return;
    if (may_go_direct(source.pe, Direction::get)) return start_get_past_target(getting, dest, source, bytes);
  }
  if (is_word(bytes))
    return get_word(routine, getting.initiator, dest, source, bytes, leave_of_nbi(getting.initiator, bytes));
  start_get(getting, dest, source, bytes);
}

}  // namespace shmemx::onesided
