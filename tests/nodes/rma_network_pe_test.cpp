// Long puts and gets by the network's RMA (SHMEMX_NET_RMA=on): data, completion, and the order with messages, which the
// network does not keep. The same must hold where they are sent as messages.
#include <shmem.h>
#include <shmemx.h>

#include <algorithm>
#include <vector>

#include "../support/pattern.hpp"
#include "../support/pe_test.hpp"
#include "../support/threads.hpp"

namespace {

using namespace pe_test;

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kLong = std::size_t{16} << 10;  // from here on the network's RMA is used
constexpr std::size_t kGuard = 64;
constexpr unsigned char kUntouched = 0xa5;
const std::vector<std::size_t> kSizes = {1, 100, kLong - 1, kLong, kLong + 1, kLong + 8, 3 * kLong + 5, 300'001, kMiB};

alignas(64) unsigned char static_block[kMiB + 2 * kGuard + 16];

// Returns the number of wrong bytes.
std::size_t wrong(const unsigned char* block, std::size_t bytes, std::size_t seed) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < bytes; ++i) count += block[i] != test_support::pattern_byte(seed, i);
  return count;
}

std::size_t touched(const unsigned char* block, std::size_t bytes) {
  return bytes - static_cast<std::size_t>(std::count(block, block + bytes, kUntouched));
}

void put_bytes(unsigned char* dest, const std::vector<unsigned char>& source, int pe) {
  shmem_putmem(dest, source.data(), source.size(), pe);
}
void put_bytes_nbi(unsigned char* dest, const std::vector<unsigned char>& source, int pe) {
  shmem_putmem_nbi(dest, source.data(), source.size(), pe);
}

// Blocks of all sizes, with guards, in one symmetric object.
template <class Put>
void check_puts(unsigned char* memory, Put put) {
  for (std::size_t n = 0; n < kSizes.size(); ++n) {
    const std::size_t bytes = kSizes[n];
    const Note note(std::to_string(bytes) + " bytes");
    std::fill_n(memory, bytes + 2 * kGuard, kUntouched);
    shmem_barrier_all();
    const auto source = test_support::pattern(bytes, n + static_cast<std::size_t>(me()));
    put(memory + kGuard, source, right());
    shmem_barrier_all();
    CHECK_EQUAL(wrong(memory + kGuard, bytes, n + static_cast<std::size_t>(left())), 0u);
    CHECK_EQUAL(touched(memory, kGuard) + touched(memory + kGuard + bytes, kGuard), 0u);
    shmem_barrier_all();
  }
}

template <class Get>
void check_gets(unsigned char* memory, Get get) {
  for (std::size_t n = 0; n < kSizes.size(); ++n) {
    const std::size_t bytes = kSizes[n];
    const Note note(std::to_string(bytes) + " bytes");
    const auto mine = test_support::pattern(bytes, n + static_cast<std::size_t>(me()));
    std::copy(mine.begin(), mine.end(), memory + 3);
    shmem_barrier_all();
    std::vector<unsigned char> got(bytes + 2 * kGuard, kUntouched);
    get(got.data() + kGuard, memory + 3, bytes, right());
    CHECK_EQUAL(wrong(got.data() + kGuard, bytes, n + static_cast<std::size_t>(right())), 0u);
    CHECK_EQUAL(touched(got.data(), kGuard) + touched(got.data() + kGuard + bytes, kGuard), 0u);
    shmem_barrier_all();
  }
}

void get_and_quiet(void* dest, const void* source, std::size_t bytes, int pe) {
  shmem_getmem_nbi(dest, source, bytes, pe);
  shmem_quiet();
}

// Each PE sends `rounds` blocks to its right neighbour and announces each by `announce(flag, round)`; the receiver
// checks and acknowledges each.
template <class Send, class Announce>
void check_rounds(std::size_t bytes, long rounds, Send send, Announce announce) {
  const Symmetric<unsigned char> block(bytes);
  const Symmetric<long> flag(1);
  const Symmetric<long> taken(1);
  shmem_barrier_all();
  for (long round = 1; round <= rounds; ++round) {
    const auto source = test_support::pattern(bytes, static_cast<std::size_t>(10 * round + me()));
    send(block.get(), source, right());
    announce(flag.get(), round);
    shmem_long_wait_until(flag.get(), SHMEM_CMP_EQ, round);
    CHECK_EQUAL(wrong(block.get(), bytes, static_cast<std::size_t>(10 * round + left())), 0u);
    shmem_long_p(taken.get(), round, left());
    shmem_long_wait_until(taken.get(), SHMEM_CMP_EQ, round);
    shmem_quiet();  // `source` may be freed
  }
  shmem_barrier_all();
}

