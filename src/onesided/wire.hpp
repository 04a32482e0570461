// Messages of put, get and signals, and what the target does with them. Nothing that comes is trusted: decode_*() check
// lengths and arithmetic, perform_*() and find_*() check name and range against the windows of this PE, and memory is
// touched when all is right only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "am/channel.hpp"
#include "windows/exposure.hpp"

namespace shmemx::onesided {

using am::Bytes;

// A message holds at most so much of a strided transfer: it is gathered on the stack.
inline constexpr std::size_t kGatherBytes = 4096;

// kPut: the data follow.
struct PutHeader {
  windows::WindowName window;
  std::uint64_t offset;
};
static_assert(sizeof(PutHeader) == 16 && std::is_trivially_copyable_v<PutHeader>);

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

// kGetReply: the data follow.
struct GetReplyHeader {
  std::uint32_t ticket;
  std::uint32_t reserved;
};
static_assert(sizeof(GetReplyHeader) == 8);

// kKeyAsk: under which name does the network that the asker uses reach the byte at `offset`?
struct KeyAsk {
  windows::WindowName window;
  std::uint64_t offset;
  std::uint32_t ticket;
  std::uint32_t reserved;
  char network[8] = {};  // its name; zeros behind
};
static_assert(sizeof(KeyAsk) == 32 && offsetof(KeyAsk, ticket) == 16);

// What a kGetReply brings for it: a range of the window with that byte in it, and its key.
struct KeyAnswer {
  std::uint64_t begin;
  std::uint64_t bytes;
  std::uint32_t is_open;  // 0: the network does not reach this range; messages do
  std::uint32_t key_bytes;
  std::byte key[transport::kMaxKeyBytes];
};
static_assert(sizeof(KeyAnswer) == 24 + transport::kMaxKeyBytes && std::is_trivially_copyable_v<KeyAnswer>);

// Blocks in a window, as a message says it, with the length from the first one's begin to the last one's end.
struct BlockRange {
  std::uint64_t step;
  std::uint32_t block_bytes;
  std::uint32_t block_count;
  std::uint64_t span;
};

// False: the message is shorter than its header, its data have another length than it says, a sum overflows, or what it
// asks for has more than `most` bytes. `data` is a part of `payload`.
bool decode_put(Bytes payload, PutHeader& header, Bytes& data) noexcept;
bool decode_put_strided(Bytes payload, PutStridedHeader& header, BlockRange& range, Bytes& data) noexcept;
bool decode_signal(Bytes payload, SignalHeader& header) noexcept;
bool decode_put_signal(Bytes payload, PutSignalHeader& header, Bytes& data) noexcept;
bool decode_get(Bytes payload, std::size_t most, GetHeader& header) noexcept;
bool decode_get_strided(Bytes payload, std::size_t most, GetStridedHeader& header, BlockRange& range) noexcept;
bool decode_get_reply(Bytes payload, GetReplyHeader& header, Bytes& data) noexcept;
bool decode_key_ask(Bytes payload, KeyAsk& ask) noexcept;
// Does the answer speak of `offset`, and is its key one?
bool is_sound(const KeyAnswer& answer, std::uint64_t offset) noexcept;

// Null when done; else what is wrong with the message, and nothing has changed.
const char* perform_put(Bytes payload) noexcept;
// For data that are not here yet: where they go.
const char* find_put(Bytes header, std::size_t bytes, std::byte*& place) noexcept;
const char* find_put_signal(Bytes header, std::size_t bytes, std::byte*& place) noexcept;
// When they are there: the signal of a put with signal.
const char* perform_signal_of(Bytes header) noexcept;
const char* perform_put_strided(Bytes payload) noexcept;
const char* perform_signal(Bytes payload) noexcept;
const char* perform_put_signal(Bytes payload) noexcept;

// The same; what the answer holds.
struct GetAnswer {
  GetReplyHeader header;
  Bytes data;
};
const char* find_get(Bytes payload, std::size_t most, GetAnswer& answer) noexcept;
const char* find_key_ask(Bytes payload, KeyAsk& ask, windows::ExposedRange& window) noexcept;
// Gathers into `buffer`.
const char* find_get_strided(Bytes payload, std::span<std::byte> buffer, GetAnswer& answer) noexcept;

}  // namespace shmemx::onesided
