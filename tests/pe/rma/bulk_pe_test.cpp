// Contiguous transfers of all sizes and alignments between all kinds of memory, to every PE.
#include <pthread.h>

#include <cstring>
#include <memory>
#include <vector>

#include "../../support/pattern.hpp"
#include "../../support/pe_test.hpp"
#include "../../support/types.hpp"

namespace {

using namespace pe_test;
using namespace test_support;

constexpr std::size_t kStaticBytes = 1 << 16;
unsigned char zeroed_static[kStaticBytes];
unsigned char initialised_static[kStaticBytes] = {1, 2, 3};
long const_neighbour = 17;

}  // namespace

// Section 3.1: the mem forms may not assume any alignment.
PE_TEST(putmem_and_getmem_work_at_every_alignment) {
  Symmetric<unsigned char> heap(4096);
  std::vector<unsigned char> source(4096), dest(4096);
  fill_pattern(source.data(), source.size(), static_cast<std::size_t>(me()));
  for (std::size_t to = 0; to < 9; ++to) {
    for (std::size_t from = 0; from < 9; from += 2) {
      for (const std::size_t n : {1u, 3u, 8u, 15u, 16u, 17u, 31u, 33u, 63u, 65u, 127u, 255u, 1021u}) {
        std::memset(heap.get(), 0xee, 2048);
        shmem_sync_all();
        shmem_putmem(heap.get() + to, source.data() + from, n, right());
        shmem_barrier_all();
        std::size_t bad = 0;
        for (std::size_t i = 0; i < n; ++i)
          bad += heap[to + i] != pattern_byte(static_cast<std::size_t>(left()), from + i);
        CHECK_EQUAL(bad, 0u);
        CHECK_EQUAL(heap[to + n], 0xee);
        if (to > 0) CHECK_EQUAL(heap[to - 1], 0xee);
        shmem_getmem(dest.data() + from, heap.get() + to, n, right());
        CHECK(std::memcmp(dest.data() + from, source.data() + from, n) == 0);
        shmem_sync_all();
      }
    }
  }
}

PE_TEST(large_transfers_are_complete) {
  constexpr std::size_t kBytes = (16 << 20) + 13;
  Symmetric<unsigned char> heap(kBytes + 64);
  std::vector<unsigned char> local(kBytes);
  for (const std::size_t n : {std::size_t{65537}, std::size_t{3 << 20} + 1, kBytes}) {
    if (pes() > 8 && n > 1 << 20) continue;
    fill_pattern(local.data(), n, static_cast<std::size_t>(me()));
    shmem_barrier_all();
    shmem_putmem(heap.get() + 1, local.data(), n, right());
    shmem_barrier_all();
    CHECK(has_pattern(heap.get() + 1, n, static_cast<std::size_t>(left())));
    std::memset(local.data(), 0, n);
    shmem_getmem_nbi(local.data(), heap.get() + 1, n, left());
    shmem_quiet();
    CHECK(has_pattern(local.data(), n, (left() + pes() - 1) % pes()));
    shmem_barrier_all();
    fill_pattern(local.data(), n, me() + 50);
    shmem_putmem_nbi(heap.get() + 1, local.data(), n, left());
    shmem_quiet();
    shmem_barrier_all();
    CHECK(has_pattern(heap.get() + 1, n, right() + 50));
  }
}

// Section 4.2: source and dest may lie in different segments.
PE_TEST(all_kinds_of_memory_serve_as_source_and_dest) {
  constexpr std::size_t kBytes = 3001;
  Symmetric<unsigned char> heap(kStaticBytes), other_heap(kStaticBytes);
  unsigned char stack[kBytes];
  static unsigned char function_static[kBytes];
  static thread_local unsigned char tls[kBytes];
  const auto malloced = std::make_unique<unsigned char[]>(kBytes);
  unsigned char* const targets[] = {heap.get(), zeroed_static, initialised_static, function_static};
  unsigned char* const locals[] = {stack, malloced.get(), tls, other_heap.get(), zeroed_static + 8000};
  int round = 0;
  for (unsigned char* target : targets) {
    for (unsigned char* local : locals) {
      ++round;
      fill_pattern(local, kBytes, me() + round);
      shmem_sync_all();
      shmem_putmem(target, local, kBytes, right());
      shmem_barrier_all();
      CHECK(has_pattern(target, kBytes, left() + round));
      std::memset(local, 0, kBytes);
      shmem_getmem(local, target, kBytes, left());
      CHECK(has_pattern(local, kBytes, (left() + pes() - 1) % pes() + round));
      shmem_barrier_all();
    }
  }
  CHECK_EQUAL(const_neighbour, 17);
}

