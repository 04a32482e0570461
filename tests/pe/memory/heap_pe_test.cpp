// Memory management on the symmetric heap (section 9.3).
#include <pshmem.h>
#include <shmemx.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "../../support/pe_test.hpp"

namespace {

using namespace pe_test;

bool aligned(const void* p, std::size_t to) { return reinterpret_cast<std::uintptr_t>(p) % to == 0; }

// Checks that the block is the same on all PEs: data that a peer puts to its own address of it arrive here.
void check_symmetric(void* block, std::size_t bytes) {
  auto* const bytes_at = static_cast<unsigned char*>(block);
  bytes_at[0] = bytes_at[bytes - 1] = 0;
  shmem_barrier_all();
  const auto mark = static_cast<unsigned char>(me() % 100 + 1);
  shmem_putmem(bytes_at, &mark, 1, right());
  shmem_putmem(bytes_at + bytes - 1, &mark, 1, right());
  shmem_barrier_all();
  CHECK_EQUAL(bytes_at[0], left() % 100 + 1);
  CHECK_EQUAL(bytes_at[bytes - 1], left() % 100 + 1);
  shmem_barrier_all();
}

shmemx_heap_info_t heap_info() {
  shmemx_heap_info_t info;
  std::memset(&info, 0xff, sizeof info);
  shmemx_heap_query(&info);
  return info;
}

}  // namespace

PE_TEST(every_allocator_returns_symmetric_aligned_memory) {
  void* (*const mallocs[])(size_t) = {shmem_malloc, pshmem_malloc, shmalloc};
  void (*const frees[])(void*) = {shmem_free, pshmem_free, shfree};
  for (std::size_t i = 0; i < 3; ++i) {
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{24}, std::size_t{4097}, std::size_t{1} << 20}) {
      void* const block = mallocs[i](bytes);
      if (!CHECK(block != nullptr)) return;
      CHECK(aligned(block, alignof(std::max_align_t)));
      CHECK_EQUAL(shmem_addr_accessible(block, right()), 1);
      check_symmetric(block, bytes);
      frees[i](block);
    }
  }
  void* (*const aligns[])(size_t, size_t) = {shmem_align, pshmem_align, shmemalign};
  for (const auto& align : aligns) {
    for (std::size_t to = 1; to <= 1 << 16; to *= 2) {
      void* const block = align(to, 100);
      if (!CHECK(block != nullptr)) return;
      CHECK(aligned(block, to));
      check_symmetric(block, 100);
      shmem_free(block);
    }
  }
}

// An alignment must be a power of two. All PEs get null, before any barrier.
PE_TEST(other_alignments_give_null) {
  const auto before = heap_info();
  if (me() == 0) CHECK(shmem_align(3, 64) == nullptr);  // prints the warning, once
  if (me() == 0) CHECK(shmem_align(0, 64) == nullptr);
  CHECK_EQUAL(heap_info().live_blocks, before.live_blocks);
}

// Up to 1 GiB, where the machine has the memory up to the end of such a block.
PE_TEST(large_alignments_are_kept) {
  const auto machine =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t share = machine / 4 / static_cast<std::size_t>(pes());
  for (std::size_t to = std::size_t{4} << 20; to <= std::size_t{1} << 30; to *= 2) {
    if (heap_info().capacity_bytes / 4 < to) break;  // SHMEM_SYMMETRIC_SIZE, or little address space
    void* const first = shmem_align(to, 100);
    if (first == nullptr) {
      CHECK(to > share / 4);
      continue;
    }
    void* const second = shmem_align(to, 100);
    for (void* const block : {first, second}) {
      if (block == nullptr) continue;
      CHECK(aligned(block, to));
      check_symmetric(block, 100);
    }
    CHECK(first != second);
    shmem_free(second);
    shmem_free(first);
  }
}

