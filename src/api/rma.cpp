#include "api/rma.hpp"

#include "api/observed.hpp"
#include "check/checks.hpp"
#include "onesided/gathered.hpp"
#include "onesided/short_path.hpp"

namespace shmemx::api {
namespace {

using onesided::ShortGet;

[[gnu::always_inline]] inline transport::Bytes bytes_at(const void* source, std::size_t bytes) noexcept {
  return {static_cast<const std::byte*>(source), bytes};
}

// What carries the short path out: the endpoint of the process, or the lane of the context. Functions for the two are
// apart, so that neither pays for the other.
enum class Path : std::uint8_t { common, lane };
[[gnu::always_inline]] inline bool has_lane(const Context& context) noexcept { return context.lane != nullptr; }

// The short path to heaps of PEs that are not near. Require has_short_path(). Return false if the caller has to do it
// in another way.
template <Path path>
[[gnu::always_inline]] inline bool try_put(const Context& context, std::uint64_t offset, const void* source,
                                           std::size_t bytes, std::uint32_t near) noexcept {
  const int pe = context::pe_at(context, near);
  if (!context::pe_in_range(context, pe)) return false;
  const int world = context::world_pe(context, pe);
  if constexpr (path == Path::lane) return onesided::put_at_once(*context.lane, world, offset, bytes_at(source, bytes));
  return onesided::put_at_once(context, world, offset, bytes_at(source, bytes));
}
template <Path path>
[[gnu::always_inline]] inline ShortGet try_get(const Context& context, std::uint64_t offset, std::span<std::byte> dest,
                                               std::uint32_t near, transport::Completion& completion) noexcept {
  const int pe = context::pe_at(context, near);
  if (!context::pe_in_range(context, pe)) return ShortGet::no;
  const int world = context::world_pe(context, pe);
  if constexpr (path == Path::lane) return onesided::get_at_once(*context.lane, world, offset, dest, completion);
  return onesided::get_at_once(world, offset, dest, completion);
}
// Returns false if it has to be done in another way.
[[gnu::noinline, gnu::cold]] bool await_get(const Context& context, const char* routine, std::uint32_t near,
                                            transport::Completion& completion) noexcept {
  return onesided::await_get(routine, context, context::world_pe(context, context::pe_at(context, near)), completion);
}

// What the path behind the short one needs. It lies in memory, so that the short path keeps none of it in registers
// across the call of the network.
struct BlockCall {
  void* dest;
  const void* source;
  std::uint64_t bytes;
  const Context& context;
  const char* routine;
  std::uint32_t near;

