// Litmus tests of ordering between PEs (sections 9.8, 9.12). Each runs for about 0.05 s; SHMEMX_TEST_SECONDS changes
// it.
//
// The PEs take fixed roles; PEs without a role only take part in the barriers. Rounds are counted, never timed against
// each other: every role waits for the others at the end of a round through atomics on the heap.
#include <pshmem.h>

#include <vector>

#include "../support/pe_test.hpp"

namespace {

using namespace pe_test;

constexpr long kLeastRounds = 128;

// PE 0 decides when a litmus loop ends: after its time and kLeastRounds. It announces that to the others by a negative
// round number.
class Rounds {
 public:
  explicit Rounds(int roles) : roles_(roles), deadline_(now() + stress_seconds(0.05)) {}

  // Returns whether another round follows, with the same result for all roles.
  bool next() {
    if (me() >= roles_) return false;
    ++round_;
    if (me() == 0) {
      shmem_long_wait_until(arrived_.get(), SHMEM_CMP_GE, (round_ - 1) * (roles_ - 1));
      const long word = (round_ % 64 == 0 && round_ > kLeastRounds && now() > deadline_) ? -round_ : round_;
      for (int pe = 0; pe < roles_; ++pe) shmem_long_atomic_set(announced_.get(), word, pe);
      shmem_quiet();
      return word > 0;
    }
    for (;;) {
      const long seen = shmem_long_atomic_fetch(announced_.get(), me());
      if (seen == round_) return true;
      if (seen == -round_) return false;
      shmem_long_wait_until(announced_.get(), SHMEM_CMP_NE, seen);
    }
  }
  void done() {
    if (me() != 0) shmem_long_atomic_inc(arrived_.get(), 0);
  }
  // PE 0 waits until all other roles have finished the current round.
  void wait_for_others() { shmem_long_wait_until(arrived_.get(), SHMEM_CMP_GE, round_ * (roles_ - 1)); }
  long number() const { return round_; }

 private:
  int roles_;
  double deadline_;
  long round_ = 0;
  Symmetric<long> announced_;
  Symmetric<long> arrived_;
};

long static_data[512];
long static_flag;

enum class Sender { put_fence_put, put_fence_amo, nbi_fence_put, store_fence_put, amo_fence_amo, p_fence_p };

void send(Sender how, long* data, long* flag, long round, long* data_here) {
  static long block[512];
  if (how != Sender::store_fence_put)
    for (long& word : block) word = round;
  switch (how) {
    case Sender::put_fence_put:
    case Sender::put_fence_amo:
      shmem_long_put(data, block, 512, 1);
      break;
    case Sender::nbi_fence_put:
      shmem_long_put_nbi(data, block, 512, 1);
      break;
    case Sender::store_fence_put:  // section 9.12.1: fence also orders stores through shmem_ptr, if it returns a
                                   // pointer
      for (int i = 0; data_here == nullptr && i < 512; ++i) shmem_long_p(data + i, round, 1);
      if (data_here == nullptr) break;
      for (int i = 0; i < 512; ++i) static_cast<volatile long*>(data_here)[i] = round;
      break;
    case Sender::amo_fence_amo:
      for (int i = 0; i < 512; i += 73) shmem_long_atomic_set(data + i, round, 1);
      break;
    case Sender::p_fence_p:
      for (int i = 0; i < 512; ++i) shmem_long_p(data + i, round, 1);
      break;
  }
  shmem_fence();
  if (how == Sender::put_fence_amo || how == Sender::amo_fence_amo)
    shmem_long_atomic_set(flag, round, 1);
  else
    shmem_long_p(flag, round, 1);
}

// Message passing: data, fence, flag. A PE that sees the flag sees the data.
void message_passing(Sender how, long* data, long* flag) {
  const int step = how == Sender::amo_fence_amo ? 73 : 1;
  Rounds rounds(2);
  long* const mapped = static_cast<long*>(shmem_ptr(data, 1 % pes()));
  long bad = 0;
  while (rounds.next()) {
    const long round = rounds.number();
    if (me() == 0) {
      send(how, data, flag, round, mapped);
    } else {
      if (round % 2 == 0)
        shmem_long_wait_until(flag, SHMEM_CMP_GE, round);
      else
        while (shmem_long_test(flag, SHMEM_CMP_LT, round)) {
        }
      for (int i = 0; i < 512; i += step) bad += data[i] != round;
    }
    rounds.done();
    if (me() == 0) rounds.wait_for_others();
  }
  CHECK_EQUAL(bad, 0);
  *flag = 0;
}

}  // namespace