// The high-water mark counts memory that was allocated, not memory that was requested.
PE_TEST(a_refused_request_leaves_the_high_water_mark) {
  void* const block = shmem_malloc(64);
  const auto before = heap_info();
  CHECK(shmem_malloc(before.capacity_bytes + 1) == nullptr);
  CHECK(shmem_malloc(before.capacity_bytes) == nullptr);
  CHECK(shmem_align(1 << 20, before.capacity_bytes) == nullptr);
  CHECK(shmem_calloc(before.capacity_bytes / 8 + 1, 8) == nullptr);
  CHECK(shmem_realloc(block, before.capacity_bytes) == nullptr);
  const auto after = heap_info();
  CHECK_EQUAL(after.high_water_bytes, before.high_water_bytes);
  CHECK_EQUAL(after.used_bytes, before.used_bytes);
  CHECK_EQUAL(after.live_blocks, before.live_blocks);
  shmem_free(block);
}

// Section 9.3.5: hints never change the meaning.
PE_TEST(hints_are_accepted) {
  constexpr long kHints[] = {0,
                             SHMEM_MALLOC_ATOMICS_REMOTE,
                             SHMEM_MALLOC_SIGNAL_REMOTE,
                             SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE,
                             1L << 50,  // bits that no constant of the standard has
                             -1L};
  for (const long hints : kHints) {
    auto* const words =
        static_cast<uint64_t*>(hints == 0 ? pshmem_malloc_with_hints(800, hints) : shmem_malloc_with_hints(800, hints));
    if (!CHECK(words != nullptr)) return;
    words[99] = 0;
    shmem_barrier_all();
    shmem_uint64_atomic_add(&words[99], 5, right());
    shmem_signal_add(&words[99], 5, right());
    shmem_barrier_all();
    CHECK_EQUAL(words[99], 10u);
    // Section 9.3.3: realloc keeps the contents of a hinted block as well.
    words[0] = 123;
    auto* const larger = static_cast<uint64_t*>(shmem_realloc(words, 80000));
    if (CHECK(larger != nullptr)) CHECK(larger[0] == 123 && larger[99] == 10);
    shmem_free(larger);
  }
}

// Section 9.3: nothing happens for size 0 and for null, not even a barrier.
PE_TEST(nothing_happens_for_size_zero_and_null) {
  if (me() == 0) {  // on one PE only: a hidden barrier would hang or pair with a later one of the other PEs
    CHECK(shmem_malloc(0) == nullptr);
    CHECK(pshmem_malloc(0) == nullptr);
    CHECK(shmem_calloc(0, 8) == nullptr);
    CHECK(shmem_calloc(8, 0) == nullptr);
    CHECK(shmem_align(64, 0) == nullptr);
    CHECK(shmem_malloc_with_hints(0, SHMEM_MALLOC_SIGNAL_REMOTE) == nullptr);
    shmem_free(nullptr);
    pshmem_free(nullptr);
  }
  // realloc of null allocates, realloc to size 0 frees, section 9.3.3.
  const auto before = heap_info();
  void* block = shmem_realloc(nullptr, 64);
  if (CHECK(block != nullptr)) check_symmetric(block, 64);
  CHECK(shmem_realloc(block, 0) == nullptr);
  block = shrealloc(nullptr, 64);
  CHECK(block != nullptr);
  CHECK(pshmem_realloc(block, 0) == nullptr);
  CHECK_EQUAL(heap_info().live_blocks, before.live_blocks);
}

// Section 9.3.6: calloc zeroes before its barrier, otherwise it could overwrite a peer's put.
PE_TEST(calloc_zeroes_before_its_barrier) {
  constexpr std::size_t kWords = 1 << 15;
  for (int round = 0; round < 20; ++round) {
    auto* const dirty = static_cast<long*>(shmem_malloc(kWords * sizeof(long)));
    if (!CHECK(dirty != nullptr)) return;
    for (std::size_t i = 0; i < kWords; ++i) dirty[i] = -1;
    shmem_free(dirty);
    auto* const words =
        static_cast<long*>(round % 2 ? shmem_calloc(kWords, sizeof(long)) : pshmem_calloc(kWords, sizeof(long)));
    if (!CHECK(words != nullptr)) return;
    shmem_long_p(&words[kWords - 1], 5 + me(), right());
    shmem_barrier_all();
    std::size_t bad = 0;
    for (std::size_t i = 0; i + 1 < kWords; ++i) bad += words[i] != 0;
    CHECK_EQUAL(bad, 0u);
    CHECK_EQUAL(words[kWords - 1], 5 + left());
    shmem_free(words);
  }
}

