#include "onesided/wire.hpp"

#include <shmemx/types.h>

#include <cstring>

#include "atomic/direct.hpp"
#include "rma/copy.hpp"
#include "rma/strided.hpp"

namespace shmemx::onesided {
namespace {

constexpr char kBadLength[] = "has a length that does not fit what it says";
constexpr char kBadRange[] = "names memory that is in no window of this PE";
constexpr char kBadSignal[] = "names a signal that is in no window of this PE or misaligned";

template <class T>
bool decode_header(Bytes payload, T& header, Bytes& data) noexcept {
  if (payload.size() < sizeof header) return false;
  std::memcpy(&header, payload.data(), sizeof header);
  data = payload.subspan(sizeof header);
  return true;
}

// Of PutStridedHeader and GetStridedHeader. At least one block of at least one byte.
template <class T>
bool range_of(const T& header, BlockRange& range) noexcept {
  range = {header.step, header.block_bytes, header.block_count, 0};
  if (range.block_bytes == 0 || range.block_count == 0) return false;
  if (range.block_count == 1) range.step = range.block_bytes;  // whatever it says: there is no second block
  std::uint64_t before_last = 0;
  return !__builtin_mul_overflow(range.step, std::uint64_t{range.block_count} - 1, &before_last) &&
         !__builtin_add_overflow(before_last, range.block_bytes, &range.span);
}

// Of two factors of 32 bits: no overflow.
std::uint64_t total(const BlockRange& range) noexcept { return std::uint64_t{range.block_bytes} * range.block_count; }

bool known_operator(const SignalHeader& signal) noexcept {
  return signal.sig_op == SHMEM_SIGNAL_SET || signal.sig_op == SHMEM_SIGNAL_ADD;
}

std::uint64_t* find_signal(const SignalHeader& signal) noexcept {
  std::byte* const word = windows::find_exposed(signal.window, signal.offset, sizeof(std::uint64_t));
  const bool aligned = reinterpret_cast<std::uintptr_t>(word) % sizeof(std::uint64_t) == 0;
  return aligned ? reinterpret_cast<std::uint64_t*>(word) : nullptr;
}

void update(std::uint64_t* word, const SignalHeader& signal) noexcept {
  if (signal.sig_op == SHMEM_SIGNAL_SET) {
    atomic::set(word, signal.value);  // a release store: after the data
  } else {
    atomic::add(word, signal.value);
  }
}

}  // namespace

bool decode_put(Bytes payload, PutHeader& header, Bytes& data) noexcept { return decode_header(payload, header, data); }

bool decode_put_strided(Bytes payload, PutStridedHeader& header, BlockRange& range, Bytes& data) noexcept {
  return decode_header(payload, header, data) && range_of(header, range) && total(range) == data.size();
}

bool decode_signal(Bytes payload, SignalHeader& header) noexcept {
  Bytes rest;
  return decode_header(payload, header, rest) && rest.empty() && known_operator(header);
}

bool decode_put_signal(Bytes payload, PutSignalHeader& header, Bytes& data) noexcept {
  return decode_header(payload, header, data) && known_operator(header.signal);
}

bool decode_get(Bytes payload, std::size_t most, GetHeader& header) noexcept {
  Bytes rest;
  return decode_header(payload, header, rest) && rest.empty() && header.bytes <= most;
}

bool decode_get_strided(Bytes payload, std::size_t most, GetStridedHeader& header, BlockRange& range) noexcept {
  Bytes rest;
  return decode_header(payload, header, rest) && rest.empty() && range_of(header, range) && total(range) <= most;
}

bool decode_get_reply(Bytes payload, GetReplyHeader& header, Bytes& data) noexcept {
  return decode_header(payload, header, data);
}

bool decode_key_ask(Bytes payload, KeyAsk& ask) noexcept {
  Bytes rest;
  return decode_header(payload, ask, rest) && rest.empty();
}

bool is_sound(const KeyAnswer& answer, std::uint64_t offset) noexcept {
  const bool covers = offset >= answer.begin && offset - answer.begin < answer.bytes;
  return covers && answer.is_open <= 1 && answer.key_bytes <= sizeof answer.key;
}

const char* perform_put(Bytes payload) noexcept {
  PutHeader header;
  Bytes data;
  if (!decode_put(payload, header, data)) return kBadLength;
  std::byte* const dest = windows::find_exposed(header.window, header.offset, data.size());
  if (dest == nullptr) return kBadRange;
  rma::copy_visible(dest, data.data(), data.size());
  return nullptr;
}

const char* find_put(Bytes payload, std::size_t bytes, std::byte*& place) noexcept {
  PutHeader header;
  Bytes data;
  if (!decode_put(payload, header, data) || !data.empty()) return kBadLength;
  place = windows::find_exposed(header.window, header.offset, bytes);
  return place == nullptr ? kBadRange : nullptr;
}

const char* find_put_signal(Bytes payload, std::size_t bytes, std::byte*& place) noexcept {
  PutSignalHeader header;
  Bytes data;
  if (!decode_put_signal(payload, header, data) || !data.empty()) return kBadLength;
  place = windows::find_exposed(header.put.window, header.put.offset, bytes);
  if (place == nullptr) return kBadRange;
  return find_signal(header.signal) == nullptr ? kBadSignal : nullptr;
}

const char* perform_signal_of(Bytes payload) noexcept {
  PutSignalHeader header;
  Bytes data;
  if (!decode_put_signal(payload, header, data)) return kBadLength;
  std::uint64_t* const word = find_signal(header.signal);
  if (word == nullptr) return kBadSignal;
  update(word, header.signal);
  return nullptr;
}

const char* perform_put_strided(Bytes payload) noexcept {
  PutStridedHeader header;
  BlockRange range;
  Bytes data;
  if (!decode_put_strided(payload, header, range, data)) return kBadLength;
  std::byte* const dest = windows::find_exposed(header.window, header.offset, range.span);
  if (dest == nullptr) return kBadRange;
  rma::copy_strided(dest, data.data(), {range.block_bytes, range.block_count, range.step, range.block_bytes});
  return nullptr;
}

const char* perform_signal(Bytes payload) noexcept {
  SignalHeader header;
  if (!decode_signal(payload, header)) return kBadLength;
  std::uint64_t* const word = find_signal(header);
  if (word == nullptr) return kBadSignal;
  update(word, header);
  return nullptr;
}

const char* perform_put_signal(Bytes payload) noexcept {
  PutSignalHeader header;
  Bytes data;
  if (!decode_put_signal(payload, header, data)) return kBadLength;
  std::byte* const dest = windows::find_exposed(header.put.window, header.put.offset, data.size());
  if (dest == nullptr) return kBadRange;
  std::uint64_t* const word = find_signal(header.signal);
  if (word == nullptr) return kBadSignal;
  rma::copy_visible(dest, data.data(), data.size());
  update(word, header.signal);
  return nullptr;
}

const char* find_get(Bytes payload, std::size_t most, GetAnswer& answer) noexcept {
  GetHeader header;
  if (!decode_get(payload, most, header)) return kBadLength;
  const std::byte* const source = windows::find_exposed(header.window, header.offset, header.bytes);
  if (source == nullptr) return kBadRange;
  answer = {{header.ticket, 0}, {source, header.bytes}};
  return nullptr;
}

// Windows that programs make come and go, and are reached by messages.
const char* find_key_ask(Bytes payload, KeyAsk& ask, windows::ExposedRange& window) noexcept {
  if (!decode_key_ask(payload, ask)) return kBadLength;
  window = windows::range_of_exposed(ask.window);
  const bool has_keys = ask.window.index < windows::kBuiltinWindows && window.base != nullptr;
  return has_keys && ask.offset < window.bytes ? nullptr : kBadRange;
}

const char* find_get_strided(Bytes payload, std::span<std::byte> buffer, GetAnswer& answer) noexcept {
  GetStridedHeader header;
  BlockRange range;
  if (!decode_get_strided(payload, buffer.size(), header, range)) return kBadLength;
  const std::byte* const source = windows::find_exposed(header.window, header.offset, range.span);
  if (source == nullptr) return kBadRange;
  rma::copy_strided(buffer.data(), source, {range.block_bytes, range.block_count, range.block_bytes, range.step});
  answer = {{header.ticket, 0}, {buffer.data(), total(range)}};
  return nullptr;
}

}  // namespace shmemx::onesided
