// The messages of all one-sided operations, and how they are decoded. A message names memory by window and offset,
// never by an address. A request that expects a reply carries a ticket: the number of an entry that the initiator keeps
// until the final reply (requests.hpp).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "am/endpoint.hpp"
#include "atomic/elements.hpp"
#include "onesided/lock_word.hpp"
#include "windows/exposure.hpp"

namespace shmemx::onesided {

using am::Bytes;

// Limits of one message: a strided put, gathered on the stack; and blocks of a strided get or elements of an accumulate
// between nodes, which the target keeps until the reply has left.
inline constexpr std::size_t kGatherBytes = 4096;
inline constexpr std::size_t kElementBytes = std::size_t{64} << 10;

inline bool is_public(windows::WindowName window) noexcept { return window.index >= windows::kBuiltinWindows; }

// kPut: the data follow. No reply.
struct PutHeader {
  windows::WindowName window;
  std::uint64_t offset;
};
static_assert(sizeof(PutHeader) == 16 && std::is_trivially_copyable_v<PutHeader>);

// kPutReplied: the data follow. The parts of a put have the same ticket; the target replies to the last one, and to
// parts that it refuses.
struct PutRepliedHeader {
  windows::WindowName window;
  std::uint64_t offset;
  std::uint32_t ticket;
  std::uint32_t is_last;
};
static_assert(sizeof(PutRepliedHeader) == 24 && offsetof(PutRepliedHeader, ticket) == 16);

// kPutRuns: runs of blocks with their data follow (block_runs.hpp). Tickets and replies are those of kPutReplied.
struct PutRunsHeader {
  windows::WindowName window;
  std::uint32_t ticket;
  std::uint32_t is_last;
};
static_assert(sizeof(PutRunsHeader) == 16 && offsetof(PutRunsHeader, ticket) == 8);

// kPutStrided: the blocks follow, without gaps.
struct PutStridedHeader {
  windows::WindowName window;
  std::uint64_t offset;
  std::uint64_t step;  // from the begin of one block to the next one's, at the target
  std::uint32_t block_bytes;
  std::uint32_t block_count;
};
static_assert(sizeof(PutStridedHeader) == 32 && offsetof(PutStridedHeader, block_bytes) == 24);

// kSignal
struct SignalHeader {
  windows::WindowName window;
  std::uint64_t offset;
  std::uint64_t value;
  std::int32_t sig_op;
  std::uint32_t reserved;
};
static_assert(sizeof(SignalHeader) == 32 && offsetof(SignalHeader, sig_op) == 24);

// kPutSignal: the data follow.
struct PutSignalHeader {
  PutHeader put;
  SignalHeader signal;
};
static_assert(sizeof(PutSignalHeader) == 48);

// kGet
struct GetHeader {
  windows::WindowName window;
  std::uint64_t offset;
  std::uint32_t bytes;
  std::uint32_t ticket;
};
static_assert(sizeof(GetHeader) == 24 && offsetof(GetHeader, ticket) == 20);

// kGetStrided
struct GetStridedHeader {
  windows::WindowName window;
  std::uint64_t offset;
  std::uint64_t step;
  std::uint32_t block_bytes;
  std::uint32_t block_count;
  std::uint32_t ticket;
  std::uint32_t reserved;
};
static_assert(sizeof(GetStridedHeader) == 40 && offsetof(GetStridedHeader, ticket) == 32);

// kAtomic, which has no reply and no ticket; kAtomicFetch: the reply carries the old value. With what the endpoint adds
// it fits one cache line.
struct AtomicHeader {
  windows::WindowName window;
  std::uint64_t offset;
  std::uint64_t operand;
  std::uint64_t condition;
  std::uint32_t ticket;
  atomic::ElementType type;
  atomic::ElementOp op;
  std::uint16_t reserved;
};
static_assert(sizeof(AtomicHeader) == 40 && std::is_trivially_copyable_v<AtomicHeader>);
static_assert(offsetof(AtomicHeader, ticket) == 32 && offsetof(AtomicHeader, op) == 37);

// kAccumulate: `count` elements follow, none with no_op. If they are fetched each part has a ticket and a reply of its
// own, with the old elements; else replies are those of kPutReplied.
struct AccumulateHeader {
  windows::WindowName window;
  std::uint64_t offset;
  std::uint32_t ticket;
  std::uint32_t count;
  atomic::ElementType type;
  atomic::ElementOp op;
  std::uint8_t exclusive;
  std::uint8_t fetch;
  std::uint32_t is_last;
};
static_assert(sizeof(AccumulateHeader) == 32 && offsetof(AccumulateHeader, is_last) == 28);

// kAccumulateStrided: blocks of `elements.count` elements at equal distances; their operands follow without gaps, and
// so do the old elements in the reply. Of types without padding behind the last element.
struct AccumulateStridedHeader {
  AccumulateHeader elements;
  std::uint64_t step;
  std::uint32_t block_count;
  std::uint32_t reserved;
};
static_assert(sizeof(AccumulateStridedHeader) == 48 && offsetof(AccumulateStridedHeader, block_count) == 40);

// kKeyRequest: asks for the key by which the network that the initiator uses reaches the byte at `offset`, and for keys
// of what lies around it.
struct KeyRequest {
  windows::WindowName window;
  std::uint64_t offset;
  std::uint32_t ticket;
  std::uint32_t is_backward;  // 1: the initiator has keys of what follows, so that what is in front comes first
  char network[8] = {};       // its name, padded with zeros
};
static_assert(sizeof(KeyRequest) == 32 && offsetof(KeyRequest, ticket) == 16);

// A range of the window, and its key.
struct KeyReply {
  std::uint64_t begin;
  std::uint64_t bytes;
  std::uint32_t is_open;  // 0: the network does not reach this range; messages do
  std::uint32_t key_bytes;
  std::byte key[transport::kMaxKeyBytes];
};
static_assert(sizeof(KeyReply) == 24 + transport::kMaxKeyBytes && std::is_trivially_copyable_v<KeyReply>);

// The data of the reply: the range with that byte in it, and others of the window, as many as there is room for. They
// lie one behind the other, each as long as its key, in multiples of 8 bytes.
struct KeyList {
  std::uint32_t count = 0;
  std::uint32_t used_bytes = 0;
  std::byte packed[2040] = {};

