// Private and serialized contexts, which have endpoints of their own where a network moves data without the target's
// CPU: data, order, completion and the end of contexts. The same must hold where they share those of the process.
#include <shmem.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "../support/pattern.hpp"
#include "../support/pe_test.hpp"
#include "../support/threads.hpp"

namespace {

using namespace pe_test;

const std::vector<std::size_t> kSizes = {1, 8, 63, 64, 65, 1000, 4096, 4097, 20'000, 300'001, 3'000'000};
constexpr std::size_t kLargest = 3'000'000;

alignas(64) unsigned char static_block[kLargest];

class OwnContext {
 public:
  explicit OwnContext(long options = SHMEM_CTX_PRIVATE) { CHECK_EQUAL(shmem_ctx_create(options, &handle_), 0); }
  ~OwnContext() { shmem_ctx_destroy(handle_); }
  OwnContext(const OwnContext&) = delete;
  OwnContext& operator=(const OwnContext&) = delete;
  operator shmem_ctx_t() const noexcept { return handle_; }

 private:
  shmem_ctx_t handle_ = SHMEM_CTX_INVALID;
};

std::size_t wrong(const unsigned char* block, std::size_t bytes, std::size_t seed) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < bytes; ++i) count += block[i] != test_support::pattern_byte(seed, i);
  return count;
}

void check_data(long options, unsigned char* memory) {
  const OwnContext ctx(options);
  for (std::size_t n = 0; n < kSizes.size(); ++n) {
    const std::size_t bytes = kSizes[n];
    const Note note(std::to_string(bytes) + " bytes");
    const std::size_t seed = n + 3 * static_cast<std::size_t>(me());
    const auto source = test_support::pattern(bytes, seed);
    auto changing = source;
    std::vector<unsigned char> back(bytes);
    if (n % 2 == 0) {
      shmem_ctx_putmem(ctx, memory, changing.data(), bytes, right());
      std::fill(changing.begin(), changing.end(), static_cast<unsigned char>(0));
    } else {
      shmem_ctx_putmem_nbi(ctx, memory, source.data(), bytes, right());
    }
    shmem_ctx_quiet(ctx);
    shmem_ctx_getmem(ctx, back.data(), memory, bytes, right());
    CHECK(back == source);
    std::fill(back.begin(), back.end(), static_cast<unsigned char>(0));
    shmem_ctx_getmem_nbi(ctx, back.data(), memory, bytes, right());
    shmem_ctx_quiet(ctx);
    CHECK(back == source);
    shmem_barrier_all();
    CHECK_EQUAL(wrong(memory, bytes, n + 3 * static_cast<std::size_t>(left())), 0u);
    shmem_barrier_all();
  }
}

// Words, one by one, and what was put is got again.
std::size_t wrong_words(shmem_ctx_t ctx, long* words, std::size_t count, long base) {
  for (std::size_t i = 0; i < count; ++i) shmem_ctx_long_p(ctx, words + i, base + static_cast<long>(i), right());
  shmem_ctx_quiet(ctx);
  std::size_t bad = 0;
  for (std::size_t i = 0; i < count; ++i)
    bad += shmem_ctx_long_g(ctx, words + i, right()) != base + static_cast<long>(i);
  return bad;
}

}  // namespace

PE_TEST(private_contexts_move_data) {
  const Symmetric<unsigned char> memory(kLargest);
  check_data(SHMEM_CTX_PRIVATE, memory.get());
  check_data(SHMEM_CTX_PRIVATE, static_block);
}

PE_TEST(serialized_contexts_move_data) {
  const Symmetric<unsigned char> memory(kLargest);
  check_data(SHMEM_CTX_SERIALIZED, memory.get());
}

PE_TEST(blocks_with_gaps_of_a_private_context) {
  constexpr std::size_t kCount = 300;
  const Symmetric<long> memory(3 * kCount);
  std::fill_n(memory.get(), memory.size(), -1L);
  shmem_barrier_all();
  {
    const OwnContext ctx;
    std::vector<long> source(kCount), back(kCount);
    for (std::size_t i = 0; i < kCount; ++i) source[i] = me() * 1000L + static_cast<long>(i);
    for (int round = 0; round < 2; ++round) {
      shmem_ctx_long_iput(ctx, memory.get(), source.data(), 3, 1, kCount, right());
      shmem_ctx_quiet(ctx);
      shmem_ctx_long_iget(ctx, back.data(), memory.get(), 1, 3, kCount, right());
      CHECK(back == source);
    }
  }
  shmem_barrier_all();
  std::size_t bad = 0;
  for (std::size_t i = 0; i < memory.size(); ++i)
    bad += memory[i] != (i % 3 == 0 ? left() * 1000L + static_cast<long>(i / 3) : -1L);
  CHECK_EQUAL(bad, 0u);
  shmem_barrier_all();
}