#define MESSAGE_PASSING(HOW)                                \
  PE_TEST_MIN(message_passing_with_##HOW, 2) {              \
    Symmetric<long> data(512), flag;                        \
    message_passing(Sender::HOW, data.get(), flag.get());   \
    message_passing(Sender::HOW, static_data, flag.get());  \
    message_passing(Sender::HOW, data.get(), &static_flag); \
  }
MESSAGE_PASSING(put_fence_put)
MESSAGE_PASSING(put_fence_amo)
MESSAGE_PASSING(nbi_fence_put)
MESSAGE_PASSING(store_fence_put)
MESSAGE_PASSING(amo_fence_amo)
MESSAGE_PASSING(p_fence_p)

// Section 9.8.3: a PE that sees the signal sees the data of that call, small and large.
PE_TEST_MIN(put_signal_delivers_its_data_before_the_signal, 2) {
  for (const std::size_t n : {1u, 9u, 700u, 70000u}) {
    Symmetric<uint64_t> data(n), signal;
    std::vector<uint64_t> source(n);
    Rounds rounds(2);
    long bad = 0;
    while (rounds.next()) {
      const auto round = static_cast<uint64_t>(rounds.number());
      if (me() == 0) {
        for (uint64_t& word : source) word = round;
        if (round % 2 == 0) {
          shmem_uint64_put_signal(data.get(), source.data(), n, signal.get(), 1, SHMEM_SIGNAL_ADD, 1);
        } else {
          shmem_uint64_put_signal_nbi(data.get(), source.data(), n, signal.get(), round, SHMEM_SIGNAL_SET, 1);
          shmem_quiet();
        }
      } else {
        shmem_signal_wait_until(signal.get(), SHMEM_CMP_GE, round);
        for (std::size_t i = 0; i < n; ++i) bad += data[i] != round;
      }
      rounds.done();
      if (me() == 0) rounds.wait_for_others();
    }
    CHECK_EQUAL(bad, 0);
  }
}

// Store buffering: each writes its own word, makes it visible with quiet, and reads the other's. Not both may read 0.
PE_TEST_MIN(quiet_forbids_store_buffering, 2) {
  Symmetric<long> mine_at_other(2);
  Symmetric<long> result(2);
  for (const bool with_amo : {false, true}) {
    Rounds rounds(2);
    long both_zero = 0;
    long reads = 0;
    while (rounds.next()) {
      const long round = rounds.number();
      // Word 0 is written by PE 0 and read by PE 1; word 1 is written by PE 1 and read by PE 0. Both lie on PE 1.
      long* const own = &mine_at_other[static_cast<std::size_t>(me())];
      long* const other = &mine_at_other[static_cast<std::size_t>(1 - me())];
      if (with_amo)
        shmem_long_atomic_set(own, round, 1);
      else
        shmem_long_p(own, round, 1);
      shmem_quiet();
      const long seen = shmem_long_g(other, 1);
      ++reads;
      shmem_long_p(&result[static_cast<std::size_t>(me())], seen == round ? round : -round, 0);
      shmem_quiet();
      rounds.done();
      if (me() == 0) {
        rounds.wait_for_others();
        both_zero += shmem_long_g(&result[0], 0) == -round && shmem_long_g(&result[1], 0) == -round;
      }
    }
    CHECK_EQUAL(both_zero, 0);
    if (me() < 2) CHECK(reads > 100);
    mine_at_other[0] = mine_at_other[1] = 0;
    shmem_barrier_all();
  }
}

// Independent reads of independent writes: after quiet an update is visible to all PEs, so two readers that fetch
// with quiet between their reads may not see the two writes in opposite orders.
PE_TEST_MIN(readers_agree_on_the_order_of_independent_writes, 4) {
  Symmetric<long> x, y;
  Symmetric<long> seen(4);
  Rounds rounds(4);
  long disagreements = 0;
  while (rounds.next()) {
    const long round = rounds.number();
    if (me() == 0) {
      shmem_long_atomic_set(x.get(), round, 2);
      shmem_quiet();
    } else if (me() == 1) {
      shmem_long_atomic_set(y.get(), round, 3);
      shmem_quiet();
    } else {
      const bool x_first = me() == 2;
      const long first = shmem_long_atomic_fetch(x_first ? x.get() : y.get(), x_first ? 2 : 3);
      shmem_quiet();
      const long second = shmem_long_atomic_fetch(x_first ? y.get() : x.get(), x_first ? 3 : 2);
      // Saw the first write but not the second.
      shmem_long_p(&seen[static_cast<std::size_t>(me())], first == round && second != round ? round : 0, 0);
      shmem_quiet();
    }
    rounds.done();
    if (me() == 0) {
      rounds.wait_for_others();
      disagreements += seen[2] == round && seen[3] == round;
    }
  }
  CHECK_EQUAL(disagreements, 0);
}