PE_TEST(calloc_guards_against_overflow) {
  CHECK(shmem_calloc(SIZE_MAX / 2, 4) == nullptr);
  CHECK(shmem_calloc(SIZE_MAX, SIZE_MAX) == nullptr);
}

// Sections 9.3.1 and 9.3.2: a block is allocated on all PEs on return, and puts to it complete before any PE frees it.
PE_TEST(allocation_and_release_synchronise) {
  for (int round = 0; round < 200; ++round) {
    auto* const words = static_cast<long*>(shmem_malloc(64));
    if (!CHECK(words != nullptr)) return;
    shmem_long_p(words, round + me(), right());  // at once: the peer may still be inside malloc
    if (round % 2 == 0) {
      shmem_barrier_all();
      CHECK_EQUAL(*words, round + left());
    }
    shmem_free(words);
  }
}

PE_TEST(realloc_keeps_the_contents) {
  auto* words = static_cast<int*>(shmem_malloc(100 * sizeof(int)));
  for (int i = 0; i < 100; ++i) words[i] = i + me();
  void* const fence_block = shmem_malloc(64);  // keeps the first block from growing in place
  std::size_t count = 100;
  for (const std::size_t next : {150u, 5000u, 300000u, 2000u, 100u, 10u}) {
    words = static_cast<int*>(next % 20 == 0 ? shmem_realloc(words, next * sizeof(int))
                                             : shrealloc(words, next * sizeof(int)));
    if (!CHECK(words != nullptr)) return;
    const std::size_t kept = std::min({count, next, std::size_t{100}});
    std::size_t bad = 0;
    for (std::size_t i = 0; i < kept; ++i) bad += words[i] != static_cast<int>(i) + me();
    CHECK_EQUAL(bad, 0u);
    check_symmetric(words + kept - 1, 4);
    words[kept - 1] = static_cast<int>(kept) - 1 + me();
    count = kept;
  }
  shmem_free(fence_block);
  shmem_free(words);
}

// Section 9.3.3: a block that cannot grow is left unchanged.
PE_TEST(a_failed_realloc_leaves_the_block_alone) {
  auto* const words = static_cast<int*>(shmem_malloc(64));
  words[5] = 77 + me();
  shmem_barrier_all();
  CHECK(shmem_realloc(words, SIZE_MAX / 2) == nullptr);
  CHECK_EQUAL(words[5], 77 + me());
  check_symmetric(words, 64);
  shmem_free(words);
}

// A failed allocation fails on all PEs alike, and the heap stays usable.
PE_TEST(exhaustion_returns_null_everywhere) {
  const std::size_t huge = heap_info().capacity_bytes;
  const auto before = heap_info();
  Symmetric<int> failures;
  for (const std::size_t bytes : {huge + 1, SIZE_MAX - 100, SIZE_MAX, std::size_t{1} << 62}) {
    void* const block = shmem_malloc(bytes);
    CHECK(block == nullptr);
    if (block == nullptr) shmem_int_atomic_inc(failures.get(), 0);
    shmem_barrier_all();
    CHECK_EQUAL(shmem_int_atomic_fetch(failures.get(), 0) % pes(), 0);
    shmem_barrier_all();
  }
  CHECK(shmem_align(4096, SIZE_MAX - 4096) == nullptr);
  CHECK(shmem_malloc_with_hints(SIZE_MAX / 4, SHMEM_MALLOC_ATOMICS_REMOTE) == nullptr);
  CHECK_EQUAL(heap_info().live_blocks, before.live_blocks + 1);
  void* const block = shmem_malloc(1000);
  if (CHECK(block != nullptr)) check_symmetric(block, 1000);
  shmem_free(block);
}