PE_TEST(more_contexts_than_lanes) {
  constexpr std::size_t kContexts = 20;
  const Symmetric<long> words(kContexts * 8);
  shmem_barrier_all();
  for (int round = 0; round < 2; ++round) {
    std::vector<std::unique_ptr<OwnContext>> contexts;
    for (std::size_t c = 0; c < kContexts; ++c) {
      contexts.push_back(std::make_unique<OwnContext>(c % 2 == 0 ? SHMEM_CTX_PRIVATE : SHMEM_CTX_SERIALIZED));
      CHECK_EQUAL(wrong_words(*contexts.back(), words.get() + 8 * c, 8, static_cast<long>(c) + 100 * round), 0u);
    }
    for (std::size_t c = 0; c < kContexts; ++c)
      CHECK_EQUAL(wrong_words(*contexts[c], words.get() + 8 * c, 8, 7 + static_cast<long>(c)), 0u);
  }
  shmem_barrier_all();
}

// Each thread has a context. All of them, and the default context, are used at once, with atomics in between.
PE_TEST(threads_with_private_contexts) {
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kWords = 200;
  const Symmetric<long> words(kThreads * kWords);
  const Symmetric<long> sum(1);
  shmem_barrier_all();
  test_support::run_on_threads(kThreads, [&](std::size_t t) {
    const auto work = [&](shmem_ctx_t ctx) {
      long* const mine = words.get() + t * kWords;
      std::vector<long> source(kWords);
      for (long round = 1; round <= 10; ++round) {
        CHECK_EQUAL(wrong_words(ctx, mine, kWords, 1000 * round), 0u);
        for (std::size_t i = 0; i < kWords; ++i) source[i] = round + static_cast<long>(i);
        for (std::size_t i = 0; i < kWords; ++i) shmem_ctx_long_put_nbi(ctx, mine + i, &source[i], 1, right());
        shmem_ctx_long_atomic_inc(ctx, sum.get(), right());
        shmem_ctx_fence(ctx);
        shmem_ctx_long_p(ctx, mine, -round, right());
        shmem_ctx_quiet(ctx);
        CHECK_EQUAL(shmem_ctx_long_g(ctx, mine, right()), -round);
        CHECK_EQUAL(shmem_ctx_long_g(ctx, mine + kWords - 1, right()), source.back());
      }
    };
    if (t == 0) return work(SHMEM_CTX_DEFAULT);
    const OwnContext ctx;
    work(ctx);
  });
  shmem_barrier_all();
  CHECK_EQUAL(*sum, static_cast<long>(10 * kThreads));
  shmem_barrier_all();
}

// Threads take turns with one context.
PE_TEST(a_serialized_context_goes_from_thread_to_thread) {
  const Symmetric<long> words(16);
  shmem_barrier_all();
  {
    const OwnContext ctx(SHMEM_CTX_SERIALIZED);
    for (long round = 0; round < 6; ++round) {
      test_support::run_on_threads(
          1, [&](int) { CHECK_EQUAL(wrong_words(ctx, words.get(), words.size(), 50 * round), 0u); });
      CHECK_EQUAL(wrong_words(ctx, words.get(), words.size(), 50 * round + 7), 0u);
    }
  }
  shmem_barrier_all();
}