// Section 9.12.2: quiet completes non-blocking gets and fetches, and releases the sources of non-blocking puts.
PE_TEST(quiet_completes_everything_non_blocking) {
  constexpr std::size_t kWords = 600;
  Symmetric<long> there(kWords), counters(kWords), placement(kWords);
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::vector<long> got(kWords, -1), old(kWords, -1), source(kWords);
    for (std::size_t i = 0; i < kWords; ++i) {
      there[i] = static_cast<long>(i) * 2 + me() + repeat;
      source[i] = static_cast<long>(i) + me() * 7 + repeat;
    }
    shmem_barrier_all();
    for (std::size_t i = 0; i < kWords; ++i) {
      shmem_long_get_nbi(&got[i], &there[i], 1, right());
      shmem_long_atomic_fetch_add_nbi(&old[i], &counters[i], 1, right());
      shmem_long_put_nbi(&placement[i], &source[i], 1, right());
    }
    shmem_quiet();
    for (long& word : source) word = -9;  // may be written again after quiet
    std::size_t bad = 0;
    for (std::size_t i = 0; i < kWords; ++i)
      bad += got[i] != static_cast<long>(i) * 2 + right() + repeat || old[i] != repeat;
    CHECK_EQUAL(bad, 0u);
    shmem_barrier_all();
    bad = 0;
    for (std::size_t i = 0; i < kWords; ++i) bad += placement[i] != static_cast<long>(i) + left() * 7 + repeat;
    CHECK_EQUAL(bad, 0u);
    shmem_barrier_all();
  }
}

// Section 9.10.1: barrier_all completes what was posted on the default context.
PE_TEST(barrier_completes_puts) {
  constexpr std::size_t kWords = 3000;
  Symmetric<int> data(kWords);
  std::vector<int> source(kWords);
  for (int round = 1; round < 60; ++round) {
    for (int& word : source) word = round * 100 + me();
    if (round % 2 == 0)
      shmem_int_put(data.get(), source.data(), kWords, right());
    else
      shmem_int_put_nbi(data.get(), source.data(), kWords, right());
    shmem_barrier_all();
    int bad = 0;
    for (std::size_t i = 0; i < kWords; ++i) bad += data[i] != round * 100 + left();
    CHECK_EQUAL(bad, 0);
    shmem_sync_all();
  }
}

// Section 9.10.4: sync_all makes stores of the CPU visible, though it completes no puts.
PE_TEST(sync_all_publishes_stores) {
  Symmetric<long> word;
  for (long round = 1; round < 500; ++round) {
    *word = round * 1000 + me();
    shmem_sync_all();
    const auto* const peer = static_cast<const long*>(shmem_ptr(word.get(), right()));
    CHECK_EQUAL(peer != nullptr ? *peer : shmem_long_g(word.get(), right()), round * 1000 + right());
    shmem_sync_all();
  }
}

// Section 9.12.3.
PE_TEST(pe_quiet_completes_towards_the_listed_pes) {
  Symmetric<long> data(static_cast<std::size_t>(pes())), flag;
  std::vector<int> all(static_cast<std::size_t>(pes()));
  for (int pe = 0; pe < pes(); ++pe) all[static_cast<std::size_t>(pe)] = pe;
  for (long round = 1; round < 100; ++round) {
    long word = round * 10 + me();
    shmem_long_put_nbi(&data[static_cast<std::size_t>(me())], &word, 1, right());
    const int target = right();
    if (round % 3 == 0)
      shmem_pe_quiet(&target, 1);
    else if (round % 3 == 1)
      shmem_ctx_pe_quiet(SHMEM_CTX_DEFAULT, all.data(), all.size());
    else
      pshmem_pe_quiet(all.data(), all.size());
    word = -1;
    shmem_long_atomic_set(flag.get(), round, right());
    shmem_long_wait_until(flag.get(), SHMEM_CMP_GE, round);
    CHECK_EQUAL(data[static_cast<std::size_t>(left())], round * 10 + left());
    shmem_sync_all();
  }
  shmem_pe_quiet(nullptr, 0);  // returns at once, for any pointer
  shmem_ctx_pe_quiet(SHMEM_CTX_DEFAULT, nullptr, 0);
  pshmem_ctx_pe_quiet(SHMEM_CTX_DEFAULT, all.data(), all.size());
  // Section 9.12: fence and quiet on the invalid context do nothing.
  shmem_ctx_fence(SHMEM_CTX_INVALID);
  shmem_ctx_quiet(SHMEM_CTX_INVALID);
  shmem_ctx_fence(SHMEM_CTX_DEFAULT);
  pshmem_ctx_fence(SHMEM_CTX_INVALID);
  pshmem_ctx_quiet(SHMEM_CTX_DEFAULT);
  pshmem_fence();
  pshmem_quiet();
}
