#include "context/route.hpp"

#include <cstdio>
#include <string>

#include "base/fatal.hpp"
#include "check/blocks.hpp"
#include "check/checks.hpp"
#include "check/variables.hpp"
#include "context/address_text.hpp"
#include "context/location.hpp"

namespace shmemx::context {
namespace {

constinit const char* unusable_reason = "called before shmem_init";

// The PE whose heap, or static data, as mapped here holds the address; -1: none. `first`: those of the first near PE.
int owner_of(const Context& context, const std::byte* first, std::uint64_t bytes, std::uintptr_t address) {
  if (!node_is_mapped() || context.pe_step <= 0) return -1;
  const std::uint64_t offset = address - reinterpret_cast<std::uintptr_t>(first);
  const std::uint64_t near = offset / static_cast<std::uint64_t>(context.pe_step);
  return near < context.n_near && offset % static_cast<std::uint64_t>(context.pe_step) < bytes
             ? static_cast<int>(near + context.first_near)
             : -1;
}

AddressText text_of_peer(const char* what, int pe) {
  return {std::string("it is in the ") + what + " of PE " + std::to_string(pe) + ", as shmem_ptr gives it",
          "pass the address that the object has on this PE"};
}

AddressText text_behind_heap(std::uint64_t bytes) {
  return {"it is " + (bytes == 0 ? "at" : std::to_string(bytes) + " bytes behind") + " the end of the symmetric heap",
          "compare the index with the size of the block, or set SHMEM_SYMMETRIC_SIZE for a larger heap"};
}

bool is_in_hole(const Context& context, std::uintptr_t address) {
  const std::uint64_t offset = address - context.static_base;
  return offset < context.static_bytes && windows::touches_static_hole(offset, 1);
}

[[noreturn]] void bad_address(const Context& context, Site site, std::uintptr_t address) {
  AddressText text =
      is_in_hole(context, address) ? describe_hole(address) : describe_address(address, context.static_bytes != 0);
  const std::uint64_t behind = address - (context.heap_base + context.window_bytes);
  if (behind < context.window_bytes && context.window_bytes != 0) text = text_behind_heap(behind);
  if (const int pe = owner_of(context, context.near_heap, context.window_bytes, address); pe >= 0)
    text = text_of_peer("heap", pe);
  if (const int pe = owner_of(context, context.near_statics, context.static_bytes, address); pe >= 0)
    text = text_of_peer("static data", pe);
  char globals[96] = "";
  if (context.static_bytes != 0)
    std::snprintf(globals, sizeof globals, " and static data of the executable %#zx..%#zx", context.static_base,
                  context.static_base + context.static_bytes);
  fatal(site.routine,
        "argument '%s' is %#zx, which is not a symmetric address: %s; allowed %s the symmetric heap %#zx..%#zx%s; %s",
        site.argument, address, text.what.c_str(), globals[0] == '\0' ? "is" : "are", context.heap_base,
        context.heap_base + context.window_bytes, globals, text.remedy.c_str());
}

// Returns "-8 (as size_t 18446744073709551608)" for what is rather a negative number than one of bytes.
std::string byte_count_text(std::uint64_t bytes) {
  constexpr std::int64_t kMostNegative = -(std::int64_t{1} << 40);
  const auto as_signed = static_cast<std::int64_t>(bytes);
  const std::string text = std::to_string(bytes);
  return as_signed < 0 && as_signed >= kMostNegative ? std::to_string(as_signed) + " (as size_t " + text + ")" : text;
}

[[noreturn]] void bad_range(const Context& context, Site site, std::uintptr_t address, std::uint64_t bytes) {
  const std::uint64_t heap_offset = address - context.heap_base;
  const std::uint64_t static_offset = address - context.static_base;
  if (heap_offset < context.window_bytes) {
    fatal(site.routine,
          "argument '%s' is %#zx, %s bytes from there go past the end of the symmetric heap, allowed are %llu bytes",
          site.argument, address, byte_count_text(bytes).c_str(),
          static_cast<unsigned long long>(context.window_bytes - heap_offset));
  }
  if (static_offset < context.static_bytes && !is_in_hole(context, address)) {
    const bool hits_hole = range_fits(static_offset, bytes, context.static_bytes);
    fatal(site.routine,
          "argument '%s' is %#zx%s, %s bytes from there go past the end of the %sstatic data, allowed are %llu bytes",
          site.argument, address, variable_text(address).c_str(), byte_count_text(bytes).c_str(),
          hits_hole ? "symmetric part of the " : "",
          static_cast<unsigned long long>(windows::static_bytes_from(static_offset, context.static_bytes)));
  }
  bad_address(context, site, address);
}

// On the queue path this PE's doorbell does not lie in front of its heap.
Location location_of(const Context& context, const Place& place, int pe) {
  const bool maps_all = all_mapped && !context.by_messages;
  if (!maps_all && pe == context.my_pe) {
    const std::uintptr_t base = place.window == windows::kStaticWindow ? context.static_base : context.heap_base;
    return {reinterpret_cast<std::byte*>(base + place.offset), own_doorbell(), place};
  }
  if (!maps_all && !is_mapped(context, pe)) return {nullptr, nullptr, place};
  return {mapped_address(context, place, pe), &doorbell_of_heap(peer_heap(context, pe)), place};
}

}  // namespace

void wake_owner(std::byte* heap) noexcept { wake_sleepers(doorbell_of_heap(heap)); }

void bad_pe(const Context& context, const char* routine, int pe) {
  const bool world = context.team_index == kDefaultContext;
  const auto member = world ? std::nullopt : context.set.find(Pe{pe});
  char hint[80] = "";
  if (member) std::snprintf(hint, sizeof hint, "; PE %d of the world is PE %d of that team", pe, member->value);
  fatal(routine, "argument 'pe' is %d, allowed are 0..%u (%s)%s", pe, context.n_pes - 1,
        world ? "team WORLD" : "the context's team", hint);
}

Location resolve_cold(const Context& context, Site site, std::uintptr_t address, std::uint64_t bytes, int pe) noexcept {
  if (context.n_pes == 0) {
    require_initialized(site.routine);
    bad_context(site.routine, context.handle);
  }
  if (!pe_in_range(context, pe)) bad_pe(context, site.routine, pe);
  const auto place = find_place(context, address, bytes, pe);
  if (!place && bytes != 0) bad_range(context, site, address, bytes);
  if (check::is_on() && place) {
    check::check_thread(site.routine);
    if (place->window == windows::kHeapWindow) {
      check::check_access(site.routine, site.argument, place->offset, bytes);
    } else {
      check::check_variable(site.routine, site.argument, reinterpret_cast<const void*>(address), bytes);
    }
  }
  return location_of(context, place.value_or(Place{world_pe(context, pe), windows::kHeapWindow, 0}), pe);
}

Location resolve_word_cold(const Context& context, Site site, std::uintptr_t address, std::size_t bytes,
                           int pe) noexcept {
  const Location target = resolve_cold(context, site, address, bytes, pe);
  check_alignment(site, address, bytes);
  return target;
}

void check_alignment(Site site, std::uintptr_t address, std::size_t bytes) noexcept {
  if (address % bytes == 0) return;
  fatal(site.routine, "argument '%s' is %#zx%s, allowed are addresses that are a multiple of the type's size, %zu",
        site.argument, address, variable_text(address).c_str(), bytes);
}

void bad_local(Site site, const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  fatal(site.routine, "argument '%s' is %#zx, where no memory is: %s", site.argument, at,
        describe_address(at, true).what.c_str());
}

bool is_symmetric(const Context& context, const void* address, std::uint64_t bytes) noexcept {
  return find_place(context, reinterpret_cast<std::uintptr_t>(address), bytes, context.my_pe).has_value();
}

void not_initialized(const char* routine) noexcept { fatal(routine, "%s", unusable_reason); }

void bad_context(const char* routine, std::uint64_t handle) noexcept {
  require_initialized(routine);
  fatal(routine,
        "argument 'ctx' is %#llx, which is %s, allowed are SHMEM_CTX_DEFAULT and contexts that were created and not "
        "yet destroyed",
        static_cast<unsigned long long>(handle), handle == 0 ? "SHMEM_CTX_INVALID" : "not a live context");
}

void set_unusable_reason(const char* reason) noexcept { unusable_reason = reason; }

}  // namespace shmemx::context
