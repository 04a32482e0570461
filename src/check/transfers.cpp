#include "check/transfers.hpp"

#include "base/fatal.hpp"
#include "check/blocks.hpp"
#include "check/checks.hpp"
#include "check/variables.hpp"

namespace shmemx::check {
namespace {

std::uintptr_t begin_of(const Blocks& blocks) { return reinterpret_cast<std::uintptr_t>(blocks.at); }

bool spans_overlap(const Blocks& a, const Blocks& b) {
  return begin_of(a) < begin_of(b) + b.span() && begin_of(b) < begin_of(a) + a.span();
}

Range range_of(const Blocks& blocks) { return {blocks.at, blocks.span()}; }

}  // namespace

bool overlap(const Blocks& a, const Blocks& b) noexcept {
  if (a.span() == 0 || b.span() == 0 || !spans_overlap(a, b)) return false;
  std::uint64_t i = 0;
  std::uint64_t j = 0;
  while (i < a.count && j < b.count) {
    const std::uintptr_t in_a = begin_of(a) + i * a.step;
    const std::uintptr_t in_b = begin_of(b) + j * b.step;
    if (in_a + a.block_bytes <= in_b) {
      ++i;
    } else if (in_b + b.block_bytes <= in_a) {
      ++j;
    } else {
      return true;
    }
  }
  return false;
}

void check_transfer(const Transfer& transfer) noexcept {
  const auto& [routine, local, symmetric, use, is_to_self, of] = transfer;
  const char* const argument = is_source(use) ? "source" : "dest";
  const Range range = range_of(local);
  if (range.bytes == 0) return;
  check_memory(routine, argument, range.at, range.bytes);
  if (!is_source(use) && enabled.has(Checks::heap)) check_writable(routine, argument, range.at);
  if (enabled.has(Checks::overlap) && is_to_self && overlap(local, symmetric))
    fatal(routine, "arguments 'dest' and 'source' overlap on this PE, which is also the one that 'pe' names");
  if (is_source(use)) {
    check_reading(routine, argument, range);
  } else {
    check_writing(routine, argument, range);
  }
  if (use == Use::kept_source) note_source(routine, range, of);
}

void check_signal(const char* routine, const Blocks& dest, const void* signal) noexcept {
  if (enabled.has(Checks::overlap) && overlap(dest, {signal, sizeof(std::uint64_t)}))
    fatal(routine, "arguments 'dest' and 'sig_addr' overlap, allowed are signals beside the data");
}

void check_collective(const char* routine, const Range& dest, const Range& source, SameArray same) noexcept {
  verify(routine, Extent::some);
  if (!enabled.has(Checks::overlap)) return;
  const bool is_same = dest.at == source.at && dest.bytes == source.bytes;
  if (is_same && same == SameArray::allowed) return;
  if (!overlap({dest.at, dest.bytes}, {source.at, source.bytes})) return;
  fatal(routine, "arguments 'dest' and 'source' overlap, allowed are %sarrays that do not",
        same == SameArray::allowed ? "the same array and " : "");
}

}  // namespace shmemx::check
