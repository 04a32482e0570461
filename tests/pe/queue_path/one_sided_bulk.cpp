// Data of all sizes and shapes by messages: the pieces leave no gaps, and no other memory is written.
#include <pshmem.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "../../support/pattern.hpp"
#include "../../support/pe_test.hpp"

namespace {

using namespace pe_test;

constexpr unsigned char kUntouched = 0xee;
constexpr std::size_t kMargin = 64;

unsigned char static_block[300001 + 2 * kMargin];

std::vector<unsigned char> pattern_of(std::size_t bytes, int pe) {
  return test_support::pattern(bytes, static_cast<std::size_t>(pe));
}

bool all_untouched(const unsigned char* from, const unsigned char* to) {
  return std::all_of(from, to, [](unsigned char byte) { return byte == kUntouched; });
}

void put_and_get(unsigned char* block, std::size_t block_bytes, std::size_t bytes, std::size_t shift) {
  std::memset(block, kUntouched, block_bytes);
  shmem_barrier_all();
  const auto source = pattern_of(bytes, me());
  unsigned char* const dest = block + kMargin + shift;
  shmem_putmem(dest, source.data(), bytes, right());
  shmem_barrier_all();
  CHECK(std::memcmp(dest, pattern_of(bytes, left()).data(), bytes) == 0);
  CHECK(all_untouched(block, dest));
  CHECK(all_untouched(dest + bytes, block + block_bytes));
  std::vector<unsigned char> back(bytes + 2, kUntouched);
  shmem_getmem(back.data() + 1, dest, bytes, right());
  CHECK(std::memcmp(back.data() + 1, source.data(), bytes) == 0);
  CHECK(back[0] == kUntouched && back[bytes + 1] == kUntouched);
  shmem_barrier_all();
}

// Both strided forms in both directions, for blocks of `bsize` longs.
void put_and_get_blocks(std::size_t bsize, std::size_t nblocks, std::ptrdiff_t dst, std::ptrdiff_t sst) {
  const std::size_t room = nblocks * static_cast<std::size_t>(std::max(dst, sst)) + bsize;
  Symmetric<long> dest(room), again(room);
  std::vector<long> source(room), back(room, -1);
  for (std::size_t i = 0; i < room; ++i) source[i] = static_cast<long>(i) * 1000 + me();
  for (std::size_t i = 0; i < room; ++i) dest[i] = again[i] = -1;
  shmem_barrier_all();
  shmem_long_ibput(dest.get(), source.data(), dst, sst, bsize, nblocks, right());
  if (bsize == 1) shmem_long_iput(again.get(), source.data(), dst, sst, nblocks, right());
  shmem_barrier_all();
  std::vector<long> expected(room, -1);
  for (std::size_t block = 0; block < nblocks; ++block) {
    for (std::size_t i = 0; i < bsize; ++i)
      expected[block * static_cast<std::size_t>(dst) + i] =
          static_cast<long>(block * static_cast<std::size_t>(sst) + i) * 1000 + left();
  }
  CHECK(std::equal(expected.begin(), expected.end(), dest.get()));
  if (bsize == 1) CHECK(std::equal(expected.begin(), expected.end(), again.get()));
  // The reverse, from dest's stride to the source's: the data are those that this PE sent.
  shmem_long_ibget(back.data(), dest.get(), sst, dst, bsize, nblocks, right());
  std::vector<long> sent(room, -1);
  for (std::size_t block = 0; block < nblocks; ++block) {
    for (std::size_t i = 0; i < bsize; ++i) {
      const std::size_t at = block * static_cast<std::size_t>(sst) + i;
      sent[at] = source[at];
    }
  }
  CHECK(back == sent);
  shmem_barrier_all();
}

}  // namespace

PE_TEST(puts_and_gets_of_all_sizes_are_exact) {
  constexpr std::size_t kBytes = 300001;
  Symmetric<unsigned char> heap(kBytes + 2 * kMargin);
  for (unsigned char* block : {heap.get(), static_block}) {
    for (const std::size_t bytes :
         {1,   2,   3,    4,    7,    8,    9,    16,    47,    48,    49,    95,    96,    97,    111,
          112, 113, 1000, 4095, 4096, 4097, 8192, 16320, 16384, 16385, 32767, 32768, 65521, 65536, 131073}) {
      put_and_get(block, heap.size(), bytes, bytes % 9);
    }
    put_and_get(block, heap.size(), kBytes, 0);
  }
}

