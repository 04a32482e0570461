#include "transmitter.hpp"

#include <rdma/fi_errno.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <numeric>

#include "domain.hpp"
#include "endpoint.hpp"
#include "violation.hpp"

namespace strict_provider {
namespace {

constexpr std::uint64_t kRefusals = 8;        // of this number of posts, chance refuses one
constexpr std::uint64_t kMostDelay = 5;       // rounds
constexpr std::uint32_t kSendsPerCheck = 16;  // without chance, each so often a peer's life is checked
constexpr std::uint32_t kWaitsPerCheck = 64;
constexpr std::size_t kLeastTorn = 16;  // bytes
constexpr auto kPatience = std::chrono::milliseconds(200);

std::uint64_t access_of(Kind kind) noexcept {
  return kind == Kind::send ? FI_SEND : kind == Kind::read ? FI_READ : FI_WRITE;
}

std::size_t total(std::span<const iovec> parts) noexcept {
  return std::accumulate(parts.begin(), parts.end(), std::size_t{0},
                         [](std::size_t sum, const iovec& part) { return sum + part.iov_len; });
}
std::size_t total(std::span<const fi_rma_iov> parts) noexcept {
  return std::accumulate(parts.begin(), parts.end(), std::size_t{0},
                         [](std::size_t sum, const fi_rma_iov& part) { return sum + part.len; });
}

// Returns the order that must be granted for the second operation to wait for the first one.
std::uint64_t order_between(Kind first, Kind second) noexcept {
  constexpr std::uint64_t kOrders[3][3] = {
      // the second one:  send, read, write
      {FI_ORDER_SAS, FI_ORDER_RAS, FI_ORDER_WAS},
      {FI_ORDER_SAR, FI_ORDER_RAR | FI_ORDER_RMA_RAR, FI_ORDER_WAR | FI_ORDER_RMA_WAR},
      {FI_ORDER_SAW, FI_ORDER_RAW | FI_ORDER_RMA_RAW, FI_ORDER_WAW | FI_ORDER_RMA_WAW},
  };
  return kOrders[static_cast<int>(first)][static_cast<int>(second)];
}

// Returns a part of a buffer.
std::vector<iovec> slice(std::span<const iovec> parts, std::size_t begin, std::size_t bytes) {
  std::vector<iovec> result;
  for (const iovec& part : parts) {
    const std::size_t skipped = std::min(begin, part.iov_len);
    const std::size_t here = std::min(part.iov_len - skipped, bytes);
    if (here != 0) result.push_back({static_cast<std::byte*>(part.iov_base) + skipped, here});
    begin -= skipped;
    bytes -= here;
  }
  return result;
}

}  // namespace

std::size_t Operation::bytes() const noexcept { return total(local); }

Transmitter::Transmitter(Endpoint& endpoint, std::uint64_t seed) noexcept
    : endpoint_(endpoint), has_chance_(seed != 0), random_(seed) {}

// Ends the test if the call is not what was granted.
Peer& Transmitter::check(const Post& post) {
  const Grant& grant = endpoint_.grant;
  const std::uint64_t caps = post.kind == Kind::send ? FI_MSG | FI_SEND : FI_RMA | access_of(post.kind);
  if ((grant.caps & caps) != caps) violation("%s: the endpoint was opened without this capability", post.call);
  if ((post.flags & FI_FENCE) != 0 && (grant.caps & FI_FENCE) == 0) violation("%s: FI_FENCE is not granted", post.call);
  if (post.local.size() > grant.limits.parts || post.remote.size() > grant.limits.remote_parts)
    violation("%s: %zu local and %zu remote parts, %zu and %zu are allowed", post.call, post.local.size(),
              post.remote.size(), grant.limits.parts, grant.limits.remote_parts);
  const std::size_t bytes = total(post.local);
  if (bytes > grant.limits.message_bytes)
    violation("%s: %zu bytes, max_msg_size is %zu", post.call, bytes, grant.limits.message_bytes);
  if ((post.flags & FI_INJECT) != 0 && (post.kind == Kind::read || bytes > grant.limits.inject_bytes))
    violation("%s: %zu bytes to inject, inject_size is %zu", post.call, bytes, grant.limits.inject_bytes);
  if (post.kind != Kind::send && total(post.remote) != bytes)
    violation("%s: %zu local bytes, but %zu remote ones", post.call, bytes, total(post.remote));
  Peer* peer = endpoint_.av->find(post.peer);
  if (peer == nullptr || peer->is_removed())
    violation("%s: 0x%lx is no address of the address vector", post.call, post.peer);
  if (post.kind == Kind::send || !peer->connect()) return *peer;
  const RemoteAccess what{post.call, &peer->domain(), peer->address().number,
                          post.kind == Kind::read ? FI_REMOTE_READ : FI_REMOTE_WRITE};
  for (const fi_rma_iov& part : post.remote) resolve(endpoint_.domain, what, part);
  return *peer;
}

bool Transmitter::is_refused(const Post& post, Peer& peer) {
  const auto signalled = static_cast<std::size_t>(
      std::ranges::count_if(operations_, [](const auto& operation) { return operation->is_signalled; }));
  const Grant& grant = endpoint_.grant;
  const bool is_full = operations_.size() >= grant.limits.sends || !endpoint_.transmit.queue->has_room(signalled);
  if (is_full && !grant.refuses_when_full)
    violation("%s: %zu operations are under way, and resources are not managed", post.call, operations_.size());
  if (is_full || !has_chance_) return is_full;
  const bool is_slow = endpoint_.domain.mode.has(kSlowConnect) && peer.is_connecting();
  return is_slow || random_.below(kRefusals) == 0;
}

std::unique_ptr<Operation> Transmitter::make(const Post& post, Peer& peer) {
  auto operation = std::make_unique<Operation>();
  operation->call = post.call;
  operation->kind = post.kind;
  operation->peer = &peer;
  operation->context = post.context;
  operation->flags = post.flags;
  operation->data = post.data;
  operation->local.assign(post.local.begin(), post.local.end());
  operation->remote.assign(post.remote.begin(), post.remote.end());
  operation->left = total(post.local);
  operation->is_signalled = post.has_completion && endpoint_.transmit.signals(post.flags);
  if ((post.flags & FI_INJECT) != 0) {
    operation->captured.resize(total(post.local));
    std::byte* to = operation->captured.data();
    for (const iovec& part : post.local) {
      if (part.iov_len != 0) std::memcpy(to, part.iov_base, part.iov_len);
      to += part.iov_len;
    }
    operation->local.assign(1, iovec{operation->captured.data(), operation->captured.size()});
  }
  return operation;
}

ssize_t Transmitter::post(const Post& post) {
  endpoint_.check_enabled(post.call);
  Peer& peer = check(post);
  std::vector<Region*> regions;
  const bool is_captured = (post.flags & FI_INJECT) != 0;
  for (std::size_t i = 0; i < post.local.size() && !is_captured; ++i) {
    const void* descriptor = post.descriptors != nullptr ? post.descriptors[i] : nullptr;
    Region* region = endpoint_.use_region(post.call, post.local[i], descriptor, access_of(post.kind));
    if (region != nullptr) regions.push_back(region);
  }
  if (is_refused(post, peer)) {
    for (Region* region : regions) --region->operations;
    progress();
    return -FI_EAGAIN;
  }
  std::unique_ptr<Operation> operation = make(post, peer);
  operation->regions = std::move(regions);
  if (operation->is_signalled) endpoint_.contexts.open(post.call, post.context);
  if (has_chance_) {
    operation->delay = static_cast<unsigned>(random_.below(kMostDelay));
    if (post.kind == Kind::read) fill(operation->local);
    if (!is_captured) operation->sum = checksum(operation->local);
  }
  operations_.push_back(std::move(operation));
  carry_out_due();
  return 0;
}

// Returns true if an earlier operation has to be carried out first.
bool Transmitter::is_blocked(std::size_t index) const noexcept {
  const Operation& later = *operations_[index];
  return std::any_of(operations_.begin(), operations_.begin() + static_cast<std::ptrdiff_t>(index),
                     [&](const auto& earlier) {
                       if (earlier->stage != Operation::Stage::posted || earlier->peer != later.peer) return false;
                       const std::uint64_t order = order_between(earlier->kind, later.kind);
                       return ((earlier->flags | later.flags) & FI_FENCE) != 0 || (endpoint_.grant.order & order) != 0;
                     });
}

// Goes through the operations in one direction or the other, by chance.
void Transmitter::carry_out_due() {
  const std::size_t count = operations_.size();
  const bool is_backward = has_chance_ && random_.below(2) != 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t index = is_backward ? count - 1 - i : i;
    Operation& operation = *operations_[index];
    if (operation.stage == Operation::Stage::posted && operation.delay == 0 && !is_blocked(index)) carry_out(operation);
  }
}