  [[gnu::always_inline]] void keep_in_memory() const noexcept { __asm__ volatile("" : : "m"(*this) : "memory"); }
};
[[gnu::always_inline]] inline bool is_short(const Context& context, std::uint64_t bytes, std::uint32_t near) noexcept {
  return near >= context.n_near && bytes - 1 < onesided::kShortBytes;
}
[[gnu::always_inline]] inline std::uint64_t heap_offset(const Context& context, const void* address) noexcept {
  return reinterpret_cast<std::uintptr_t>(address) - context.heap_base;
}

void p_any(std::uint64_t offset, const void* value, std::uint32_t near, const Context& context, const char* routine,
           std::size_t bytes) noexcept {
  const context::Location target = context::resolve_cold(context, {routine, "dest"}, offset + context.heap_base, bytes,
                                                         context::pe_at(context, near));
  if (!target.is_mapped()) return onesided::put(routine, context, target.place, value, bytes);
  rma::copy_visible(target.address, value, bytes);
  wake(*target.doorbell);
}

void g_any(std::uint64_t offset, void* value, std::uint32_t near, const Context& context, const char* routine,
           std::size_t bytes) noexcept {
  const context::Location target = context::resolve_cold(context, {routine, "source"}, offset + context.heap_base,
                                                         bytes, context::pe_at(context, near));
  std::uint64_t word = 0;
  if (!target.is_mapped()) {
    onesided::get(routine, context, value, target.place, bytes);
    std::memcpy(&word, value, std::min(bytes, sizeof word));
    return note_answer(routine, reinterpret_cast<const void*>(offset + context.heap_base), word);
  }
  rma::copy_visible(value, target.address, bytes);
  std::memcpy(&word, value, std::min(bytes, sizeof word));
  note_read(routine, target.address, word);
}

// A call of p or g.
struct WordCall {
  std::uint64_t offset;
  const Context& context;
  const char* routine;
  std::size_t bytes;
  std::uint32_t near;
  std::uint64_t value;
};

[[gnu::noinline, gnu::cold]] void p_word_slow(const WordCall& call) noexcept {
  p_any(call.offset, &call.value, call.near, call.context, call.routine, call.bytes);
}

[[gnu::noinline, gnu::cold]] std::uint64_t g_word_slow(WordCall& call, ShortGet result,
                                                       transport::Completion& completion) noexcept {
  const bool is_open = result == ShortGet::open;
  if (!is_open || !await_get(call.context, call.routine, call.near, completion))
    g_any(call.offset, &call.value, call.near, call.context, call.routine, call.bytes);
  return call.value;
}

template <Path path>
[[gnu::always_inline]] inline void p_word_by(const WordCall& call) noexcept {
  if (!try_put<path>(call.context, call.offset, &call.value, call.bytes, call.near)) [[unlikely]]
    p_word_slow(call);
}
[[gnu::noinline]] void p_word_by_lane(std::uint64_t offset, std::uint64_t value, std::uint32_t near,
                                      const Context& context, const char* routine, std::size_t bytes) noexcept {
  p_word_by<Path::lane>({offset, context, routine, bytes, near, value});
}

template <Path path>
[[gnu::always_inline]] inline std::uint64_t g_word_by(WordCall call) noexcept {
  transport::Completion completion;
  const std::span<std::byte> dest(reinterpret_cast<std::byte*>(&call.value), call.bytes);
  const ShortGet result = try_get<path>(call.context, call.offset, dest, call.near, completion);
  if (result != ShortGet::done) [[unlikely]]
    return g_word_slow(call, result, completion);
  return call.value;
}
[[gnu::noinline]] std::uint64_t g_word_by_lane(std::uint64_t offset, std::uint32_t near, const Context& context,
                                               const char* routine, std::size_t bytes) noexcept {
  return g_word_by<Path::lane>({offset, context, routine, bytes, near, 0});
}

// What is observed or checked leaves the short paths by a jump, so that its span sees the caller: where it is, there is
// no short path.
[[gnu::noinline, gnu::cold]] void p_word_observed(std::uint64_t offset, std::uint64_t value, std::uint32_t near,
                                                  const Context& context, const char* routine,
                                                  std::size_t bytes) noexcept {
  const Observed span(context, {routine, stats::Family::put}, context::pe_at(context, near), bytes);
  p_any(offset, &value, near, context, routine, bytes);
}
[[gnu::noinline, gnu::cold]] std::uint64_t g_word_observed(std::uint64_t offset, std::uint32_t near,
                                                           const Context& context, const char* routine,
                                                           std::size_t bytes) noexcept {
  const Observed span(context, {routine, stats::Family::get}, context::pe_at(context, near), bytes);
  std::uint64_t value = 0;
  g_any(offset, &value, near, context, routine, bytes);
  return value;
}

// Have an object whose address is passed on, unlike the functions that leave by a jump.
[[gnu::noinline]] void p_word_any(std::uint64_t offset, std::uint64_t value, std::uint32_t near, const Context& context,
                                  const char* routine, std::size_t bytes) noexcept {
  p_any(offset, &value, near, context, routine, bytes);
}
[[gnu::noinline]] std::uint64_t g_word_any(std::uint64_t offset, std::uint32_t near, const Context& context,
                                           const char* routine, std::size_t bytes) noexcept {
  std::uint64_t value = 0;
  g_any(offset, &value, near, context, routine, bytes);
  return value;
}

[[gnu::noinline]] void p_word_apart(std::uint64_t offset, std::uint64_t value, std::uint32_t near,
                                    const Context& context, const char* routine, std::size_t bytes) noexcept {
  if (context::uses_cold_halves) return p_word_observed(offset, value, near, context, routine, bytes);
  return p_word_any(offset, value, near, context, routine, bytes);
}
[[gnu::noinline]] std::uint64_t g_word_apart(std::uint64_t offset, std::uint32_t near, const Context& context,
                                             const char* routine, std::size_t bytes) noexcept {
  if (context::uses_cold_halves) return g_word_observed(offset, near, context, routine, bytes);
  return g_word_any(offset, near, context, routine, bytes);
}

}  // namespace

check::Initiator initiator(const Context& context, std::uint32_t near) noexcept {
  const auto index = static_cast<std::uint32_t>(&context - context::context_table);
  return {index, context::world_pe(context, context::pe_at(context, near))};
}

context::Location resolve_transfer_cold(const Context& context, context::Site site, const Sides& sides,
                                        std::uint32_t near) noexcept {
  const int pe = context::pe_at(context, near);
  const auto address = reinterpret_cast<std::uintptr_t>(sides.symmetric.at);
  const context::Location found = context::resolve_cold(context, site, address, sides.symmetric.span(), pe);
  if (check::watches_operations()) {
    if (reinterpret_cast<std::uintptr_t>(sides.local.at) < context::kLeastAddress && sides.local.span() != 0)
      context::bad_local({site.routine, check::is_source(sides.use) ? "source" : "dest"}, sides.local.at);
    check::check_transfer(
        {site.routine, sides.local, sides.symmetric, sides.use, pe == context.my_pe, initiator(context, near)});
  }
  return found;
}

void p_element(std::uint64_t offset, const void* value, std::uint32_t near, const Context& context, const char* routine,
               std::size_t bytes) noexcept {
  const Observed span(context, {routine, stats::Family::put}, context::pe_at(context, near), bytes);
  p_any(offset, value, near, context, routine, bytes);
}

void g_element(std::uint64_t offset, void* value, std::uint32_t near, const Context& context, const char* routine,
               std::size_t bytes) noexcept {
  const Observed span(context, {routine, stats::Family::get}, context::pe_at(context, near), bytes);
  g_any(offset, value, near, context, routine, bytes);
}

void p_word(std::uint64_t offset, std::uint64_t value, std::uint32_t near, const Context& context, const char* routine,
            std::size_t bytes) noexcept {
  if (!onesided::has_short_path()) [[unlikely]]
    return p_word_apart(offset, value, near, context, routine, bytes);
  if (has_lane(context)) return p_word_by_lane(offset, value, near, context, routine, bytes);
  p_word_by<Path::common>({offset, context, routine, bytes, near, value});
}

std::uint64_t g_word(std::uint64_t offset, std::uint32_t near, const Context& context, const char* routine,
                     std::size_t bytes) noexcept {
  if (!onesided::has_short_path()) [[unlikely]]
    return g_word_apart(offset, near, context, routine, bytes);
  if (has_lane(context)) return g_word_by_lane(offset, near, context, routine, bytes);
  return g_word_by<Path::common>({offset, context, routine, bytes, near, 0});
}

namespace {

[[gnu::noinline]] void put_block(const BlockCall& call) noexcept {
  const auto& [dest, source, bytes, context, routine, near] = call;
  const context::Location target =
      resolve_transfer(context, {routine, "dest"}, dest, source, bytes, check::Use::source, near);
  if (!target.is_mapped()) [[unlikely]]
    return onesided::put(routine, context, target.place, source, bytes);
  rma::copy(target.address, source, bytes);
  wake(*target.doorbell);
}

[[gnu::noinline]] void put_nbi_block(const BlockCall& call) noexcept {
  const auto& [dest, source, bytes, context, routine, near] = call;
  const context::Location target =
      resolve_transfer(context, {routine, "dest"}, dest, source, bytes, check::Use::kept_source, near);
  if (!target.is_mapped()) [[unlikely]]
    return onesided::put_nbi(routine, context, target.place, source, bytes);
  rma::copy(target.address, source, bytes);
  wake(*target.doorbell);
}

// Of at most 8 bytes.
std::uint64_t word_at(const void* memory, std::size_t bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, memory, bytes);
  return value;
}

[[gnu::noinline]] void get_block(const BlockCall& call) noexcept {
  const auto& [dest, source, bytes, context, routine, near] = call;
  const context::Location target =
      resolve_transfer(context, {routine, "source"}, source, dest, bytes, check::Use::dest, near);
  if (!target.is_mapped()) [[unlikely]] {
    onesided::get(routine, context, dest, target.place, bytes);
    if (bytes <= sizeof(std::uint64_t)) note_answer(routine, source, word_at(dest, bytes));
    return;
  }
  rma::copy(dest, target.address, bytes);
  if (bytes <= sizeof(std::uint64_t)) return note_read(routine, target.address, word_at(dest, bytes));
  handle_messages_of_reader();
}

template <Path path, void (*kRest)(const BlockCall&)>
[[gnu::always_inline]] inline void put_bytes_by(void* dest, const void* source, std::uint64_t bytes, std::uint32_t near,
                                                const Context& context, const char* routine) noexcept {
  const BlockCall call{dest, source, bytes, context, routine, near};
  call.keep_in_memory();
  if (is_short(context, bytes, near) && try_put<path>(context, heap_offset(context, dest), source, bytes, near)) return;
  kRest(call);
}
[[gnu::noinline]] void put_by_lane(void* dest, const void* source, std::uint64_t bytes, std::uint32_t near,
                                   const Context& context, const char* routine) noexcept {
  put_bytes_by<Path::lane, put_block>(dest, source, bytes, near, context, routine);
}
[[gnu::noinline]] void put_nbi_by_lane(void* dest, const void* source, std::uint64_t bytes, std::uint32_t near,
                                       const Context& context, const char* routine) noexcept {
  put_bytes_by<Path::lane, put_nbi_block>(dest, source, bytes, near, context, routine);
}

template <Path path>
[[gnu::always_inline]] inline void get_bytes_by(void* dest, const void* source, std::uint64_t bytes, std::uint32_t near,
                                                const Context& context, const char* routine) noexcept {
  const BlockCall call{dest, source, bytes, context, routine, near};
  call.keep_in_memory();
  if (is_short(context, bytes, near)) {
    transport::Completion completion;
    const std::span<std::byte> local(static_cast<std::byte*>(dest), bytes);
    const ShortGet result = try_get<path>(context, heap_offset(context, source), local, near, completion);
    if (result == ShortGet::done) return;
    if (result == ShortGet::open && await_get(call.context, call.routine, call.near, completion)) return;
  }
  get_block(call);
}
[[gnu::noinline]] void get_by_lane(void* dest, const void* source, std::uint64_t bytes, std::uint32_t near,
                                   const Context& context, const char* routine) noexcept {
  get_bytes_by<Path::lane>(dest, source, bytes, near, context, routine);
}

template <void (*kBlock)(const BlockCall&) noexcept, stats::Family kFamily>
[[gnu::noinline, gnu::cold]] void observed(void* dest, const void* source, std::uint64_t bytes, std::uint32_t near,
                                           const Context& context, const char* routine) noexcept {
  const Observed span(context, {routine, kFamily}, context::pe_at(context, near), bytes);
  kBlock({dest, source, bytes, context, routine, near});
}
// Without the short path.
template <void (*kBlock)(const BlockCall&) noexcept, stats::Family kFamily>
[[gnu::noinline]] void block_apart(void* dest, const void* source, std::uint64_t bytes, std::uint32_t near,
                                   const Context& context, const char* routine) noexcept {
  if (context::uses_cold_halves) return observed<kBlock, kFamily>(dest, source, bytes, near, context, routine);
  kBlock({dest, source, bytes, context, routine, near});
}

}  // namespace