PE_TEST(a_pe_may_address_itself) {
  Symmetric<long> heap(64);
  long source[64];
  for (int i = 0; i < 64; ++i) source[i] = i * 3 + me();
  shmem_long_put(heap.get(), source, 64, me());
  shmem_quiet();
  for (int i = 0; i < 64; ++i) CHECK_EQUAL(heap[i], i * 3 + me());
  shmem_long_p(heap.get(), 99, me());
  shmem_quiet();
  CHECK_EQUAL(shmem_long_g(heap.get(), me()), 99);
  long back[64] = {};
  shmem_long_iget(back, heap.get() + 1, 2, 1, 30, me());
  for (int i = 0; i < 30; ++i) CHECK_EQUAL(back[2 * i], (i + 1) * 3 + me());
  // Blocking put onto its own source: allowed when both are the same buffer.
  shmem_long_put(heap.get() + 32, heap.get(), 32, me());
  shmem_quiet();
  CHECK_EQUAL(heap[32], 99);
}

// Section 9.6.1.1: the source of a blocking put is reusable on return.
PE_TEST(the_source_of_a_put_is_reusable_on_return) {
  constexpr std::size_t kWords = 1000;
  Symmetric<int> slots(kWords);
  int word;
  for (std::size_t i = 0; i < kWords; ++i) {
    word = static_cast<int>(i) + 1000 * me();
    shmem_int_put(slots.get() + i, &word, 1, right());
    word = -1;
  }
  shmem_barrier_all();
  for (std::size_t i = 0; i < kWords; ++i) CHECK_EQUAL(slots[i], static_cast<int>(i) + 1000 * left());
}

PE_TEST(every_pe_puts_to_every_pe) {
  Symmetric<long> from(static_cast<std::size_t>(pes()));
  static long from_static[1024];
  for (int pe = 0; pe < pes(); ++pe) {
    shmem_long_p(&from[static_cast<std::size_t>(me())], 1000 * me() + pe, pe);
    shmem_long_p(&from_static[me()], 2000 * me() + pe, pe);
  }
  shmem_barrier_all();
  for (int pe = 0; pe < pes(); ++pe) {
    CHECK_EQUAL(from[static_cast<std::size_t>(pe)], 1000 * pe + me());
    CHECK_EQUAL(from_static[pe], 2000 * pe + me());
    CHECK_EQUAL(shmem_long_g(&from[static_cast<std::size_t>(me())], pe), 1000 * me() + pe);
  }
}

PE_TEST(strides_of_any_positive_size_work) {
  Symmetric<short> shared(2000);
  short source[2000];
  for (int i = 0; i < 2000; ++i) source[i] = static_cast<short>(i + 10 * me());
  for (const ptrdiff_t dst : {1, 2, 7, 19}) {
    for (const ptrdiff_t sst : {1, 3, 16}) {
      for (int i = 0; i < 2000; ++i) shared[static_cast<std::size_t>(i)] = -1;
      shmem_sync_all();
      shmem_short_iput(shared.get(), source, dst, sst, 100, right());
      shmem_barrier_all();
      int bad = 0;
      for (ptrdiff_t i = 0; i < 2000; ++i) {
        const bool hit = i % dst == 0 && i / dst < 100;
        bad += shared[static_cast<std::size_t>(i)] != (hit ? static_cast<short>(i / dst * sst + 10 * left()) : -1);
      }
      CHECK_EQUAL(bad, 0);
      shmem_sync_all();
    }
  }
}

// Programs that wait on words written by p rely on single aligned stores (section 9.11, since 1.5 only advice).
PE_TEST(aligned_words_are_never_torn) {
  Symmetric<uint64_t> word(1);
  Symmetric<int> stop(1);
  if (me() == 0) {
    for (int i = 0; i < 200000; ++i) shmem_uint64_p(word.get(), (i & 1) ? ~uint64_t{0} : 0, pes() - 1);
    shmem_quiet();
    shmem_int_atomic_set(stop.get(), 1, pes() - 1);
    shmem_quiet();
  }
  if (me() == pes() - 1) {
    int torn = 0;
    do {
      const uint64_t seen = __atomic_load_n(word.get(), __ATOMIC_RELAXED);
      torn += seen != 0 && seen != ~uint64_t{0};
    } while (shmem_int_test(stop.get(), SHMEM_CMP_NE, 1));
    CHECK_EQUAL(torn, 0);
  }
  CHECK_EQUAL(shmem_int_g(stop.get(), (pes() - 1)) & ~1, 0);
}
