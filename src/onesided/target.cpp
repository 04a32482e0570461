#include "onesided/target.hpp"

#include <shmemx/types.h>

#include "atomic/direct.hpp"
#include "base/clock.hpp"
#include "onesided/block_runs.hpp"
#include "rma/copy.hpp"
#include "rma/strided.hpp"

namespace shmemx::onesided {
namespace {

constexpr char kBadLength[] = "has a length that does not fit what it says";
constexpr char kBadRange[] = "names memory that is in no window of this PE";
constexpr char kBadSignal[] = "names a signal that is in no window of this PE or misaligned";
constexpr char kBadElements[] = "has a wrong length, operation or type";
constexpr char kBadWord[] = "names a word that is in no window of this PE";

Executed reply(std::uint32_t ticket, Outcome outcome, bool is_final, Bytes data = {}) noexcept {
  return {nullptr, true, {ticket, outcome, is_final, 0}, data};
}

struct Refusal {
  Outcome outcome;
  const char* wrong;  // where nobody can be told
  RefusedRange where{};
};
// Under the endpoint's lock, until the reply has been sent or kept.
constinit RefusedRange refused_range{};
Executed refuse(windows::WindowName window, std::uint32_t ticket, const Refusal& refusal,
                bool is_final = true) noexcept {
  if (!is_public(window)) return {.wrong = refusal.wrong};
  if (refusal.outcome == Outcome::bad) return reply(ticket, refusal.outcome, is_final);
  refused_range = refusal.where;
  return reply(ticket, refusal.outcome, is_final, am::bytes_of(refused_range));
}

// Why find_exposed() has found nothing.
Refusal refusal_of(windows::WindowName window, RefusedRange where, const char* wrong = kBadRange) noexcept {
  const std::uint64_t removed = windows::removed_at(window, where.offset, where.bytes);
  if (removed != 0) where.removed_ms = coarse_now_ms() - removed;
  return {windows::range_of_exposed(window).base == nullptr ? Outcome::stale : Outcome::range, wrong, where};
}

bool is_aligned(const std::byte* at, std::size_t bytes) noexcept {
  return reinterpret_cast<std::uintptr_t>(at) % bytes == 0;
}

bool has_operator(const SignalHeader& signal) noexcept {
  return signal.sig_op == SHMEM_SIGNAL_SET || signal.sig_op == SHMEM_SIGNAL_ADD;
}

std::uint64_t* find_signal(const SignalHeader& signal) noexcept {
  std::byte* const word = windows::find_exposed(signal.window, signal.offset, sizeof(std::uint64_t));
  return is_aligned(word, sizeof(std::uint64_t)) ? reinterpret_cast<std::uint64_t*>(word) : nullptr;
}

void update(std::uint64_t* word, const SignalHeader& signal) noexcept {
  if (signal.sig_op == SHMEM_SIGNAL_SET) {
    atomic::set(word, signal.value);  // a release store: after the data
  } else {
    atomic::add(word, signal.value);
  }
}

bool decode_signal(Bytes payload, SignalHeader& header) noexcept {
  return decode_exactly(payload, header) && has_operator(header);
}
bool decode_put_signal(Bytes payload, PutSignalHeader& header, Bytes& data) noexcept {
  return decode(payload, header, data) && has_operator(header.signal);
}

bool is_sound(const AtomicHeader& header) noexcept {
  return atomic::go_together(header.type, header.op) && atomic::fits_word(header.type);
}
bool decode_atomic(Bytes payload, AtomicHeader& header) noexcept {
  return decode_exactly(payload, header) && is_sound(header);
}

// Returns whether all blocks of the run are in the window, which may be a set of ranges with gaps between them.
bool is_exposed(windows::WindowName window, const BlockRun& run, const BlockRange& range) noexcept {
  if (windows::find_exposed(window, run.offset, range.span) != nullptr) return true;
  for (std::uint64_t i = 0; i < run.block_count; ++i) {
    if (windows::find_exposed(window, run.offset + i * range.step, run.block_bytes) == nullptr) return false;
  }
  return true;
}

void scatter(windows::WindowName window, const BlockRun& run, const BlockRange& range, Bytes data) noexcept {
  std::byte* const dest = windows::find_exposed(window, run.offset, range.span);
  if (dest != nullptr)
    return rma::copy_strided(dest, data.data(), {run.block_bytes, run.block_count, range.step, run.block_bytes});
  for (std::uint64_t i = 0; i < run.block_count; ++i) {
    std::byte* const block = windows::find_exposed(window, run.offset + i * range.step, run.block_bytes);
    if (block != nullptr) rma::copy_visible(block, data.data() + i * run.block_bytes, run.block_bytes);
  }
}

void gather(windows::WindowName window, const BlockRun& run, const BlockRange& range, std::byte* to) noexcept {
  const std::byte* const source = windows::find_exposed(window, run.offset, range.span);
  if (source != nullptr)
    return rma::copy_strided(to, source, {run.block_bytes, run.block_count, run.block_bytes, range.step});
  for (std::uint64_t i = 0; i < run.block_count; ++i) {
    const std::byte* const block = windows::find_exposed(window, run.offset + i * range.step, run.block_bytes);
    if (block != nullptr) rma::copy_visible(to + i * run.block_bytes, block, run.block_bytes);
  }
}

// Elements that are fetched need room for the reply.
bool is_sound(const AccumulateHeader& header, Bytes elements, std::size_t most) noexcept {
  if (header.op == atomic::ElementOp::compare_swap || !atomic::go_together(header.type, header.op)) return false;
  const std::uint64_t bytes = atomic::span_bytes(header.type, header.count);
  return bytes <= most && elements.size() == (header.op == atomic::ElementOp::no_op ? 0 : bytes);
}

// Returns false if no PE sends such blocks.
bool find_blocks(const AccumulateStridedHeader& header, Bytes operands, std::size_t most, BlockRun& run,
                 BlockRange& range) noexcept {
  const AccumulateHeader& elements = header.elements;
  if (!atomic::go_together(elements.type, elements.op) || elements.op == atomic::ElementOp::compare_swap) return false;
  const std::uint64_t bytes = elements.count * std::uint64_t{atomic::element_bytes(elements.type)};
  if (bytes > most || atomic::span_bytes(elements.type, elements.count) != bytes) return false;
  run = {elements.offset, header.step, static_cast<std::uint32_t>(bytes), header.block_count};
  if (!range_of(run, range) || range.total() > most) return false;
  return operands.size() == (elements.op == atomic::ElementOp::no_op ? 0 : range.total());
}

// Blocks of a set of ranges with gaps between them.
void apply_apart(const atomic::Update& update, windows::WindowName window, const BlockRun& run,
                 atomic::ElementBlocks blocks) noexcept {
  for (std::uint64_t i = 0; i < run.block_count; ++i) {
    std::byte* const at = windows::find_exposed(window, run.offset + i * run.step, run.block_bytes);
    if (at == nullptr) return;
    atomic::apply(update, atomic::own_elements(at), blocks.source, blocks.result, blocks.count);
    if (blocks.source != nullptr) blocks.source += run.block_bytes;
    if (blocks.result != nullptr) blocks.result += run.block_bytes;
  }
}

}  // namespace

// ---- without a reply ----

const char* perform_put(Bytes payload) noexcept {
  PutHeader header;
  Bytes data;
  if (!decode(payload, header, data)) return kBadLength;
  std::byte* const dest = windows::find_exposed(header.window, header.offset, data.size());
  if (dest == nullptr) return kBadRange;
  rma::copy_visible(dest, data.data(), data.size());
  return nullptr;
}

const char* perform_put_strided(Bytes payload) noexcept {
  PutStridedHeader header;
  BlockRange range;
  Bytes data;
  if (!decode(payload, header, data) || !range_of(header, range) || range.total() != data.size()) return kBadLength;
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

const char* perform_atomic(Bytes payload) noexcept {
  AtomicHeader header;
  if (!decode_atomic(payload, header)) return kBadElements;
  const std::size_t bytes = atomic::element_bytes(header.type);
  std::byte* const word = windows::find_exposed(header.window, header.offset, bytes);
  if (word == nullptr || !is_aligned(word, bytes)) return kBadWord;
  static_cast<void>(atomic::apply_one({header.op, header.type, header.operand, header.condition}, word));
  return nullptr;
}

// ---- with a reply ----

Executed execute_put(Bytes payload, Room) noexcept {
  PutRepliedHeader header;
  Bytes data;
  if (!decode(payload, header, data)) return {.wrong = kBadLength};
  std::byte* const dest = windows::find_exposed(header.window, header.offset, data.size());
  if (dest == nullptr)
    return refuse(header.window, header.ticket, refusal_of(header.window, {header.offset, data.size()}),
                  header.is_last != 0);
  rma::copy_visible(dest, data.data(), data.size());
  return header.is_last != 0 ? reply(header.ticket, Outcome::ok, true) : Executed{};
}

// All runs are checked before the first one is copied.
Executed execute_put_runs(Bytes payload, Room) noexcept {
  PutRunsHeader header;
  BlockRun run;
  BlockRange range;
  Bytes runs;
  Bytes data;
  if (!decode(payload, header, runs)) return {.wrong = kBadLength};
  for (Bytes rest = runs; !rest.empty();) {
    if (!take_run(rest, run, range, data))
      return refuse(header.window, header.ticket, {Outcome::bad, kBadLength}, header.is_last != 0);
    if (!is_exposed(header.window, run, range))
      return refuse(header.window, header.ticket, refusal_of(header.window, {run.offset, range.span}),
                    header.is_last != 0);
  }
  for (Bytes rest = runs; take_run(rest, run, range, data);) scatter(header.window, run, range, data);
  return header.is_last != 0 ? reply(header.ticket, Outcome::ok, true) : Executed{};
}

Executed execute_get(Bytes payload, Room room) noexcept {
  GetHeader header;
  if (!decode_exactly(payload, header)) return {.wrong = kBadLength};
  if (header.bytes > room.longest) return refuse(header.window, header.ticket, {Outcome::bad, kBadLength});
  const std::byte* const source = windows::find_exposed(header.window, header.offset, header.bytes);
  if (source == nullptr)
    return refuse(header.window, header.ticket, refusal_of(header.window, {header.offset, header.bytes}));
  Bytes data{source, header.bytes};
  // Another thread may write a word at this moment, so it is read at once, whatever the endpoint copies with.
  if (data.size() <= sizeof(std::uint64_t)) {
    rma::copy_visible(room.scratch.data(), source, data.size());
    data = room.scratch.first(data.size());
  }
  return reply(header.ticket, Outcome::ok, true, data);
}

Executed execute_get_strided(Bytes payload, Room room) noexcept {
  GetStridedHeader header;
  BlockRange range;
  if (!decode_exactly(payload, header)) return {.wrong = kBadLength};
  if (!range_of(header, range) || range.total() > room.scratch.size())
    return refuse(header.window, header.ticket, {Outcome::bad, kBadLength});
  const BlockRun run{header.offset, range.step, range.block_bytes, range.block_count};
  if (!is_exposed(header.window, run, range))
    return refuse(header.window, header.ticket, refusal_of(header.window, {header.offset, range.span}));
  gather(header.window, run, range, room.scratch.data());
  return reply(header.ticket, Outcome::ok, true, room.scratch.first(range.total()));
}

Executed execute_atomic(Bytes payload, Room room) noexcept {
  AtomicHeader header;
  if (!decode_exactly(payload, header)) return {.wrong = kBadElements};
  if (!is_sound(header)) return refuse(header.window, header.ticket, {Outcome::bad, kBadElements});
  const std::size_t bytes = atomic::element_bytes(header.type);
  std::byte* const word = windows::find_exposed(header.window, header.offset, bytes);
  if (word == nullptr)
    return refuse(header.window, header.ticket, refusal_of(header.window, {header.offset, bytes}, kBadWord));
  if (!is_public(header.window) && !is_aligned(word, bytes)) return {.wrong = kBadWord};
  // On symmetric memory these are the standard's atomics.
  const atomic::Operation operation{header.op, header.type, header.operand, header.condition};
  const std::uint64_t old = is_public(header.window) ? atomic::apply_one(operation, atomic::own_elements(word))
                                                     : atomic::apply_one(operation, word);
  std::memcpy(room.scratch.data(), &old, sizeof old);
  Executed result = reply(header.ticket, Outcome::ok, true, room.scratch.first(bytes));
  result.has_changed = header.op != atomic::ElementOp::no_op;
  return result;
}

Executed execute_accumulate(Bytes payload, Room room) noexcept {
  AccumulateHeader header;
  Bytes elements;
  if (!decode(payload, header, elements)) return {.wrong = kBadLength};
  const bool fetch = header.fetch != 0;
  const bool is_final = header.is_last != 0 || fetch;
  if (!is_sound(header, elements, room.scratch.size()))
    return refuse(header.window, header.ticket, {Outcome::bad, kBadElements}, is_final);
  const std::uint64_t bytes = atomic::span_bytes(header.type, header.count);
  std::byte* const at = windows::find_exposed(header.window, header.offset, bytes);
  if (at == nullptr)
    return refuse(header.window, header.ticket, refusal_of(header.window, {header.offset, bytes}), is_final);
  const atomic::Update update{header.type, header.op, header.exclusive != 0};
  atomic::apply(update, atomic::own_elements(at), elements.empty() ? nullptr : elements.data(),
                fetch ? room.scratch.data() : nullptr, header.count);
  if (!is_final) return {};
  return reply(header.ticket, Outcome::ok, true, fetch ? room.scratch.first(bytes) : std::span<std::byte>{});
}

Executed execute_accumulate_strided(Bytes payload, Room room) noexcept {
  AccumulateStridedHeader header;
  Bytes operands;
  if (!decode(payload, header, operands)) return {.wrong = kBadLength};
  const AccumulateHeader& elements = header.elements;
  const bool fetch = elements.fetch != 0;
  const bool is_final = elements.is_last != 0 || fetch;
  BlockRun run{};
  BlockRange range{};
  if (!find_blocks(header, operands, room.scratch.size(), run, range))
    return refuse(elements.window, elements.ticket, {Outcome::bad, kBadElements}, is_final);
  if (!is_exposed(elements.window, run, range))
    return refuse(elements.window, elements.ticket, refusal_of(elements.window, {run.offset, range.span}), is_final);
  const atomic::Update update{elements.type, elements.op, elements.exclusive != 0};
  const auto bytes = static_cast<std::ptrdiff_t>(run.block_bytes);
  atomic::ElementBlocks blocks{{},
                               operands.empty() ? nullptr : operands.data(),
                               fetch ? room.scratch.data() : nullptr,
                               elements.count,
                               run.block_count,
                               static_cast<std::ptrdiff_t>(range.step),
                               bytes,
                               bytes};
  if (std::byte* const at = windows::find_exposed(elements.window, run.offset, range.span)) {
    blocks.first = atomic::own_elements(at);
    atomic::apply_blocks(update, blocks);
  } else {
    apply_apart(update, elements.window, run, blocks);
  }
  if (!is_final) return {};
  return reply(elements.ticket, Outcome::ok, true, fetch ? room.scratch.first(range.total()) : std::span<std::byte>{});
}

Executed find_key_request(Bytes payload, KeyRequest& request, windows::ExposedRange& window) noexcept {
  if (!decode_exactly(payload, request)) return {.wrong = kBadLength};
  window = windows::range_around(request.window, request.offset);
  if (window.base != nullptr) return {};
  return refuse(request.window, request.ticket, refusal_of(request.window, {request.offset, 1}));
}

// ---- data that arrive separately ----

std::byte* find_put(Bytes payload, std::size_t bytes) noexcept {
  PutHeader header;
  return decode_exactly(payload, header) ? windows::find_exposed(header.window, header.offset, bytes) : nullptr;
}

std::byte* find_put_signal(Bytes payload, std::size_t bytes) noexcept {
  PutSignalHeader header;
  Bytes data;
  if (!decode_put_signal(payload, header, data) || !data.empty() || find_signal(header.signal) == nullptr)
    return nullptr;
  return windows::find_exposed(header.put.window, header.put.offset, bytes);
}

std::byte* find_put_replied(Bytes payload, std::size_t bytes) noexcept {
  PutRepliedHeader header;
  return decode_exactly(payload, header) ? windows::find_exposed(header.window, header.offset, bytes) : nullptr;
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

Executed reply_to_placed(Bytes payload) noexcept {
  PutRepliedHeader header;
  if (!decode_exactly(payload, header)) return {.wrong = kBadLength};
  return header.is_last != 0 ? reply(header.ticket, Outcome::ok, true) : Executed{};
}

}  // namespace shmemx::onesided
