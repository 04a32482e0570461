// Streams of small operations to PEs of other nodes, which travel together: their data, their order, and that they
// arrive although the program makes no further call of the library.
#include <shmemx.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "../support/computing.hpp"
#include "../support/pe_test.hpp"
#include "../support/random.hpp"
#include "../support/types.hpp"

namespace {

using namespace pe_test;

constexpr std::size_t kWords = 64;  // of each source at each target
constexpr long kOperations = 20000;

std::size_t at(int pe) { return static_cast<std::size_t>(pe); }

// What completes a stream before its words are compared.
enum class End { quiet, barrier };

// A stream of this PE to all PEs, and what it must leave there. Every PE has words of its own at each target.
class Stream {
 public:
  explicit Stream(const Symmetric<long>& words) : mine_(words.get() + at(me()) * kWords), expected_(at(pes())) {
    for (auto& of_target : expected_) of_target.fill(0);
  }

  // The random numbers choose the operation, the target and the word.
  void step(long value, std::uint64_t random) {
    const int pe = static_cast<int>(random % at(pes()));
    const std::size_t i = random / 64 % (kWords - 8);
    long* const dest = mine_ + i;
    auto& expected = expected_[at(pe)];
    const std::array<long, 8> source{value,     value + 1, value + 2, value + 3,
                                     value + 4, value + 5, value + 6, value + 7};
    switch (random / 4096 % 5) {
      case 0:
        shmem_long_p(dest, value, pe);
        expected[i] = value;
        break;
      case 1: {
        const std::size_t count = random / 65536 % 8 + 1;
        shmem_long_put(dest, source.data(), count, pe);
        for (std::size_t k = 0; k < count; ++k) expected[i + k] = source[k];
        break;
      }
      case 2:
        shmem_long_iput(dest, source.data(), 3, 2, 3, pe);
        for (std::size_t k = 0; k < 3; ++k) expected[i + 3 * k] = source[2 * k];
        break;
      case 3:
        shmem_long_atomic_set(dest, value, pe);
        expected[i] = value;
        break;
      default:
        shmem_long_atomic_add(dest, value, pe);
        expected[i] += value;
        break;
    }
  }
  void check() const {
    for (int pe = 0; pe < pes(); ++pe) {
      std::array<long, kWords> found{};
      shmem_long_get(found.data(), mine_, kWords, pe);
      CHECK(found == expected_[at(pe)]);
    }
  }

