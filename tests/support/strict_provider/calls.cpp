// The calls of fi_msg and fi_rma.
#include <rdma/fi_errno.h>

#include "domain.hpp"
#include "endpoint.hpp"
#include "no_ops.hpp"
#include "violation.hpp"

namespace strict_provider {
namespace {

constexpr std::uint64_t kSendFlags = FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE |
                                     FI_DELIVERY_COMPLETE | FI_FENCE | FI_MORE | FI_REMOTE_CQ_DATA;
constexpr std::uint64_t kReceiveFlags = FI_COMPLETION | FI_MULTI_RECV | FI_MORE;

Endpoint& endpoint_of(fid_ep* ep) noexcept { return *static_cast<Endpoint*>(ep); }

ssize_t start(fid_ep* ep, const Post& post) {
  Endpoint& endpoint = endpoint_of(ep);
  endpoint.check_enabled(post.call);
  if ((post.flags & ~kSendFlags) != 0) violation("%s: the flags 0x%lx are not supported", post.call, post.flags);
  Cq& queue = *endpoint.transmit.queue;
  const Entry entry(post.call, endpoint.domain.serial_of_endpoint(endpoint.serial, queue.serial), queue.lock);
  return endpoint.transmitter->post(post);
}

ssize_t start_receive(fid_ep* ep, const ReceivePost& post) {
  Endpoint& endpoint = endpoint_of(ep);
  endpoint.check_enabled(post.call);
  if ((post.flags & ~kReceiveFlags) != 0) violation("%s: the flags 0x%lx are not supported", post.call, post.flags);
  Cq& queue = *endpoint.receive.queue;
  const Entry entry(post.call, endpoint.domain.serial_of_endpoint(endpoint.serial, queue.serial), queue.lock);
  return endpoint.receiver->post(post);
}

std::uint64_t default_flags(fid_ep* ep) noexcept { return endpoint_of(ep).grant.send_flags; }
iovec part_of(const void* buffer, std::size_t bytes) noexcept { return {const_cast<void*>(buffer), bytes}; }

// ---- Messages ----

ssize_t receive_vector(fid_ep* ep, const iovec* parts, void** descriptors, std::size_t count, fi_addr_t,
                       void* context) {
  return start_receive(ep, {"fi_recvv", {parts, count}, descriptors, context, endpoint_of(ep).grant.receive_flags});
}

ssize_t receive(fid_ep* ep, void* buffer, std::size_t bytes, void* descriptor, fi_addr_t, void* context) {
  const iovec part{buffer, bytes};
  return start_receive(ep, {"fi_recv", {&part, 1}, &descriptor, context, endpoint_of(ep).grant.receive_flags});
}

ssize_t receive_message(fid_ep* ep, const fi_msg* message, std::uint64_t flags) {
  return start_receive(ep,
                       {"fi_recvmsg", {message->msg_iov, message->iov_count}, message->desc, message->context, flags});
}

Post make_send(const char* call, std::span<const iovec> parts, void* const* descriptors, fi_addr_t peer,
               void* context) {
  return {call, Kind::send, parts, descriptors, peer, {}, context, 0, 0, true};
}

ssize_t send(fid_ep* ep, const void* buffer, std::size_t bytes, void* descriptor, fi_addr_t peer, void* context) {
  const iovec part = part_of(buffer, bytes);
  Post post = make_send("fi_send", {&part, 1}, &descriptor, peer, context);
  post.flags = default_flags(ep);
  return start(ep, post);
}

ssize_t send_vector(fid_ep* ep, const iovec* parts, void** descriptors, std::size_t count, fi_addr_t peer,
                    void* context) {
  Post post = make_send("fi_sendv", {parts, count}, descriptors, peer, context);
  post.flags = default_flags(ep);
  return start(ep, post);
}

ssize_t send_message(fid_ep* ep, const fi_msg* message, std::uint64_t flags) {
  Post post =
      make_send("fi_sendmsg", {message->msg_iov, message->iov_count}, message->desc, message->addr, message->context);
  post.flags = flags;
  post.data = message->data;
  return start(ep, post);
}

ssize_t inject_data(fid_ep* ep, const void* buffer, std::size_t bytes, std::uint64_t data, fi_addr_t peer) {
  const iovec part = part_of(buffer, bytes);
  Post post = make_send("fi_injectdata", {&part, 1}, nullptr, peer, nullptr);
  post.flags = FI_INJECT | FI_REMOTE_CQ_DATA;
  post.has_completion = false;
  post.data = data;
  return start(ep, post);
}

ssize_t inject(fid_ep* ep, const void* buffer, std::size_t bytes, fi_addr_t peer) {
  const iovec part = part_of(buffer, bytes);
  Post post = make_send("fi_inject", {&part, 1}, nullptr, peer, nullptr);
  post.flags = FI_INJECT;
  post.has_completion = false;
  return start(ep, post);
}

ssize_t send_data(fid_ep* ep, const void* buffer, std::size_t bytes, void* descriptor, std::uint64_t data,
                  fi_addr_t peer, void* context) {
  const iovec part = part_of(buffer, bytes);
  Post post = make_send("fi_senddata", {&part, 1}, &descriptor, peer, context);
  post.flags = default_flags(ep) | FI_REMOTE_CQ_DATA;
  post.data = data;
  return start(ep, post);
}

// ---- RMA ----

ssize_t transfer_vector(fid_ep* ep, Post post, std::uint64_t address, std::uint64_t key) {
  fi_rma_iov remote{address, 0, key};
  for (const iovec& part : post.local) remote.len += part.iov_len;
  post.remote = {&remote, 1};
  return start(ep, post);
}

ssize_t transfer_message(fid_ep* ep, Post post, const fi_msg_rma* message) {
  post.local = {message->msg_iov, message->iov_count};
  post.descriptors = message->desc;
  post.peer = message->addr;
  post.remote = {message->rma_iov, message->rma_iov_count};
  post.context = message->context;
  if ((post.flags & FI_REMOTE_CQ_DATA) != 0) violation("%s: FI_REMOTE_CQ_DATA is not supported", post.call);
  return start(ep, post);
}

ssize_t read_vector(fid_ep* ep, const iovec* parts, void** descriptors, std::size_t count, fi_addr_t peer,
                    std::uint64_t address, std::uint64_t key, void* context) {
  return transfer_vector(
      ep, {"fi_readv", Kind::read, {parts, count}, descriptors, peer, {}, context, default_flags(ep), 0, true}, address,
      key);
}

ssize_t read_one(fid_ep* ep, void* buffer, std::size_t bytes, void* descriptor, fi_addr_t peer, std::uint64_t address,
                 std::uint64_t key, void* context) {
  const iovec part{buffer, bytes};
  return transfer_vector(
      ep, {"fi_read", Kind::read, {&part, 1}, &descriptor, peer, {}, context, default_flags(ep), 0, true}, address,
      key);
}

ssize_t read_message(fid_ep* ep, const fi_msg_rma* message, std::uint64_t flags) {
  return transfer_message(ep, {"fi_readmsg", Kind::read, {}, nullptr, 0, {}, nullptr, flags, 0, true}, message);
}

ssize_t write_vector(fid_ep* ep, const iovec* parts, void** descriptors, std::size_t count, fi_addr_t peer,
                     std::uint64_t address, std::uint64_t key, void* context) {
  return transfer_vector(
      ep, {"fi_writev", Kind::write, {parts, count}, descriptors, peer, {}, context, default_flags(ep), 0, true},
      address, key);
}

ssize_t write_one(fid_ep* ep, const void* buffer, std::size_t bytes, void* descriptor, fi_addr_t peer,
                  std::uint64_t address, std::uint64_t key, void* context) {
  const iovec part = part_of(buffer, bytes);
  return transfer_vector(
      ep, {"fi_write", Kind::write, {&part, 1}, &descriptor, peer, {}, context, default_flags(ep), 0, true}, address,
      key);
}

ssize_t write_message(fid_ep* ep, const fi_msg_rma* message, std::uint64_t flags) {
  return transfer_message(ep, {"fi_writemsg", Kind::write, {}, nullptr, 0, {}, nullptr, flags, 0, true}, message);
}

ssize_t inject_write(fid_ep* ep, const void* buffer, std::size_t bytes, fi_addr_t peer, std::uint64_t address,
                     std::uint64_t key) {
  const iovec part = part_of(buffer, bytes);
  return transfer_vector(
      ep, {"fi_inject_write", Kind::write, {&part, 1}, nullptr, peer, {}, nullptr, FI_INJECT, 0, false}, address, key);
}

}  // namespace

fi_ops_msg message_ops = {sizeof(fi_ops_msg), receive,      receive_vector, receive_message, send,
                          send_vector,        send_message, inject,         send_data,       inject_data};
fi_ops_rma rma_ops = {sizeof(fi_ops_rma), read_one,      read_vector,  read_message, write_one,
                      write_vector,       write_message, inject_write, kNo,          kNo};

}  // namespace strict_provider
