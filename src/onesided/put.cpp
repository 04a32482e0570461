// The initiator's side of put and signal: data are cut into pieces that fit a message.
#include <algorithm>

#include "onesided/operations.hpp"
#include "onesided/rdma.hpp"
#include "onesided/wire.hpp"
#include "progress/send.hpp"
#include "progress/wait.hpp"

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

SignalHeader signal_header(const context::Place& signal, std::uint64_t value, int sig_op) noexcept {
  return {signal.window, signal.offset, value, sig_op, 0};
}

void put_by_messages(const char* routine, context::Place dest, const std::byte* source, std::size_t bytes,
                     am::SendOptions options) noexcept {
  const std::size_t room = room_behind(dest.pe, sizeof(PutHeader));
  while (bytes != 0) {
    const std::size_t piece = std::min(bytes, room);
    const PutHeader header{dest.window, dest.offset};
    progress::send(routine, dest.pe, am::kPut, bytes_of(header), bytes_at(source, piece), options);
    dest.offset += piece;
    source += piece;
    bytes -= piece;
  }
}

bool try_put_nbi(const context::Place& dest, Bytes source) noexcept {
  const PutHeader header{dest.window, dest.offset};
  const am::Locked endpoint;
  if (source.size() >= transport::kLongBytes)
    return endpoint->try_send_lasting(dest.pe, am::kPut, bytes_of(header), source);
  return endpoint->try_send_coalesced(dest.pe, am::kPut, bytes_of(header), source);
}

void put_nbi_by_messages(const char* routine, context::Place dest, const std::byte* source, std::size_t bytes,
                         am::SendOptions) noexcept {
  const std::size_t room = room_behind(dest.pe, sizeof(PutHeader));
  while (bytes != 0) {
    const std::size_t piece = std::min(bytes, room);
    if (!try_put_nbi(dest, {source, piece})) {
      progress::wait_for(routine, [&] {
        am::poll();
        return try_put_nbi(dest, {source, piece});
      });
    }
    dest.offset += piece;
    source += piece;
    bytes -= piece;
  }
}

// The source is only read.
Transfer put_of(const char* routine, const context::Place& dest, const void* source, std::size_t bytes) noexcept {
  return {routine, Direction::put, dest, const_cast<std::byte*>(static_cast<const std::byte*>(source)), bytes};
}

struct ByMessages {
  void (*put)(const char*, context::Place, const std::byte*, std::size_t, am::SendOptions) noexcept;
  am::SendOptions options;
};

// By the network as far as it reaches.
void start_put(Transfer put, transport::Completion& open, ByMessages by_messages) noexcept {
  while (put.bytes != 0) {
    const Part part = start_rdma(put, open);
    if (!part.is_started) by_messages.put(put.routine, put.place, put.local, part.bytes, by_messages.options);
    put.skip(part.bytes);
  }
}

// Large blocks: each is a put of its own.
void put_each_block(const char* routine, context::Place dest, const std::byte* source, const rma::Strided& shape,
                    am::SendOptions options) noexcept {
  transport::Completion open;
  const bool by_network = goes_by_rdma(dest.pe, shape.block_bytes);
  for (std::size_t i = 0; i < shape.block_count; ++i) {
    if (by_network) {
      start_put(put_of(routine, dest, source, shape.block_bytes), open, {put_by_messages, options});
    } else {
      put_by_messages(routine, dest, source, shape.block_bytes, options);
    }
    dest.offset += shape.dest_step;
    source += shape.source_step;
  }
  if (by_network) await_rdma(routine, dest.pe, open);
}

}  // namespace

void put(const char* routine, context::Place dest, const void* source, std::size_t bytes,
         am::SendOptions options) noexcept {
  if (!goes_by_rdma(dest.pe, bytes)) [[likely]]
    return put_by_messages(routine, dest, static_cast<const std::byte*>(source), bytes, options);
  transport::Completion open;
  start_put(put_of(routine, dest, source, bytes), open, {put_by_messages, options});
  await_rdma(routine, dest.pe, open);
}

void put_nbi(const char* routine, const context::Context& context, context::Place dest, const void* source,
             std::size_t bytes) noexcept {
  if (!am::is_internode(dest.pe) || bytes == 0) return put(routine, dest, source, bytes);
  if (goes_by_rdma(dest.pe, bytes))
    return start_put(put_of(routine, dest, source, bytes), rdma_puts_of(context), {put_nbi_by_messages, {}});
  put_nbi_by_messages(routine, dest, static_cast<const std::byte*>(source), bytes, {});
}

void put_strided(const char* routine, context::Place dest, const void* source, const rma::Strided& shape,
                 am::SendOptions options) noexcept {
  if (shape.block_bytes == 0) return;
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
    progress::send(routine, dest.pe, am::kPutStrided, bytes_of(header), bytes_at(gathered, count * shape.block_bytes),
                   options);
    done += count;
  }
}

void signal(const char* routine, context::Place signal, std::uint64_t value, int sig_op) noexcept {
  const SignalHeader header = signal_header(signal, value, sig_op);
  progress::send(routine, signal.pe, am::kSignal, bytes_of(header));
}

// The last piece carries the signal; messages of one source are carried out in order. What goes by the network is
// complete before the signal leaves.
void put_signal(const char* routine, context::Place dest, const void* source, std::size_t bytes, context::Place signal,
                std::uint64_t value, int sig_op, am::SendOptions options) noexcept {
  if (bytes == 0 || goes_by_rdma(dest.pe, bytes)) {
    if (bytes != 0) put(routine, dest, source, bytes, options);
    return onesided::signal(routine, signal, value, sig_op);
  }
  const std::size_t last = std::min(bytes, room_behind(dest.pe, sizeof(PutSignalHeader)));
  put(routine, dest, source, bytes - last, options);
  dest.offset += bytes - last;
  const PutSignalHeader header{{dest.window, dest.offset}, signal_header(signal, value, sig_op)};
  progress::send(routine, dest.pe, am::kPutSignal, bytes_of(header),
                 bytes_at(static_cast<const std::byte*>(source) + (bytes - last), last), options);
}

}  // namespace shmemx::onesided
