// Double buffering through the receiver's copy buffer: the sender fills chunks while the receiver empties others.
#include <algorithm>

#include "pt2pt/lmt/lmt.hpp"

namespace shmemx::pt2pt {
namespace {

bool suits(Transfers& transfers, const ReceiveRequest&, const Offer&) noexcept {
  return transfers.free_buffer() != nullptr;
}

bool start_receive(Transfers& transfers, ReceiveRequest& receive, const Offer&) noexcept {
  Transfer& transfer = receive.transfer;
  transfer.buffer = transfers.take_buffer(receive);
  transfer.chunk = transfer.buffer->filled.load(std::memory_order_acquire);   // filled: of the transfer before
  transfer.buffer->drained.store(transfer.chunk, std::memory_order_release);  // drained
  transfer.cts_detail = transfer.chunk;
  return true;
}

bool start_send(Transfers& transfers, SendRequest& send, const CtsHeader& cts, const Section&) noexcept {
  send.transfer.buffer = transfers.platform().copy_buffer(send.peer);
  if (send.transfer.buffer == nullptr) return false;
  send.transfer.chunk = cts.detail;
  transfers.start_moving(send);
  return true;
}

bool fill(Transfers& transfers, Request& send) noexcept {
  CopyBuffer& buffer = *send.transfer.buffer;
  std::uint32_t& chunk = send.transfer.chunk;
  bool any = false;
  while (send.cursor.passed() != send.goal) {
    const std::uint32_t ahead = chunk - buffer.drained.load(std::memory_order_acquire);  // drained
    if (ahead >= CopyBuffer::kChunks) break;
    const std::size_t bytes = std::min(CopyBuffer::kChunkBytes, send.goal - send.cursor.passed());
    send.cursor.gather(buffer.chunks[chunk % CopyBuffer::kChunks], bytes);
    buffer.filled.store(++chunk, std::memory_order_release);  // filled
    transfers.platform().wake(send.peer);
    any = true;
  }
  return any;
}

bool empty(Transfers& transfers, Request& receive) noexcept {
  CopyBuffer& buffer = *receive.transfer.buffer;
  std::uint32_t& chunk = receive.transfer.chunk;
  bool any = false;
  while (receive.cursor.passed() != receive.goal && buffer.filled.load(std::memory_order_acquire) != chunk) {  // filled
    const std::size_t bytes = std::min(CopyBuffer::kChunkBytes, receive.goal - receive.cursor.passed());
    receive.cursor.scatter(buffer.chunks[chunk % CopyBuffer::kChunks], bytes);
    buffer.drained.store(++chunk, std::memory_order_release);  // drained
    transfers.platform().wake(receive.peer);
    any = true;
  }
  return any;
}

bool move(Transfers& transfers, Request& request) noexcept {
  const bool any = request.role == Role::send ? fill(transfers, request) : empty(transfers, request);
  if (request.cursor.passed() == request.goal) transfers.finish_moving(request);
  return any;
}

}  // namespace

constexpr Lmt kCopyLmt = {"copy", suits, start_receive, start_send, move};

}  // namespace shmemx::pt2pt