void Transmitter::carry_out(Operation& operation) {
  if (!operation.peer->connect()) {
    operation.error = FI_EHOSTUNREACH;
    operation.stage = Operation::Stage::performed;
    return;
  }
  check_source(operation);
  if (operation.kind == Kind::send) {
    send(operation);
  } else if (is_software(operation)) {
    request_transfer(operation);
  } else {
    transfer(operation);
  }
  if (operation.stage == Operation::Stage::performed && has_chance_ && operation.is_signalled)
    operation.delay = static_cast<unsigned>(random_.below(kMostDelay));
}

void Transmitter::check_source(const Operation& operation) const {
  if (!has_chance_ || !operation.captured.empty() || operation.bytes() == 0) return;
  // Replies to gets are sent from where the data lie. Once the peer has received them, the target's program may change
  // them, while the end of the send has not been reported yet.
  if (operation.kind == Kind::send && operation.stage == Operation::Stage::performed) return;
  if (checksum(operation.local) != operation.sum)
    violation("%s: the buffer at %p was changed before the operation ended", operation.call,
              operation.local.front().iov_base);
}

// Returns where the bytes begin that are carried out now. The second half of a write may be in place before the first
// one.
std::size_t Transmitter::choose_begin(const Operation& operation) {
  const bool is_whole = operation.left == operation.bytes();
  const bool is_torn = has_chance_ && is_whole && operation.kind == Kind::write && operation.left >= kLeastTorn;
  return is_torn && random_.below(2) != 0 ? operation.left / 2 / sizeof(std::uint64_t) * sizeof(std::uint64_t) : 0;
}