// The whole heap can be allocated, and is one free block again after all have been freed.
PE_TEST(freed_memory_is_merged_again) {
  const auto before = heap_info();
  std::vector<void*> blocks;
  for (std::size_t i = 0; i < 300; ++i) {
    blocks.push_back(shmem_malloc(64 + i * 40));
    if (!CHECK(blocks.back() != nullptr)) break;
  }
  CHECK_EQUAL(heap_info().live_blocks, before.live_blocks + blocks.size());
  CHECK(heap_info().used_bytes >= before.used_bytes + 300 * 64);
  CHECK(heap_info().high_water_bytes >= heap_info().used_bytes);
  for (std::size_t i = 0; i < blocks.size(); i += 2) shmem_free(blocks[i]);
  for (std::size_t i = 1; i < blocks.size(); i += 2) shmem_free(blocks[i]);
  const auto after = heap_info();
  CHECK_EQUAL(after.live_blocks, before.live_blocks);
  CHECK_EQUAL(after.used_bytes, before.used_bytes);
  CHECK_EQUAL(after.largest_free_bytes, before.largest_free_bytes);
  CHECK(after.capacity_bytes >= after.used_bytes && after.largest_free_bytes <= after.capacity_bytes);
}

PE_TEST(the_same_calls_give_the_same_offsets_on_all_pes) {
  auto* const base = static_cast<char*>(shmem_malloc(16));
  Symmetric<long> offsets(200);
  std::vector<void*> blocks(200, nullptr);
  unsigned random = 12345;
  for (std::size_t i = 0; i < 200; ++i) {
    random = random * 1664525u + 1013904223u;
    if (i > 20 && random % 3 == 0) {
      const std::size_t victim = (random >> 8) % i;
      shmem_free(blocks[victim]);
      blocks[victim] = nullptr;
    }
    blocks[i] = shmem_malloc(1 + (random >> 10) % 3000);
    offsets[i] = static_cast<char*>(blocks[i]) - base;
  }
  shmem_barrier_all();
  std::vector<long> theirs(200);
  shmem_long_get(theirs.data(), offsets.get(), 200, right());
  CHECK(std::memcmp(theirs.data(), offsets.get(), 200 * sizeof(long)) == 0);
  shmem_barrier_all();
  for (void* block : blocks) shmem_free(block);
  shmem_free(base);
}

// The allocator keeps nothing beside the blocks: writing past one destroys no bookkeeping.
PE_TEST(a_stray_write_cannot_corrupt_the_allocator) {
  const auto before = heap_info();
  auto* const first = static_cast<unsigned char*>(shmem_malloc(128));
  auto* const second = static_cast<unsigned char*>(shmem_malloc(128));
  auto* const third = static_cast<unsigned char*>(shmem_malloc(128));
  unsigned char* const low = std::min({first, second, third});
  unsigned char* const high = std::max({first, second, third});
  std::memset(low, 0xff, static_cast<std::size_t>(high - low) + 128 + 64);  // blocks, gaps, and the memory behind them
  shmem_barrier_all();
  std::vector<unsigned char> junk(static_cast<std::size_t>(high - low) + 192, 0xa5);
  shmem_putmem(low, junk.data(), junk.size(), right());
  shmem_barrier_all();
  shmem_free(second);
  void* const again = shmem_malloc(100);
  CHECK(again != nullptr);
  shmem_free(again);
  shmem_free(first);
  shmem_free(third);
  const auto after = heap_info();
  CHECK_EQUAL(after.live_blocks, before.live_blocks);
  CHECK_EQUAL(after.used_bytes, before.used_bytes);
  void* const block = shmem_malloc(5000);
  if (CHECK(block != nullptr)) check_symmetric(block, 5000);
  shmem_free(block);
}

// With no limit set, half of the machine's memory can be allocated; pages appear on first touch only.
PE_TEST(half_of_the_machine_can_be_allocated) {
  const auto machine =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if (getenv("SHMEM_SYMMETRIC_SIZE") != nullptr) return;
  if (pes() > 1) {  // guaranteed only for a job of one PE
    CHECK(heap_info().capacity_bytes > 0);
    return;
  }
  auto* const block = static_cast<char*>(shmem_malloc(machine / 2));
  if (!CHECK(block != nullptr)) return;
  block[0] = 1;
  block[machine / 2 - 1] = 2;
  CHECK_EQUAL(shmem_char_g(block + machine / 2 - 1, 0), 2);
  shmem_free(block);
}