PE_TEST(large_transfers_are_complete) {
  const std::size_t bytes = ((pes() > 3 ? 2u : 16u) << 20) + 13;
  Symmetric<unsigned char> heap(bytes + 1);
  const auto source = pattern_of(bytes, me());
  shmem_barrier_all();
  shmem_putmem_nbi(heap.get() + 1, source.data(), bytes, right());
  shmem_barrier_all();
  CHECK(std::memcmp(heap.get() + 1, pattern_of(bytes, left()).data(), bytes) == 0);
  std::vector<unsigned char> back(bytes);
  shmem_getmem_nbi(back.data(), heap.get() + 1, bytes, right());
  shmem_quiet();
  CHECK(back == source);
}

PE_TEST(strided_transfers_of_all_shapes_are_exact) {
  for (const std::size_t bsize : {1u, 2u, 3u, 16u, 250u, 257u, 512u, 1000u, 5000u}) {
    for (const std::size_t nblocks : {1u, 2u, 7u, 700u, 20'000u}) {
      if (bsize * nblocks > 100000) continue;
      const auto least = static_cast<std::ptrdiff_t>(bsize);
      put_and_get_blocks(bsize, nblocks, least, least);
      put_and_get_blocks(bsize, nblocks, least + 1, least + 3);
    }
  }
}

PE_TEST(strided_transfers_of_every_element_width_are_exact) {
  Symmetric<unsigned char> bytes(4000);
  Symmetric<short> shorts(4000);
  Symmetric<long double> wide(4000);
  std::vector<unsigned char> byte_source(4000);
  std::vector<short> short_source(4000);
  std::vector<long double> wide_source(4000);
  for (std::size_t i = 0; i < 4000; ++i) {
    byte_source[i] = test_support::pattern_byte(static_cast<std::size_t>(me()), i);
    short_source[i] = static_cast<short>(i + me());
    wide_source[i] = static_cast<long double>(i) / 3 + me();
  }
  shmem_barrier_all();
  shmem_uchar_iput(bytes.get(), byte_source.data(), 2, 3, 1300, right());
  shmem_short_iput(shorts.get(), short_source.data(), 3, 2, 1300, right());
  shmem_longdouble_iput(wide.get(), wide_source.data(), 3, 1, 1300, right());
  shmem_barrier_all();
  std::size_t bad = 0;
  for (std::size_t i = 0; i < 1300; ++i) {
    bad += bytes[2 * i] != test_support::pattern_byte(static_cast<std::size_t>(left()), 3 * i);
    bad += shorts[3 * i] != static_cast<short>(2 * i + static_cast<std::size_t>(left()));
    bad += wide[3 * i] != static_cast<long double>(i) / 3 + left();
  }
  CHECK_EQUAL(bad, 0u);
  shmem_barrier_all();
}

// Team numbers are translated before a message is sent.
PE_TEST_MIN(contexts_of_reversed_teams_address_the_right_pe, 2) {
  shmem_team_t reversed;
  CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, pes() - 1, -1, pes(), nullptr, 0, &reversed), 0);
  shmem_ctx_t context;
  CHECK_EQUAL(shmem_team_create_ctx(reversed, 0, &context), 0);
  Symmetric<long> from(static_cast<std::size_t>(pes()));
  for (int pe = 0; pe < pes(); ++pe)
    shmem_ctx_long_p(context, &from[static_cast<std::size_t>(me())], 100 * me() + pe, pe);
  shmem_ctx_quiet(context);
  shmem_barrier_all();
  const int number = shmem_team_my_pe(reversed);
  for (int pe = 0; pe < pes(); ++pe) CHECK_EQUAL(from[static_cast<std::size_t>(pe)], 100 * pe + number);
  // Number 0 of the team is the last PE of the world.
  CHECK_EQUAL(shmem_ctx_long_g(context, &from[static_cast<std::size_t>(me())], 0), 100 * me());
  shmem_barrier_all();
  shmem_ctx_destroy(context);
  shmem_team_destroy(reversed);
}

PE_TEST(only_mapped_memory_has_a_pointer) {
  Symmetric<long> word;
  for (int pe = 0; pe < pes(); ++pe) {
    void* const pointer = shmem_ptr(word.get(), pe);
    if (pe == me()) CHECK_EQUAL(pointer, static_cast<void*>(word.get()));
    CHECK_EQUAL(shmem_pe_accessible(pe), 1);
    CHECK_EQUAL(shmem_addr_accessible(word.get(), pe), 1);
    // The pointer, if there is one, refers to the same word as a put.
    if (pointer != nullptr && pe == right()) *static_cast<long*>(pointer) = 17;
    if (pointer == nullptr && pe == right()) shmem_long_p(word.get(), 17, pe);
  }
  shmem_barrier_all();
  CHECK_EQUAL(*word, 17);
  long local = 0;
  CHECK_EQUAL(shmem_addr_accessible(&local, right()), 0);
}