std::vector<iovec> Transmitter::resolve_remote(const Operation& operation) {
  const RemoteAccess what{operation.call, &operation.peer->domain(), operation.peer->address().number,
                          operation.kind == Kind::read ? FI_REMOTE_READ : FI_REMOTE_WRITE};
  std::vector<iovec> remote;
  for (const fi_rma_iov& part : operation.remote)
    remote.push_back({reinterpret_cast<void*>(resolve(endpoint_.domain, what, part)), part.len});
  return remote;
}

bool Transmitter::is_software(const Operation& operation) const noexcept {
  return operation.kind == Kind::read ? software_.reads : software_.writes;
}

// Asks the target to carry it out.
void Transmitter::request_transfer(Operation& operation) {
  Cell* const cell = reserve_cell(operation, true);
  if (cell == nullptr) return;
  const bool is_read = operation.kind == Kind::read;
  const std::vector<iovec> remote = resolve_remote(operation);
  MessageHeader& header = cell->header;
  header.kind = is_read ? CellKind::read : CellKind::write;
  header.bytes = operation.bytes();
  header.sender = endpoint_.identity.number;
  header.sender_identity_at = reinterpret_cast<std::uint64_t>(&endpoint_.identity);
  header.notifies = true;
  header.waker = {::getpid(), endpoint_.transmit.queue->pipe[1]};
  header.part_count = static_cast<std::uint8_t>(operation.local.size());
  std::copy(operation.local.begin(), operation.local.end(), header.parts);
  header.remote_count = static_cast<std::uint8_t>(remote.size());
  std::copy(remote.begin(), remote.end(), header.remote);
  publish(*cell, operation.position);
  operation.peer->wake();
  operation.stage = Operation::Stage::sent;
  operation.left = 0;
  count_transfer(operation);
}

void Transmitter::count_transfer(Operation& operation) {
  const bool is_read = operation.kind == Kind::read;
  ++(is_read ? counts_.reads : counts_.writes);
  (is_read ? counts_.bytes_read : counts_.bytes_written) += operation.bytes();
  if (!is_read && !operation.captured.empty()) ++counts_.injected_writes;
}

void Transmitter::transfer(Operation& operation) {
  const bool is_read = operation.kind == Kind::read;
  const std::vector<iovec> remote = resolve_remote(operation);
  const std::size_t begin = choose_begin(operation);
  const std::size_t bytes = operation.left - begin;
  const int error = copy_memory(is_read, operation.peer->address().pid, slice(operation.local, begin, bytes),
                                slice(remote, begin, bytes));
  operation.left = begin;
  if (begin != 0 && error == 0) {
    operation.delay = 1 + static_cast<unsigned>(random_.below(kMostDelay));
    return;
  }
  operation.stage = Operation::Stage::performed;
  if (error != 0 && !operation.peer->check_life()) {
    operation.error = FI_EHOSTUNREACH;
  } else if (error != 0) {
    violation("%s: memory of a valid key cannot be accessed: %s", operation.call, std::strerror(error));
  }
  count_transfer(operation);
  if (is_read && has_chance_) operation.sum = checksum(operation.local);
}

// Returns null if there is no room, or if the peer is gone: then the operation has ended. `is_due`: look whether it is.
Cell* Transmitter::reserve_cell(Operation& operation, bool is_due) {
  Peer& peer = *operation.peer;
  Cell* const cell = is_due && !peer.check_life() ? nullptr : reserve(peer.endpoint(), operation.position);
  const bool waits = cell == nullptr && !peer.is_gone() && (++waits_ % kWaitsPerCheck != 0 || peer.check_life());
  if (cell == nullptr && !waits) {
    operation.error = FI_EHOSTUNREACH;
    operation.stage = Operation::Stage::performed;
  }
  return cell;
}

