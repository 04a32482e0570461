// The initiator's side of put and signal: data are cut into pieces that fit a message.
#include <algorithm>

#include "onesided/direct.hpp"
#include "onesided/operations.hpp"
#include "onesided/rdma.hpp"
#include "onesided/wire.hpp"
#include "progress/send.hpp"

namespace shmemx::onesided {
namespace {

using am::bytes_of;

// Whole lines, so that no element of the user's is cut in two.
std::size_t room_behind(int pe, std::size_t header_bytes) noexcept {
  return round_down(am::max_payload_bytes(pe) - header_bytes, kCacheLine);
}

Bytes bytes_at(const void* source, std::size_t bytes) noexcept {
  return {static_cast<const std::byte*>(source), bytes};
}

SignalHeader signal_header(const Signal& signal) noexcept {
  return {signal.place.window, signal.place.offset, signal.value, signal.sig_op, 0};
}

// How the messages of a put leave.
struct Sending {
  am::Lifetime lifetime;  // of the source
  am::SendOptions options;
};
constexpr Sending kNonblocking{am::kUntilFlush, {.leave = am::Leave::soon}};

[[gnu::always_inline]] inline void send(const char* routine, int pe, am::HandlerId handler, Bytes header, Bytes data,
                                        const Sending& sending) noexcept {
  progress::send(routine,
                 {pe, handler, header, data, sending.lifetime, sending.options.leave, sending.options.counting});
}

void put_by_messages(Transfer put, const Sending& sending) noexcept {
  const std::size_t room = room_behind(put.place.pe, sizeof(PutHeader));
  while (put.bytes != 0) {
    const Bytes piece{put.local, std::min(put.bytes, room)};
    const PutHeader header{put.place.window, put.place.offset};
    send(put.routine, put.place.pe, am::kPut, bytes_of(header), piece, sending);
    put.skip(piece.size());
  }
}

// The source is only read.
Transfer put_of(const char* routine, const context::Place& dest, const void* source, std::size_t bytes) noexcept {
  return {routine, Direction::put, dest, const_cast<std::byte*>(static_cast<const std::byte*>(source)), bytes};
}

void start_put(const Transfer& put, const Initiator& initiator, const Sending& sending) noexcept {
  start(put, initiator, [sending](const Transfer& part) { put_by_messages(part, sending); });
}

// Large blocks: each is a put of its own.
void put_each_block(const char* routine, context::Place dest, const std::byte* source, const rma::Strided& shape,
                    am::SendOptions options) noexcept {
  Tracker open;
  for (std::size_t i = 0; i < shape.block_count; ++i) {
    start_put(put_of(routine, dest, source, shape.block_bytes), {&open}, {am::kDuringCall, options});
    dest.offset += shape.dest_step;
    source += shape.source_step;
  }
  await_replies(routine, dest.pe, open);
}

// Apart from the rest, whose stack frames they would make larger.
[[gnu::noinline]] void put_small(const char* routine, const context::Place& dest, const void* source, std::size_t bytes,
                                 am::SendOptions options) noexcept {
  const PutHeader header{dest.window, dest.offset};
  send(routine, dest.pe, am::kPut, bytes_of(header), bytes_at(source, bytes), {am::kDuringCall, options});
}
[[gnu::noinline]] void put_signal_small(const char* routine, const context::Place& dest, Bytes data,
                                        const Signal& signal, am::SendOptions options) noexcept {
  const PutSignalHeader header{{dest.window, dest.offset}, signal_header(signal)};
  send(routine, dest.pe, am::kPutSignal, bytes_of(header), data, {am::kDuringCall, options});
}

}  // namespace

void put(const char* routine, context::Place dest, const void* source, std::size_t bytes,
         am::SendOptions options) noexcept {
  if (am::may_gather(dest.pe, sizeof(PutHeader) + bytes) && bytes != 0)
    return put_small(routine, dest, source, bytes, options);
  if (!goes_by_rdma(dest.pe, bytes, Direction::put)) [[likely]]
    return put_by_messages(put_of(routine, dest, source, bytes), {am::kDuringCall, options});
  Tracker open;
  start_put(put_of(routine, dest, source, bytes), {&open}, {am::kDuringCall, options});
  await_replies(routine, dest.pe, open);
}

namespace {

// Asks for the key first. From then on the direct path has it.
[[gnu::noinline]] void put_by_network(const Initiator& initiator, const Transfer& put,
                                      const Sending& sending) noexcept {
  start_by_network(put, initiator, [sending](const Transfer& part) { put_by_messages(part, sending); });
}

[[gnu::noinline, gnu::cold]] bool put_past_target(const char* routine, const context::Context& context,
                                                  const context::Place& dest, const void* source,
                                                  std::size_t bytes) noexcept {
  if (bytes == 0 || !may_go_direct(dest.pe, Direction::put)) return false;
  Tracker open;
  put_by_network({&open}, put_of(routine, dest, source, bytes), {am::kDuringCall, options_of(context)});
  await_replies(routine, dest.pe, open);
  return true;
}

[[gnu::noinline, gnu::cold]] bool put_nbi_past_target(const char* routine, const context::Context& context,
                                                      const context::Place& dest, const void* source,
                                                      std::size_t bytes) noexcept {
  if (!may_go_direct(dest.pe, Direction::put)) return false;
  const std::uint32_t index = index_of(context);
  put_by_network({&open_table[index], index, false, &put_table[index]}, put_of(routine, dest, source, bytes),
                 kNonblocking);
  return true;
}

}  // namespace

void put(const char* routine, const context::Context& context, const context::Place& dest, const void* source,
         std::size_t bytes) noexcept {
  if (has_rma_networks) {
    if (has_direct_keys() && bytes != 0 && put_direct(routine, context, dest, source, bytes)) return;
    order_message(routine, context);
    if (put_past_target(routine, context, dest, source, bytes)) return;
  }
  put(routine, dest, source, bytes, options_of(context));
}

void put_nbi(const char* routine, const context::Context& context, context::Place dest, const void* source,
             std::size_t bytes) noexcept {
  if (!am::is_internode(dest.pe) || bytes == 0) return put(routine, dest, source, bytes);
  if (has_rma_networks) {
    if (has_direct_keys() && put_nbi_direct(routine, context, dest, source, bytes)) return;
    order_message(routine, context);
    if (put_nbi_past_target(routine, context, dest, source, bytes)) return;
  }
  if (bytes < kRdmaBytes) [[likely]] {  // one message between nodes
    const PutHeader header{dest.window, dest.offset};
    const am::SendOptions options = options_of(context);
    if (am::Gathering::gathers(options.leave, options.counting, sizeof header + bytes)) [[likely]]
      return put_small(routine, dest, source, bytes, options);
    return send(routine, dest.pe, am::kPut, bytes_of(header), bytes_at(source, bytes), kNonblocking);
  }
  const std::uint32_t index = index_of(context);
  start_put(put_of(routine, dest, source, bytes), {&open_table[index], index, false, &put_table[index]}, kNonblocking);
}

void put_strided(const char* routine, context::Place dest, const void* source, const rma::Strided& any_shape,
                 am::SendOptions options) noexcept {
  const rma::Strided shape = rma::joined(any_shape);
  if (shape.block_bytes == 0) return;
  if (shape.block_count == 1) return put(routine, dest, source, shape.block_bytes, options);
  const auto* const from = static_cast<const std::byte*>(source);
  const std::size_t room = std::min(kGatherBytes, room_behind(dest.pe, sizeof(PutStridedHeader)));
  if (shape.block_bytes > room / 2) return put_each_block(routine, dest, from, shape, options);
  std::byte gathered[kGatherBytes];
  const std::size_t most = room / shape.block_bytes;
  for (std::size_t done = 0; done < shape.block_count;) {
    const std::size_t count = std::min(most, shape.block_count - done);
    rma::copy_strided(gathered, from + done * shape.source_step,
                      {shape.block_bytes, count, shape.block_bytes, shape.source_step});
    const PutStridedHeader header{dest.window, dest.offset + done * shape.dest_step, shape.dest_step,
                                  static_cast<std::uint32_t>(shape.block_bytes), static_cast<std::uint32_t>(count)};
    const Bytes blocks{gathered, count * shape.block_bytes};
    send(routine, dest.pe, am::kPutStrided, bytes_of(header), blocks, {am::kDuringCall, options});
    done += count;
  }
}

void put_strided(const char* routine, const context::Context& context, const context::Place& dest, const void* source,
                 const rma::Strided& any_shape) noexcept {
  const auto* from = static_cast<const std::byte*>(source);
  context::Place place = dest;
  rma::Strided left = rma::joined(any_shape);
  const auto skip = [&](std::size_t blocks) {
    place.offset += blocks * left.dest_step;
    from += blocks * left.source_step;
    left.block_count -= blocks;
  };
  bool has_asked = false;
  while (has_rma_networks && left.block_count != 0 && left.block_bytes != 0) {
    const std::size_t done = has_direct_keys() ? put_strided_direct(routine, context, place, from, left) : 0;
    skip(done);
    if (left.block_count == 0 || (done == 0 && has_asked) || !may_go_direct(dest.pe, Direction::put)) break;
    put(routine, context, place, from, left.block_bytes);  // asks for the key of the next piece
    has_asked = true;
    skip(1);
  }
  if (left.block_count == 0) return;
  order_message(routine, context);
  put_strided(routine, place, from, left, options_of(context));
}

void update_signal(const char* routine, const Signal& signal, am::SendOptions options) noexcept {
  const SignalHeader header = signal_header(signal);
  send(routine, signal.place.pe, am::kSignal, bytes_of(header), {}, {am::kDuringCall, options});
}

// The last piece carries the signal; messages of one source are carried out in order. What goes by the network is
// complete before the signal leaves.
void put_signal(const char* routine, context::Place dest, const void* source, std::size_t bytes, const Signal& signal,
                am::SendOptions options) noexcept {
  if (am::may_gather(dest.pe, sizeof(PutSignalHeader) + bytes) && bytes != 0)
    return put_signal_small(routine, dest, bytes_at(source, bytes), signal, options);
  if (bytes == 0 || goes_by_rdma(dest.pe, bytes, Direction::put)) {
    if (bytes != 0) put(routine, dest, source, bytes, options);
    return update_signal(routine, signal, options);
  }
  const std::size_t last = std::min(bytes, room_behind(dest.pe, sizeof(PutSignalHeader)));
  put(routine, dest, source, bytes - last, options);
  dest.offset += bytes - last;
  const PutSignalHeader header{{dest.window, dest.offset}, signal_header(signal)};
  const Bytes rest = bytes_at(static_cast<const std::byte*>(source) + (bytes - last), last);
  send(routine, dest.pe, am::kPutSignal, bytes_of(header), rest, {am::kDuringCall, options});
}

void send_gathered() noexcept {
  const am::Locked endpoint;
  endpoint->flush_gathered();
}

}  // namespace shmemx::onesided