void fence_and_put(long* flag, long round) {
  shmem_fence();
  shmem_long_p(flag, round, right());
}

void fence_and_add(long* flag, long) {
  shmem_fence();
  shmem_long_atomic_inc(flag, right());
}

void fence_and_signal(long* flag, long round) {
  static long beside;
  shmem_fence();
  shmem_long_put_signal(&beside, &round, 1, reinterpret_cast<std::uint64_t*>(flag), static_cast<std::uint64_t>(round),
                        SHMEM_SIGNAL_SET, right());
}

// Words that are put one behind the other, with a fence behind each: no later one may hold more than an earlier one.
// The receiver reads the last one first. Values of one byte, which no copy shows in part.
template <class Put>
void check_chain(Put put) {
  constexpr std::size_t kWords = 32;
  constexpr long kRounds = 100;
  const Symmetric<long> words(kWords);
  shmem_barrier_all();
  const auto look = [&] {
    long later = 0;
    std::size_t wrong = 0;
    for (std::size_t i = kWords; i-- > 0;) {
      const long value = __atomic_load_n(&words[i], __ATOMIC_ACQUIRE);
      wrong += value < later ? 1 : 0;
      later = value;
    }
    CHECK_EQUAL(wrong, 0u);
  };
  std::vector<long> source(kWords * kRounds);
  for (long round = 1; round <= kRounds; ++round) {
    for (std::size_t i = 0; i < kWords; ++i) {
      long& value = source[static_cast<std::size_t>(round - 1) * kWords + i];
      value = round;
      put(&words[i], &value);
      shmem_fence();
      if (i % 8 == 0) look();
    }
  }
  while (__atomic_load_n(&words[kWords - 1], __ATOMIC_ACQUIRE) != kRounds) {
    look();
    shmem_long_test(&words[kWords - 1], SHMEM_CMP_EQ, kRounds);
  }
  look();
  shmem_barrier_all();
}

void quiet_and_put(long* flag, long round) {
  shmem_quiet();
  shmem_long_p(flag, round, right());
}

}  // namespace

PE_TEST(puts_into_the_heap) {
  const Symmetric<unsigned char> memory(kMiB + 2 * kGuard);
  check_puts(memory.get(), put_bytes);
  check_puts(memory.get(), put_bytes_nbi);
}

PE_TEST(puts_into_static_data) { check_puts(static_block, put_bytes); }

PE_TEST(gets_from_the_heap) {
  const Symmetric<unsigned char> memory(kMiB + 3);
  check_gets(memory.get(), shmem_getmem);
  check_gets(memory.get(), get_and_quiet);
}

PE_TEST(gets_from_static_data) { check_gets(static_block, shmem_getmem); }

// A key covers a part of the heap only.
PE_TEST(blocks_across_many_keys) {
  constexpr std::size_t kBytes = 37 * kMiB + 11;
  const Symmetric<unsigned char> memory(kBytes);
  shmem_barrier_all();
  const auto source = test_support::pattern(kBytes, 5 + static_cast<std::size_t>(me()));
  put_bytes(memory.get(), source, right());
  shmem_barrier_all();
  CHECK_EQUAL(wrong(memory.get(), kBytes, 5 + static_cast<std::size_t>(left())), 0u);
  std::vector<unsigned char> got(kBytes);
  shmem_getmem(got.data(), memory.get(), kBytes, right());
  CHECK_EQUAL(wrong(got.data(), kBytes, 5 + static_cast<std::size_t>(me())), 0u);
  shmem_barrier_all();
}

PE_TEST(fence_orders_a_flag_after_the_data) {
  check_rounds(kMiB, 8, put_bytes_nbi, fence_and_put);
  check_rounds(kLong, 30, put_bytes_nbi, fence_and_put);
  check_rounds(kMiB, 8, put_bytes_nbi, fence_and_add);
}

PE_TEST(fence_orders_words_after_short_puts) {
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{64}, std::size_t{1000}}) {
    check_rounds(bytes, 50, put_bytes_nbi, fence_and_put);
    check_rounds(bytes, 50, put_bytes, fence_and_add);
    check_rounds(bytes, 50, put_bytes_nbi, fence_and_signal);
  }
}