void Transmitter::send(Operation& operation) {
  Peer& peer = *operation.peer;
  Cell* const cell = reserve_cell(operation, has_chance_ || ++sends_ % kSendsPerCheck == 0);
  if (cell == nullptr) return;
  const std::size_t bytes = operation.bytes();
  MessageHeader& header = cell->header;
  header.kind = CellKind::message;
  header.bytes = bytes;
  header.sender = endpoint_.identity.number;
  header.sender_identity_at = reinterpret_cast<std::uint64_t>(&endpoint_.identity);
  header.data = operation.data;
  header.has_data = (operation.flags & FI_REMOTE_CQ_DATA) != 0;
  header.is_pulled = bytes > endpoint_.grant.limits.eager_bytes;
  header.notifies = header.is_pulled || (operation.flags & FI_DELIVERY_COMPLETE) != 0;
  header.waker = {::getpid(), endpoint_.transmit.queue->pipe[1]};
  header.part_count = static_cast<std::uint8_t>(operation.local.size());
  std::copy(operation.local.begin(), operation.local.end(), header.parts);
  std::byte* to = cell->payload;
  for (const iovec& part : operation.local) {
    if (header.is_pulled || part.iov_len == 0) continue;
    std::memcpy(to, part.iov_base, part.iov_len);
    to += part.iov_len;
  }
  const bool waits = header.notifies;
  publish(*cell, operation.position);
  peer.wake();
  operation.stage = waits ? Operation::Stage::sent : Operation::Stage::performed;
  ++counts_.sends;
  counts_.bytes_sent += bytes;
  if (!operation.captured.empty()) ++counts_.injected_sends;
}

// Looks whether the receiver has the message.
void Transmitter::look_for_receipt(Operation& operation) {
  if (is_consumed(operation.peer->endpoint(), operation.position)) {
    operation.stage = Operation::Stage::performed;
    if (operation.kind == Kind::read && has_chance_) operation.sum = checksum(operation.local);
    return;
  }
  const bool is_lost = operation.peer->is_gone() || (++waits_ % kWaitsPerCheck == 0 && !operation.peer->check_life());
  if (!is_lost) return;
  operation.error = FI_EHOSTUNREACH;
  operation.stage = Operation::Stage::performed;
}

void Transmitter::complete(Operation& operation) {
  for (Region* region : operation.regions) --region->operations;
  if (operation.error == 0 && operation.is_signalled) check_source(operation);
  if (operation.is_signalled) endpoint_.contexts.close(operation.call, operation.context);
  if (operation.error == 0 && !operation.is_signalled) return;
  Completion completion{};
  completion.source = FI_ADDR_NOTAVAIL;
  completion.entry.op_context = operation.context;
  completion.entry.flags = (operation.kind == Kind::send ? FI_MSG : FI_RMA) | access_of(operation.kind);
  completion.entry.err = operation.error;
  completion.entry.prov_errno = operation.error;
  endpoint_.transmit.queue->add(completion);
}

void Transmitter::progress() {
  if (operations_.empty()) return;
  carry_out_due();
  for (const auto& operation : operations_) {
    if (operation->stage == Operation::Stage::sent) look_for_receipt(*operation);
    const bool is_over = operation->stage == Operation::Stage::performed && operation->delay == 0;
    if (is_over) complete(*operation);
    if (is_over) operation->peer = nullptr;
    if (operation->delay != 0) --operation->delay;
  }
  std::erase_if(operations_, [](const auto& operation) { return operation->peer == nullptr; });
}

// A message that its receiver reads from this memory goes on without progress of this endpoint.
bool Transmitter::is_busy() const noexcept {
  return std::ranges::any_of(operations_, [](const auto& operation) {
    return operation->stage != Operation::Stage::sent ||
           is_consumed(operation->peer->endpoint(), operation->position) || !operation->peer->check_life();
  });
}

void Transmitter::finish() {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  const auto is_posted = [](const auto& operation) { return operation->stage == Operation::Stage::posted; };
  while (std::ranges::any_of(operations_, is_posted) && std::chrono::steady_clock::now() < end) {
    for (const auto& operation : operations_) operation->delay = 0;
    carry_out_due();
  }
  for (const auto& operation : operations_) {
    if (operation->stage != Operation::Stage::sent) continue;
    EndpointMemory& memory = operation->peer->endpoint();
    while (!is_consumed(memory, operation->position) && !withdraw(memory, operation->position) &&
           operation->peer->check_life())
      continue;
  }
  for (const auto& operation : operations_) {
    for (Region* region : operation->regions) --region->operations;
  }
  operations_.clear();
}

}  // namespace strict_provider
