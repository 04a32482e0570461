#include "receiver.hpp"

#include <rdma/fi_errno.h>

#include <algorithm>
#include <cstring>

#include "domain.hpp"
#include "endpoint.hpp"
#include "violation.hpp"

namespace strict_provider {
namespace {

constexpr int kMessagesPerProgress = 64;
constexpr std::uint64_t kRefusals = 8;

}  // namespace

std::vector<iovec> Receiver::Buffer::rest() const {
  std::vector<iovec> parts = local;
  if (!parts.empty()) {
    parts.front().iov_base = static_cast<std::byte*>(parts.front().iov_base) + used;
    parts.front().iov_len -= used;
  }
  return parts;
}

std::size_t Receiver::Buffer::room() const noexcept {
  std::size_t bytes = 0;
  for (const iovec& part : local) bytes += part.iov_len;
  return bytes - used;
}

Receiver::Receiver(Endpoint& endpoint) noexcept : endpoint_(endpoint), inbox_(*endpoint.memory.get()) {}

ssize_t Receiver::post(const ReceivePost& post) {
  endpoint_.check_enabled(post.call);
  const Grant& grant = endpoint_.grant;
  constexpr std::uint64_t kCaps = FI_MSG | FI_RECV;
  if ((grant.caps & kCaps) != kCaps) violation("%s: the endpoint was opened without this capability", post.call);
  const bool is_for_many = (post.flags & FI_MULTI_RECV) != 0;
  if (is_for_many && (grant.caps & FI_MULTI_RECV) == 0) violation("%s: FI_MULTI_RECV is not granted", post.call);
  if (post.local.size() > (is_for_many ? 1 : grant.limits.parts))
    violation("%s: %zu parts, %zu are allowed", post.call, post.local.size(), grant.limits.parts);
  const bool is_full = buffers_.size() >= grant.limits.receives;
  if (is_full && !grant.refuses_when_full)
    violation("%s: %zu receives are posted, and resources are not managed", post.call, buffers_.size());
  Transmitter& sender = *endpoint_.transmitter;
  if (is_full || (sender.has_chance() && sender.random().below(kRefusals) == 0)) return -FI_EAGAIN;
  Buffer buffer{post.call,   {post.local.begin(), post.local.end()}, {}, post.context, 0,
                is_for_many, endpoint_.receive.signals(post.flags)};
  for (std::size_t i = 0; i < post.local.size(); ++i) {
    const void* descriptor = post.descriptors != nullptr ? post.descriptors[i] : nullptr;
    Region* region = endpoint_.use_region(post.call, post.local[i], descriptor, FI_RECV);
    if (region != nullptr) buffer.regions.push_back(region);
  }
  endpoint_.contexts.open(post.call, post.context);
  if (sender.has_chance()) fill(buffer.local);
  buffers_.push_back(std::move(buffer));
  return 0;
}

void Receiver::end(Buffer& buffer) {
  for (Region* region : buffer.regions) --region->operations;
  endpoint_.contexts.close(buffer.call, buffer.context);
}

bool Receiver::cancel(void* context) {
  const auto found = std::ranges::find_if(buffers_, [&](const Buffer& buffer) { return buffer.context == context; });
  if (found == buffers_.end()) return false;
  Completion completion{};
  completion.source = FI_ADDR_NOTAVAIL;
  completion.entry.op_context = context;
  completion.entry.flags = FI_MSG | FI_RECV | (found->is_for_many ? FI_MULTI_RECV : 0);
  completion.entry.err = FI_ECANCELED;
  end(*found);
  buffers_.erase(found);
  endpoint_.receive.queue->add(completion);
  return true;
}

bool Receiver::has_work() noexcept {
  if (inbox_.is_empty() || !buffers_.empty()) return !inbox_.is_empty();
  const Cell* const cell = inbox_.peek();
  return cell != nullptr && cell->header.kind != CellKind::message;
}

void Receiver::progress() {
  for (int i = 0; i < kMessagesPerProgress; ++i) {
    Cell* cell = inbox_.peek();
    if (cell == nullptr) return;
    if (cell->header.kind != CellKind::message) {
      carry_out(*cell);
    } else if (buffers_.empty() || !take(*cell)) {
      return;
    }
  }
}

// RMA in software: reads or writes this process's memory for the sender, which looks whether the cell is consumed.
void Receiver::carry_out(Cell& cell) {
  if (!inbox_.claim(cell)) return;
  const MessageHeader& header = cell.header;
  const bool is_write = header.kind == CellKind::write;
  const Waker waker = header.waker;
  const int error = copy_memory(is_write, waker.pid, {header.remote, header.remote + header.remote_count},
                                {header.parts, header.parts + header.part_count});
  if (error != 0 && is_alive(waker.pid, header.sender_identity_at, header.sender))
    violation("RMA: the buffer of %lu bytes at %p is not mapped while it is used", header.bytes,
              header.parts[0].iov_base);
  inbox_.release(cell);
  waker.wake();
}

void Receiver::check_untouched(const Buffer& buffer, std::size_t bytes) const {
  if (!endpoint_.transmitter->has_chance()) return;
  const std::vector<iovec> parts = buffer.rest();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const iovec& part = parts[i];
    const std::size_t here = std::min(part.iov_len, bytes);
    if (buffer.local[i].iov_len <= kMostFilled && !is_filled(part.iov_base, here))
      violation("%s: the posted buffer at %p was changed", buffer.call, part.iov_base);
    bytes -= here;
  }
}