void put_bytes(void* dest, const void* source, std::uint64_t bytes, std::uint32_t near, const Context& context,
               const char* routine) noexcept {
  if (!onesided::has_short_path()) [[unlikely]]
    return block_apart<put_block, stats::Family::put>(dest, source, bytes, near, context, routine);
  if (has_lane(context)) return put_by_lane(dest, source, bytes, near, context, routine);
  put_bytes_by<Path::common, put_block>(dest, source, bytes, near, context, routine);
}

void put_nbi_bytes(void* dest, const void* source, std::uint64_t bytes, std::uint32_t near, const Context& context,
                   const char* routine) noexcept {
  if (!onesided::has_short_path()) [[unlikely]]
    return block_apart<put_nbi_block, stats::Family::put>(dest, source, bytes, near, context, routine);
  if (has_lane(context)) return put_nbi_by_lane(dest, source, bytes, near, context, routine);
  put_bytes_by<Path::common, put_nbi_block>(dest, source, bytes, near, context, routine);
}

void get_bytes(void* dest, const void* source, std::uint64_t bytes, std::uint32_t near, const Context& context,
               const char* routine) noexcept {
  if (!onesided::has_short_path()) [[unlikely]]
    return block_apart<get_block, stats::Family::get>(dest, source, bytes, near, context, routine);
  if (has_lane(context)) return get_by_lane(dest, source, bytes, near, context, routine);
  get_bytes_by<Path::common>(dest, source, bytes, near, context, routine);
}