  // Returns false if there is no room.
  bool add(const KeyReply& key) noexcept {
    const std::size_t bytes = packed_bytes(key.key_bytes);
    if (bytes > sizeof packed - used_bytes) return false;
    std::memcpy(packed + used_bytes, &key, kFixedBytes + key.key_bytes);
    used_bytes += static_cast<std::uint32_t>(bytes);
    ++count;
    return true;
  }
  // Takes the range that begins at `at`, and advances. Returns false if there is none, or if it is none.
  bool take(std::size_t& at, KeyReply& key) const noexcept {
    if (used_bytes > sizeof packed || at >= used_bytes || used_bytes - at < kFixedBytes) return false;
    std::memcpy(&key, packed + at, kFixedBytes);
    if (key.key_bytes > sizeof key.key || packed_bytes(key.key_bytes) > used_bytes - at) return false;
    std::memcpy(key.key, packed + at + kFixedBytes, key.key_bytes);
    at += packed_bytes(key.key_bytes);
    return true;
  }

 private:
  static constexpr std::size_t kFixedBytes = offsetof(KeyReply, key);
  static std::size_t packed_bytes(std::uint32_t key_bytes) noexcept { return (kFixedBytes + key_bytes + 7) / 8 * 8; }
};
static_assert(sizeof(KeyList) == 2048 && std::is_trivially_copyable_v<KeyList>);

// Memory that a PE opens to others for a probe of RMA; it lies at the begin of the range of the key.
struct ProbeBlock {
  static constexpr std::uint64_t kHasGot = 1;
  static constexpr std::uint64_t kStill = 0x6b656570735f7374;

  std::atomic<std::uint64_t> number;  // put by initiators: counts up by 2, with kHasGot when they have got kStill
  std::atomic<std::uint64_t> still;   // kStill while the owner keeps still
};
static_assert(sizeof(ProbeBlock) == 16 && offsetof(ProbeBlock, still) == 8);

// kRmaProbe: a step of the probe of a network (rdma_probe.hpp).
struct RmaProbeRequest {
  enum class Step : std::uint8_t { key, keep_still, result };
  char network[8] = {};  // its name, padded with zeros
  std::uint32_t ticket = 0;
  Step step = Step::key;
  std::uint8_t is_certain = 0;  // of a result, as what follows: the operations that need no CPU of the target
  std::uint8_t puts = 0;
  std::uint8_t gets = 0;
};
static_assert(sizeof(RmaProbeRequest) == 16 && offsetof(RmaProbeRequest, ticket) == 8);

// The data of the reply: the key of memory to try it on; or, where it is known, what a probe has shown before.
struct RmaProbeReply {
  // closed: the network opens no memory here; busy: to be asked again
  enum class State : std::uint8_t { closed, busy, open, known };
  State state;
  std::uint8_t puts;  // also after this PE has kept still: one has arrived meanwhile
  std::uint8_t gets;
  std::uint8_t reserved;
  std::uint32_t key_bytes;
  std::byte key[transport::kMaxKeyBytes];
};
static_assert(sizeof(RmaProbeReply) == 8 + transport::kMaxKeyBytes && std::is_trivially_copyable_v<RmaProbeReply>);

// Bytes of a window.
struct Extent {
  std::uint64_t begin = 0;
  std::uint64_t bytes = ~std::uint64_t{0};  // all that follow