 private:
  long* mine_;
  std::vector<std::array<long, kWords>> expected_;
};

void stream_to_all(End end, long fence_every) {
  const Symmetric<long> words(kWords * at(pes()));
  Stream stream(words);
  Random random(static_cast<std::uint64_t>(me()) + 1);
  for (long i = 1; i <= kOperations; ++i) {
    stream.step(i, random.next());
    if (i % fence_every == 0) shmem_fence();
  }
  if (end == End::quiet) {
    shmem_quiet();
  } else {
    shmem_barrier_all();
  }
  stream.check();
  shmem_barrier_all();
}

// Puts to the same word are ordered by fences only, so there is one behind each operation.
PE_TEST(streams_to_all_pes_are_complete_after_quiet) { stream_to_all(End::quiet, 1); }
PE_TEST(streams_to_all_pes_are_complete_after_a_barrier) { stream_to_all(End::barrier, 1); }

// Every word is written once, so nothing but quiet is needed. The source is used again at once.
PE_TEST(puts_of_many_lengths_take_their_data_before_they_return) {
  constexpr std::size_t kLongest = 5000;
  constexpr std::size_t kCount = 300;
  const Symmetric<unsigned char> dest(kCount * kLongest);
  std::vector<unsigned char> source(kLongest);
  std::vector<std::size_t> lengths;
  Random random(7);
  const int pe = right();
  for (std::size_t k = 0; k < kCount; ++k) {
    lengths.push_back(random.next() % (k % 10 == 0 ? kLongest : 100) + 1);
    for (std::size_t i = 0; i < lengths[k]; ++i) source[i] = static_cast<unsigned char>(k * 31 + i + at(me()));
    shmem_putmem(dest.get() + k * kLongest, source.data(), lengths[k], pe);
  }
  shmem_barrier_all();
  std::size_t wrong = 0;
  for (std::size_t k = 0; k < kCount; ++k) {
    for (std::size_t i = 0; i < kLongest; ++i) {
      const auto sent = static_cast<unsigned char>(k * 31 + i + at(left()));
      wrong += dest[k * kLongest + i] != (i < lengths[k] ? sent : 0);
    }
  }
  CHECK_EQUAL(wrong, std::size_t{0});
  shmem_barrier_all();
}

// ---- atomics of all types ----

constexpr unsigned kUpdates = 1000;  // of each PE, in turn to all PEs

// Returns how many of a PE's updates come here.
unsigned updates_for_me() {
  const auto count = static_cast<unsigned>(pes());
  return kUpdates / count + (static_cast<unsigned>(me()) < kUpdates % count ? 1 : 0);
}

template <class T>
void check_additions(const char* name, void (*inc)(T*, int), void (*add)(T*, T, int)) {
  const Note note(name);
  const Symmetric<T> words(2);
  for (unsigned i = 0; i < kUpdates; ++i) {
    const int pe = static_cast<int>(i) % pes();
    inc(words.get(), pe);
    add(words.get() + 1, static_cast<T>(3), pe);
  }
  shmem_barrier_all();
  const auto total = updates_for_me() * static_cast<unsigned>(pes());
  CHECK_EQUAL(words[0], static_cast<T>(total));
  CHECK_EQUAL(words[1], static_cast<T>(3 * total));
  shmem_barrier_all();
}

PE_TEST(additions_of_all_types_are_exact) {
#define TEST_ADDITIONS(P, NAME, T) check_additions<T>(#NAME, P##_##NAME##_atomic_inc, P##_##NAME##_atomic_add);
  TEST_AMO_INTEGER_TYPES(TEST_ADDITIONS, shmem)
}

// All PEs send the same bits: or and and keep them, xor by an odd number of PEs does.
template <class T>
void check_bits(const char* name, void (*bit_or)(T*, T, int), void (*bit_and)(T*, T, int),
                void (*bit_xor)(T*, T, int)) {
  const Note note(name);
  const Symmetric<T> words(3);
  const T one = 1;
  words[1] = static_cast<T>(~T());
  shmem_barrier_all();
  T bits = 0;
  for (unsigned i = 0; i < kUpdates; ++i) {
    const int pe = static_cast<int>(i) % pes();
    const auto bit = static_cast<T>(one << i % 31);
    bit_or(words.get(), bit, pe);
    bit_and(words.get() + 1, static_cast<T>(~bit), pe);
    bit_xor(words.get() + 2, bit, pe);
    if (pe == me()) bits = static_cast<T>(bits | bit);
  }
  shmem_barrier_all();
  T parity = 0;
  for (unsigned i = 0; i < kUpdates; ++i) {
    const auto bit = static_cast<T>(one << i % 31);
    if (static_cast<int>(i) % pes() == me() && pes() % 2 != 0) parity = static_cast<T>(parity ^ bit);
  }
  CHECK_EQUAL(words[0], bits);
  CHECK_EQUAL(words[1], static_cast<T>(~bits));
  CHECK_EQUAL(words[2], parity);
  shmem_barrier_all();
}

PE_TEST(bitwise_atomics_of_all_types_are_exact) {
#define TEST_BITS(P, NAME, T) \
  check_bits<T>(#NAME, P##_##NAME##_atomic_or, P##_##NAME##_atomic_and, P##_##NAME##_atomic_xor);
  TEST_AMO_BITWISE_TYPES(TEST_BITS, shmem)
}

PE_TEST(floating_point_words_hold_the_last_value_of_a_stream) {
  const Symmetric<double> doubles(1);
  const Symmetric<float> floats(1);
  for (int i = 1; i <= 1000; ++i) {
    shmem_double_atomic_set(doubles.get(), i + 0.5, right());
    shmem_float_atomic_set(floats.get(), static_cast<float>(i) + 0.25F, right());
    shmem_fence();
  }
  shmem_barrier_all();
  CHECK_EQUAL(*doubles, 1000.5);
  CHECK_EQUAL(*floats, 1000.25F);
  shmem_barrier_all();
}

// ---- order ----

PE_TEST_MIN(a_flag_behind_a_fence_follows_the_data, 2) {
  constexpr long kRounds = 3000;
  const Symmetric<long> data(8);
  const Symmetric<long> flag(1);
  for (long round = 1; round <= kRounds; ++round) {
    for (std::size_t i = 0; i < 8; ++i) shmem_long_p(data.get() + i, round, right());
    shmem_fence();
    shmem_long_p(flag.get(), round, right());
    if (round % 100 != 0) continue;
    shmem_long_wait_until(flag.get(), SHMEM_CMP_GE, round);
    for (std::size_t i = 0; i < 8; ++i) CHECK_EQUAL(data[i], round);
    shmem_barrier_all();  // the left neighbour writes again
  }
  shmem_barrier_all();
}

PE_TEST_MIN(signals_follow_their_data, 2) {
  constexpr std::uint64_t kRounds = 3000;
  const Symmetric<std::uint64_t> data(4);
  const Symmetric<std::uint64_t> signals(2);
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    const std::array<std::uint64_t, 4> values{round, round, round, round};
    shmem_uint64_put_signal(data.get(), values.data(), 4, signals.get(), round, SHMEM_SIGNAL_SET, right());
    shmem_uint64_put_signal_nbi(data.get(), values.data(), 4, signals.get() + 1, 1, SHMEM_SIGNAL_ADD, right());
    shmem_quiet();
    if (round % 100 != 0) continue;
    shmem_signal_wait_until(signals.get(), SHMEM_CMP_GE, round);
    shmem_signal_wait_until(signals.get() + 1, SHMEM_CMP_GE, round);
    for (std::size_t i = 0; i < 4; ++i) CHECK_EQUAL(data[i], round);
    shmem_barrier_all();  // the left neighbour writes again
  }
  shmem_barrier_all();
}

// An operation with a result leaves behind all that has gathered, and so do large puts.
PE_TEST(results_and_large_puts_follow_what_was_sent_before_a_fence) {
  constexpr std::size_t kLarge = 20000;
  const Symmetric<long> counter(1);
  const Symmetric<long> large(kLarge);
  const std::vector<long> ones(kLarge, 1);
  shmem_barrier_all();
  for (long round = 1; round <= 50; ++round) {
    for (int i = 0; i < 20; ++i) shmem_long_atomic_inc(counter.get(), right());
    shmem_fence();
    CHECK_EQUAL(shmem_long_atomic_fetch_inc(counter.get(), right()), round * 21 - 1);
    for (std::size_t i = 0; i < kLarge; i += 500) shmem_long_p(large.get() + i, -round, right());
    shmem_fence();
    shmem_long_put(large.get(), ones.data(), kLarge, right());
    shmem_fence();
    shmem_long_p(large.get() + 1, round, right());
    shmem_quiet();
    CHECK_EQUAL(shmem_long_g(large.get(), right()), 1L);
    CHECK_EQUAL(shmem_long_g(large.get() + 1, right()), round);
    CHECK_EQUAL(shmem_long_g(large.get() + 500, right()), 1L);
  }
  shmem_barrier_all();
}

// ---- without a further call ----

// What PE 1 does meanwhile, if it is not the last one: nothing, or it sends to PE 0 without end.
enum class Beside { nothing, stream };

// PE 0 executes `operations`, which set `arrived` of the last PE to 1 at their end, and then only computes.
template <class Operations>
void then_compute(Operations operations, Beside beside = Beside::nothing) {
  static long words[2] = {};  // `arrived`, and one for what is in front of it
  static long answered = 0;
  static long streamed = 0;
  words[0] = answered = 0;
  shmem_barrier_all();
  const int last = pes() - 1;
  if (me() == 0) {
    operations(words, last);
    compute_until(answered, 1);
  } else if (me() == last) {
    compute_until(words[0], 1);
    shmem_long_p(&answered, 1, 0);
    if (beside == Beside::stream) shmem_long_p(&answered, 1, 1);
  } else if (me() == 1 && beside == Beside::stream) {
    while (__atomic_load_n(&answered, __ATOMIC_ACQUIRE) == 0) shmem_long_atomic_inc(&streamed, 0);
  }
  shmem_barrier_all();
  CHECK_EQUAL(shmem_long_g(words, last), 1L);
  shmem_barrier_all();
}

PE_TEST_MIN(one_put_arrives_without_a_further_call, 2) {
  for (int i = 0; i < 20; ++i) then_compute([](long* arrived, int pe) { shmem_long_p(arrived, 1, pe); });
}

PE_TEST_MIN(gathered_operations_arrive_without_a_further_call, 2) {
  const Symmetric<long> words(100);
  for (long count : {1L, 2L, 10L, 1000L, 100'000L}) {
    then_compute([&](long* arrived, int pe) {
      for (long i = 0; i < count; ++i) {
        shmem_long_p(words.get() + i % 50, i, pe);
        shmem_long_atomic_inc(words.get() + 50 + i % 50, pe);
      }
      shmem_fence();
      shmem_long_atomic_inc(arrived, pe);
    });
  }
}

// Increments the word until that begins a batch: the one before has left. Within a node there are none.
void begin_batch(long* word, int pe) {
  constexpr int kMostItems = 5000;
  shmemx_net_stats_t before{};
  shmemx_net_stats_t after{};
  shmemx_net_stats(&before);
  for (int i = 0; i < kMostItems && after.messages < before.messages + 2; ++i) {
    shmem_long_atomic_inc(word, pe);
    shmemx_net_stats(&after);
  }
}

PE_TEST_MIN(the_last_batch_of_a_stream_leaves_without_a_further_call, 2) {
  for (int i = 0; i < 500; ++i) {
    then_compute([](long* arrived, int pe) {
      begin_batch(arrived + 1, pe);
      shmem_long_p(arrived, 1, pe);
    });
  }
}

// The progress thread of PE 0 is never without work.
PE_TEST_MIN(a_batch_leaves_while_messages_stream_in, 3) {
  for (int i = 0; i < 20; ++i) {
    then_compute(
        [](long* arrived, int pe) {
          begin_batch(arrived + 1, pe);
          shmem_long_p(arrived, 1, pe);
        },
        Beside::stream);
  }
}

// ---- sessions ----

PE_TEST_MIN(operations_of_a_session_arrive_at_its_end, 2) {
  const Symmetric<long> words(100);
  for (int round = 0; round < 5; ++round) {
    then_compute([&](long* arrived, int pe) {
      shmem_ctx_session_config_t config{};
      config.total_ops = 101;
      shmem_ctx_session_start(SHMEM_CTX_DEFAULT, SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
      for (std::size_t i = 0; i < 100; ++i) shmem_long_p(words.get() + i, 1, pe);
      shmem_long_p(arrived, 1, pe);
      shmem_ctx_session_stop(SHMEM_CTX_DEFAULT);
    });
  }
}

PE_TEST_MIN(operations_and_messages_are_counted, 2) {
  constexpr unsigned kCount = 50'000;
  const Symmetric<long> words(100);
  shmemx_net_stats_t before{};
  shmemx_net_stats_t after{};
  shmem_quiet();
  shmemx_net_stats(&before);
  shmem_ctx_session_start(SHMEM_CTX_DEFAULT, SHMEM_CTX_SESSION_BATCH, nullptr, 0);
  for (unsigned i = 0; i < kCount; ++i) shmem_long_p(words.get() + i % 100, 1, right());
  shmem_ctx_session_stop(SHMEM_CTX_DEFAULT);
  shmem_quiet();
  shmemx_net_stats(&after);
  const bool is_sent = shmem_ptr(words.get(), right()) == nullptr;
  CHECK_EQUAL(after.operations - before.operations, is_sent ? kCount : 0U);
  CHECK((after.messages - before.messages != 0) == is_sent);
  CHECK(after.messages - before.messages < kCount);
  CHECK(after.bytes - before.bytes >= (is_sent ? kCount * sizeof(long) : 0));
  shmem_barrier_all();
}

// Only the transport ethernet sends frames of its own.
PE_TEST_MIN(frames_are_counted, 2) {
  const char* const transport = std::getenv("SHMEMX_TRANSPORT");
  const Symmetric<long> word(1);
  const bool sends =
      transport != nullptr && std::string(transport) == "ethernet" && shmem_ptr(word.get(), right()) == nullptr;
  shmemx_net_stats_t before{};
  shmemx_net_stats_t after{};
  shmemx_net_stats(&before);
  for (int i = 0; i < 100; ++i) shmem_long_atomic_fetch_add(word.get(), 1, right());
  shmemx_net_stats(&after);
  CHECK(after.frames_sent - before.frames_sent >= (sends ? 100U : 0U));
  CHECK(after.frames_received - before.frames_received >= (sends ? 100U : 0U));
  if (!sends && shmem_ptr(word.get(), right()) == nullptr) CHECK_EQUAL(after.frames_sent + after.frames_received, 0U);
  CHECK_EQUAL(after.frames_truncated + after.frames_foreign + after.frames_forged + after.frames_stale, 0U);
  shmem_barrier_all();
}

PE_TEST_MIN(operations_arrive_although_their_session_does_not_end, 2) {
  shmem_ctx_t context = SHMEM_CTX_INVALID;
  CHECK_EQUAL(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &context), 0);
  then_compute([&](long* arrived, int pe) {
    shmem_ctx_session_start(context, SHMEM_CTX_SESSION_BATCH, nullptr, 0);
    shmem_ctx_long_p(context, arrived, 1, pe);
  });
  if (me() == 0) shmem_ctx_session_stop(context);
  shmem_ctx_destroy(context);
  shmem_barrier_all();
}

}  // namespace