PE_TEST(a_fence_of_a_private_context_orders_puts_and_atomics) {
  constexpr long kRounds = 60;
  constexpr std::size_t kWords = 64;
  const Symmetric<long> data(kWords);
  const Symmetric<long> flag(1);
  const Symmetric<long> count(1);
  const Symmetric<long> taken(1);
  shmem_barrier_all();
  {
    const OwnContext ctx;
    std::vector<long> source(kWords);
    for (long round = 1; round <= kRounds; ++round) {
      std::fill(source.begin(), source.end(), round);
      for (std::size_t i = 0; i < kWords; ++i) shmem_ctx_long_put_nbi(ctx, &data[i], &source[i], 1, right());
      if (round % 3 == 0) shmem_ctx_long_atomic_add(ctx, count.get(), 1, right());
      shmem_ctx_fence(ctx);
      if (round % 2 == 0) {
        shmem_ctx_long_p(ctx, flag.get(), round, right());
      } else {
        shmem_ctx_long_atomic_set(ctx, flag.get(), round, right());
      }
      shmem_ctx_quiet(ctx);
      shmem_long_wait_until(flag.get(), SHMEM_CMP_EQ, round);
      CHECK_EQUAL(std::count(data.get(), data.get() + kWords, round), static_cast<long>(kWords));
      CHECK_EQUAL(*count, round / 3);
      shmem_long_p(taken.get(), round, left());
      shmem_long_wait_until(taken.get(), SHMEM_CMP_EQ, round);
    }
  }
  shmem_barrier_all();
}

// Nothing completes the puts but the wait of the same thread for the other PE.
PE_TEST(puts_of_private_contexts_leave_while_their_thread_waits) {
  constexpr long kRounds = 200;
  const Symmetric<long> flag(2);
  shmem_barrier_all();
  {
    const OwnContext one, two(SHMEM_CTX_SERIALIZED);
    for (long round = 1; round <= kRounds; ++round) {
      shmem_ctx_long_p(one, &flag[0], round, right());
      shmem_ctx_long_p(two, &flag[1], round, left());
      shmem_long_wait_until(&flag[0], SHMEM_CMP_EQ, round);
      shmem_long_wait_until(&flag[1], SHMEM_CMP_EQ, round);
      shmem_sync_all();
    }
  }
  shmem_barrier_all();
}

PE_TEST(a_context_is_destroyed_with_open_operations) {
  constexpr std::size_t kWords = 500;
  const Symmetric<long> data(kWords);
  shmem_barrier_all();
  for (long round = 1; round <= 5; ++round) {
    std::vector<long> source(kWords, 10 * round + me());
    std::vector<long> back(kWords);
    {
      const OwnContext ctx(round % 2 == 0 ? SHMEM_CTX_PRIVATE : SHMEM_CTX_SERIALIZED);
      for (std::size_t i = 0; i < kWords; ++i) shmem_ctx_long_put_nbi(ctx, &data[i], &source[i], 1, right());
    }
    shmem_barrier_all();
    CHECK_EQUAL(std::count(data.get(), data.get() + kWords, 10 * round + left()), static_cast<long>(kWords));
    {
      const OwnContext ctx;
      shmem_ctx_long_get_nbi(ctx, back.data(), data.get(), kWords, right());
    }
    CHECK_EQUAL(std::count(back.begin(), back.end(), 10 * round + me()), static_cast<long>(kWords));
    shmem_barrier_all();
  }
}

PE_TEST(contexts_end_with_their_team) {
  const Symmetric<long> words(64);
  shmem_barrier_all();
  std::vector<long> source(64, 5 + me());
  for (int round = 0; round < 3; ++round) {
    shmem_team_t team = SHMEM_TEAM_INVALID;
    CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes(), nullptr, 0, &team), 0);
    shmem_ctx_t ctx = SHMEM_CTX_INVALID;
    CHECK_EQUAL(shmem_team_create_ctx(team, SHMEM_CTX_PRIVATE, &ctx), 0);
    shmem_ctx_long_put_nbi(ctx, words.get(), source.data(), words.size(), right());
    shmem_team_destroy(team);
    shmem_barrier_all();
    CHECK_EQUAL(std::count(words.get(), words.get() + words.size(), 5L + left()), 64L);
    shmem_barrier_all();
  }
}

PE_TEST(lanes_are_opened_again_after_another_init) {
  const auto use = [] {
    const Symmetric<long> words(8);
    shmem_barrier_all();
    const OwnContext ctx;
    for (long round = 0; round < 3; ++round) CHECK_EQUAL(wrong_words(ctx, words.get(), words.size(), round), 0u);
    shmem_barrier_all();
  };
  use();
  int provided = -1;
  shmem_finalize();
  CHECK_EQUAL(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0);
  use();
}