  bool overlaps(std::uint64_t other, std::uint64_t other_bytes) const noexcept {
    return other >= begin ? other - begin < bytes : begin - other < other_bytes;
  }
};

// kKeyRevoke: the target forgets the keys of these bytes of a public window of the sender, and replies when it has no
// transfers by them under way.
struct KeyRevokeHeader {
  windows::WindowName window;
  std::uint32_t ticket;
  std::uint32_t reserved;
  Extent extent;
};
static_assert(sizeof(KeyRevokeHeader) == 32 && offsetof(KeyRevokeHeader, ticket) == 8);

// kWindowLock: requests the lock of a public window. The reply grants it, at once or later; with `is_try` at once, or
// it says busy. kWindowUnlock: releases it; no reply, `ticket` and `is_try` are 0.
struct LockHeader {
  windows::WindowName window;
  std::uint32_t ticket;
  LockKind kind;
  std::uint8_t is_try;
  std::uint16_t reserved;
};
static_assert(sizeof(LockHeader) == 16 && offsetof(LockHeader, kind) == 12);

// kPutLocked: requests a lock, and has a whole kPutRuns message behind it, which the owner executes as soon as it
// grants the lock. Then it releases the lock and replies. Both parts have the same ticket.
struct PutLockedHeader {
  LockHeader lock;
  PutRunsHeader puts;
};
static_assert(sizeof(PutLockedHeader) == 32);

// stale: there is no such window; range: the window has no such bytes; bad: no PE sends such a request; busy: the lock
// is held by others.
enum class Outcome : std::uint8_t { ok = 0, stale = 1, range = 2, bad = 3, busy = 4 };

// The data of a reply that says stale or range: where in the window the request was, and how long ago the owner had
// removed a range there.
struct RefusedRange {
  static constexpr std::uint64_t kNotRemoved = UINT64_MAX;
  std::uint64_t offset;
  std::uint64_t bytes;
  std::uint64_t removed_ms = kNotRemoved;
};
static_assert(sizeof(RefusedRange) == 24 && std::is_trivially_copyable_v<RefusedRange>);

// kReply, to all requests: the data follow if the outcome is ok. After the final one the ticket is free.
struct ReplyHeader {
  std::uint32_t ticket;
  Outcome outcome;
  std::uint8_t is_final;
  std::uint16_t reserved;
};
static_assert(sizeof(ReplyHeader) == 8 && offsetof(ReplyHeader, is_final) == 5);

// Blocks in a window, as a message says it, with the length from the first one's begin to the last one's end.
struct BlockRange {
  std::uint64_t step;
  std::uint32_t block_bytes;
  std::uint32_t block_count;
  std::uint64_t span;

  // A product of two factors of 32 bits: no overflow.
  std::uint64_t total() const noexcept { return std::uint64_t{block_bytes} * block_count; }
};
// Of PutStridedHeader and GetStridedHeader: at least one block of at least one byte. Returns false if a sum overflows.
template <class Header>
bool range_of(const Header& header, BlockRange& range) noexcept {
  range = {header.step, header.block_bytes, header.block_count, 0};
  if (range.block_bytes == 0 || range.block_count == 0) return false;
  if (range.block_count == 1) range.step = range.block_bytes;  // whatever it says: there is no second block
  std::uint64_t before_last = 0;
  return !__builtin_mul_overflow(range.step, std::uint64_t{range.block_count} - 1, &before_last) &&
         !__builtin_add_overflow(before_last, range.block_bytes, &range.span);
}

// Splits a message into its header and its data. Returns false if it is shorter than the header.
template <class Header>
bool decode(Bytes payload, Header& header, Bytes& data) noexcept {
  if (payload.size() < sizeof header) return false;
  std::memcpy(&header, payload.data(), sizeof header);
  data = payload.subspan(sizeof header);
  return true;
}
// Of a message without data. Returns false if the length is not the header's.
template <class Header>
bool decode_exactly(Bytes payload, Header& header) noexcept {
  Bytes data;
  return decode(payload, header, data) && data.empty();
}

// Returns whether the range holds `offset` and its key has a possible length.
inline bool is_sound(const KeyReply& reply, std::uint64_t offset) noexcept {
  const bool covers = offset >= reply.begin && offset - reply.begin < reply.bytes;
  return covers && reply.is_open <= 1 && reply.key_bytes <= sizeof reply.key;
}
// Returns whether the first range holds `offset` and all are possible.
inline bool is_sound(const KeyList& list, std::uint64_t offset) noexcept {
  std::size_t at = 0;
  KeyReply key{};
  for (std::uint32_t i = 0; i < list.count; ++i) {
    if (!list.take(at, key) || !is_sound(key, i == 0 ? offset : key.begin)) return false;
    if (key.bytes > ~key.begin) return false;
  }
  return list.count != 0 && at == list.used_bytes;
}

}  // namespace shmemx::onesided