namespace {

[[gnu::noinline]] void get_nbi_cold(const BlockCall& call) noexcept {
  const auto& [dest, source, bytes, context, routine, near] = call;
  const Sides sides{{source, bytes}, {dest, bytes}, check::Use::kept_dest};
  const context::Location target = resolve_transfer_cold(context, {routine, "source"}, sides, near);
  // Where the buffer is watched, its data have to be known.
  const bool completes_at_once = check::enabled.has(check::Checks::pending) && !context::calls_make_progress;
  if (target.is_mapped()) {
    rma::copy(dest, target.address, bytes);
  } else if (completes_at_once) {
    onesided::get(routine, context, dest, target.place, bytes);
  } else {
    return onesided::get_nbi(routine, context, dest, target.place, bytes);
  }
  check::note_dest(routine, {dest, bytes}, initiator(context, near));
}

[[gnu::noinline]] void get_nbi_any(void* dest, const void* source, std::uint64_t bytes, std::uint32_t near,
                                   const Context& context, const char* routine) noexcept {
  const Observed span(context, {routine, stats::Family::get}, context::pe_at(context, near), bytes);
  if (!context::is_near(context, source, bytes, near)) [[unlikely]]
    return get_nbi_cold({dest, source, bytes, context, routine, near});
  rma::copy(dest, context::locate_near(context, source, near).address, bytes);
}

// Returns false if it has to be done in another way, as where operations are observed or checked: then `heap_bytes` is
// 0.
[[gnu::always_inline]] inline bool get_in_batch(void* dest, const void* source, std::uint64_t bytes, std::uint32_t near,
                                                const Context& context) noexcept {
  const std::uint64_t offset = heap_offset(context, source);
  const int pe = context::pe_at(context, near);
  if (near < context.n_near || !onesided::may_gather_reply(bytes) ||
      !context::range_fits(offset, bytes, context.heap_bytes) || !context::pe_in_range(context, pe))
    return false;
  const int world = context::world_pe(context, pe);
  return onesided::goes_by_message(world) &&
         onesided::try_get_in_batch(context, {world, windows::kHeapWindow, offset}, dest, bytes);
}

}  // namespace

void get_nbi_bytes(void* dest, const void* source, std::uint64_t bytes, std::uint32_t near, const Context& context,
                   const char* routine) noexcept {
  if (!get_in_batch(dest, source, bytes, near, context)) get_nbi_any(dest, source, bytes, near, context, routine);
}

}  // namespace shmemx::api