// Releases the first buffer, which is for many messages.
void Receiver::release_first(bool tells) {
  Buffer buffer = std::move(buffers_.front());
  buffers_.pop_front();
  end(buffer);
  if (!tells) return;
  Completion completion{};
  completion.source = FI_ADDR_NOTAVAIL;
  completion.entry.op_context = buffer.context;
  completion.entry.flags = FI_MULTI_RECV;
  endpoint_.receive.queue->add(completion);
}

// Returns false if the message has to wait for another buffer.
bool Receiver::take(Cell& cell) {
  const MessageHeader& header = cell.header;
  if (buffers_.front().is_for_many && header.bytes > buffers_.front().room()) {
    if (buffers_.front().used != 0) release_first(true);
    if (buffers_.empty()) return false;
  }
  if (!inbox_.claim(cell)) return true;  // withdrawn: the next call skips it
  Buffer& buffer = buffers_.front();
  const std::size_t bytes = std::min<std::size_t>(header.bytes, buffer.room());
  check_untouched(buffer, bytes);
  const std::vector<iovec> parts = buffer.rest();
  const int error = place(header, cell.payload, parts);
  Completion completion{};
  completion.entry.flags = FI_MSG | FI_RECV | (header.has_data ? FI_REMOTE_CQ_DATA : 0);
  completion.entry.len = bytes;
  completion.entry.buf = parts.empty() ? nullptr : parts.front().iov_base;
  completion.entry.data = header.data;
  completion.entry.olen = header.bytes - bytes;
  completion.entry.err = header.bytes > bytes ? FI_ETRUNC : 0;
  completion.source = endpoint_.av->find_number(header.sender);
  const Waker waker = header.notifies ? header.waker : Waker{};
  inbox_.release(cell);
  waker.wake();
  if (error == 0) complete(buffer, completion);
  return true;
}

// Copies a message into a buffer. Returns an error if the sender is gone.
int Receiver::place(const MessageHeader& header, const std::byte* payload, const std::vector<iovec>& parts) {
  if (header.is_pulled) {
    const std::vector<iovec> remote(header.parts, header.parts + header.part_count);
    if (copy_memory(true, header.waker.pid, parts, remote) == 0) return 0;
    if (is_alive(header.waker.pid, header.sender_identity_at, header.sender))
      violation("fi_send: the buffer of %lu bytes at %p is not mapped while it is sent", header.bytes,
                header.parts[0].iov_base);
    return FI_EHOSTUNREACH;
  }
  std::size_t left = header.bytes;
  for (const iovec& part : parts) {
    const std::size_t here = std::min(part.iov_len, left);
    if (here != 0) std::memcpy(part.iov_base, payload, here);
    payload += here;
    left -= here;
  }
  return 0;
}

void Receiver::complete(const Buffer& buffer, Completion& completion) {
  Counts& counts = endpoint_.transmitter->counts();
  ++counts.receives;
  counts.bytes_received += completion.entry.len;
  completion.entry.op_context = buffer.context;
  const bool is_signalled = buffer.is_signalled || completion.entry.err != 0;
  Cq& queue = *endpoint_.receive.queue;
  if (!buffer.is_for_many) {
    Buffer last = std::move(buffers_.front());
    buffers_.pop_front();
    end(last);
    if (is_signalled) queue.add(completion);
    return;
  }
  buffers_.front().used += completion.entry.len;
  const bool is_used_up = buffer.room() < least_room_;
  const bool is_separate = endpoint_.domain.mode.has(kSeparateRelease);
  if (is_used_up && !is_separate) completion.entry.flags |= FI_MULTI_RECV;
  if (is_signalled) queue.add(completion);
  if (is_used_up) release_first(is_separate);
}

void Receiver::finish() {
  for (Buffer& buffer : buffers_) {
    for (Region* region : buffer.regions) --region->operations;
  }
  buffers_.clear();
}

}  // namespace strict_provider