PE_TEST(fences_order_a_chain_of_words) {
  check_chain([](long* dest, const long* value) { shmem_long_p(dest, *value, right()); });
  check_chain([](long* dest, const long* value) { shmem_long_put_nbi(dest, value, 1, right()); });
  long turn = 0;
  check_chain([&turn](long* dest, const long* value) {
    if (++turn % 3 == 0) return shmem_long_atomic_set(dest, *value, right());
    shmem_long_p(dest, *value, right());
  });
}

PE_TEST(quiet_orders_a_flag_after_the_data) { check_rounds(300'000, 8, put_bytes_nbi, quiet_and_put); }

PE_TEST(fence_orders_a_flag_after_blocking_puts) { check_rounds(100'000, 8, put_bytes, fence_and_put); }

// The converse: messages sent before the fence must not overwrite data put after it.
PE_TEST(fence_orders_messages_before_the_data) {
  constexpr std::size_t kBytes = 64 << 10;
  const Symmetric<unsigned char> block(kBytes);
  const Symmetric<long> sum(1);
  for (std::size_t round = 1; round <= 20; ++round) {
    *sum = 0;
    shmem_barrier_all();
    const unsigned char old = kUntouched;
    const auto source = test_support::pattern(kBytes, round + static_cast<std::size_t>(me()));
    for (std::size_t i = 0; i < kBytes; i += 509) shmem_uchar_put_nbi(block.get() + i, &old, 1, right());
    for (int i = 0; i < 10; ++i) shmem_long_atomic_inc(sum.get(), right());
    shmem_fence();
    put_bytes_nbi(block.get(), source, right());
    shmem_barrier_all();
    CHECK_EQUAL(wrong(block.get(), kBytes, round + static_cast<std::size_t>(left())), 0u);
    CHECK_EQUAL(*sum, 10L);
    shmem_barrier_all();
  }
}

PE_TEST(a_signal_is_set_after_its_data) {
  const Symmetric<unsigned char> block(kMiB);
  const Symmetric<std::uint64_t> signal(1);
  const Symmetric<long> taken(1);
  shmem_barrier_all();
  std::uint64_t expected = 0;
  for (std::size_t round = 1; round <= 12; ++round) {
    const std::size_t bytes = round % 3 == 0 ? kMiB : round % 3 == 1 ? kLong : kLong - 8;
    const auto source = test_support::pattern(bytes, round * 7 + static_cast<std::size_t>(me()));
    ++expected;
    if (round % 2 == 0) {
      shmem_putmem_signal(block.get(), source.data(), bytes, signal.get(), expected, SHMEM_SIGNAL_SET, right());
    } else {
      shmem_putmem_signal_nbi(block.get(), source.data(), bytes, signal.get(), 1, SHMEM_SIGNAL_ADD, right());
    }
    CHECK_EQUAL(shmem_signal_wait_until(signal.get(), SHMEM_CMP_EQ, expected), expected);
    CHECK_EQUAL(wrong(block.get(), bytes, round * 7 + static_cast<std::size_t>(left())), 0u);
    shmem_long_p(taken.get(), static_cast<long>(round), left());
    shmem_long_wait_until(taken.get(), SHMEM_CMP_EQ, static_cast<long>(round));
    shmem_quiet();
  }
  shmem_barrier_all();
}

PE_TEST(blocks_with_gaps) {
  constexpr std::size_t kBlock = 3000;  // longs: each block is long enough for the network's RMA
  constexpr std::size_t kBlocks = 4;
  const Symmetric<long> memory(2 * kBlock * kBlocks);
  std::fill_n(memory.get(), memory.size(), -1L);
  shmem_barrier_all();
  std::vector<long> source(kBlock * kBlocks);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = me() * 1'000'000L + static_cast<long>(i);
  shmem_long_ibput(memory.get(), source.data(), 2 * kBlock, kBlock, kBlock, kBlocks, right());
  shmem_barrier_all();
  std::size_t bad = 0;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const bool in_block = i / kBlock % 2 == 0;
    const long value = left() * 1'000'000L + static_cast<long>(i / (2 * kBlock) * kBlock + i % kBlock);
    bad += memory[i] != (in_block ? value : -1L);
  }
  CHECK_EQUAL(bad, 0u);
  std::vector<long> back(source.size());
  shmem_long_ibget(back.data(), memory.get(), kBlock, 2 * kBlock, kBlock, kBlocks, right());
  CHECK(back == source);
  shmem_barrier_all();
}

PE_TEST(each_context_completes_its_own_operations) {
  constexpr int kContexts = 6;
  constexpr std::size_t kBytes = 200'000;
  const Symmetric<unsigned char> memory(kContexts * kBytes);
  const Symmetric<long> flags(kContexts);
  shmem_barrier_all();
  std::vector<shmem_ctx_t> contexts(kContexts, SHMEM_CTX_INVALID);
  std::vector<std::vector<unsigned char>> sources;
  for (std::size_t c = 0; c < kContexts; ++c) {
    CHECK_EQUAL(shmem_ctx_create(c % 2 == 0 ? 0 : SHMEM_CTX_SERIALIZED, &contexts[c]), 0);
    sources.push_back(test_support::pattern(kBytes, c * 11 + static_cast<std::size_t>(me())));
  }
  for (std::size_t c = 0; c < kContexts; ++c)
    shmem_ctx_putmem_nbi(contexts[c], memory.get() + c * kBytes, sources[c].data(), kBytes, right());
  for (std::size_t c = kContexts; c-- > 0;) {
    if (c % 2 == 0) {
      shmem_ctx_quiet(contexts[c]);
    } else {
      shmem_ctx_fence(contexts[c]);
    }
    shmem_ctx_long_p(contexts[c], &flags[c], 1, right());
    shmem_long_wait_until(&flags[c], SHMEM_CMP_EQ, 1);
    CHECK_EQUAL(wrong(memory.get() + c * kBytes, kBytes, c * 11 + static_cast<std::size_t>(left())), 0u);
  }
  for (const shmem_ctx_t ctx : contexts) shmem_ctx_destroy(ctx);
  shmem_barrier_all();
}

PE_TEST(threads_use_keys_and_contexts_at_once) {
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kBytes = 50'000;
  const Symmetric<unsigned char> memory(kThreads * kBytes);
  shmem_barrier_all();
  const auto work = [&](std::size_t t) {
    shmem_ctx_t ctx = SHMEM_CTX_INVALID;
    if (t != 0 && !CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) == 0)) return;
    if (t == 0) ctx = SHMEM_CTX_DEFAULT;
    unsigned char* const mine = memory.get() + t * kBytes;
    for (std::size_t round = 0; round < 15; ++round) {
      const auto source = test_support::pattern(kBytes, round * 17 + t + static_cast<std::size_t>(me()));
      std::vector<unsigned char> back(kBytes);
      shmem_ctx_putmem_nbi(ctx, mine, source.data(), kBytes, right());
      if (round % 2 == 0) shmem_ctx_fence(ctx);
      shmem_ctx_quiet(ctx);
      shmem_ctx_getmem(ctx, back.data(), mine, kBytes, right());
      CHECK(back == source);
    }
    if (t != 0) shmem_ctx_destroy(ctx);
  };
  test_support::run_on_threads(kThreads, work);
  shmem_barrier_all();
}

PE_TEST(every_pe_puts_to_every_pe) {
  constexpr std::size_t kBytes = 40'000;
  const Symmetric<unsigned char> memory(kBytes * static_cast<std::size_t>(pes()));
  shmem_barrier_all();
  const auto source = test_support::pattern(kBytes, static_cast<std::size_t>(me()) * 3);
  for (int pe = 0; pe < pes(); ++pe)
    put_bytes_nbi(memory.get() + static_cast<std::size_t>(me()) * kBytes, source, (pe + me()) % pes());
  shmem_barrier_all();
  for (int pe = 0; pe < pes(); ++pe) {
    const auto from = static_cast<std::size_t>(pe);
    CHECK_EQUAL(wrong(memory.get() + from * kBytes, kBytes, from * 3), 0u);
  }
  shmem_barrier_all();
}

// Keys are invalid after their window has ended; the initiator requests new ones.
PE_TEST(keys_are_requested_again_after_another_init) {
  int provided = -1;
  shmem_finalize();
  CHECK_EQUAL(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0);
  {
    const Symmetric<unsigned char> memory(kMiB + 2 * kGuard);
    check_puts(memory.get(), put_bytes_nbi);
  }
  check_puts(static_block, put_bytes);
}
