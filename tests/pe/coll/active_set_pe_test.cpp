// The deprecated collectives on active sets (section 9.10): sets of every shape, pSync arrays on the heap and static.
#define SHMEMX_NO_C99_COMPLEX  // the rows deduce the type from the routine's address
#include <pshmem.h>

#include <complex>
#include <vector>

#include "../../support/pe_test.hpp"
#include "../../support/types.hpp"

namespace {

using namespace pe_test;

constexpr std::size_t kSyncSize = 64;
static_assert(kSyncSize >= SHMEM_SYNC_SIZE && kSyncSize >= SHMEM_REDUCE_SYNC_SIZE &&
              kSyncSize >= SHMEM_COLLECT_SYNC_SIZE && kSyncSize >= SHMEM_ALLTOALL_SYNC_SIZE &&
              kSyncSize >= SHMEM_ALLTOALLS_SYNC_SIZE && kSyncSize >= SHMEM_BCAST_SYNC_SIZE &&
              kSyncSize >= SHMEM_BARRIER_SYNC_SIZE);

long static_sync[2][kSyncSize];  // pSync may be a global

struct Set {
  int start, log_stride, size;
  bool has(int pe) const { return index_of(pe) >= 0; }
  int index_of(int pe) const {
    const int stride = 1 << log_stride, d = pe - start;
    return d >= 0 && d % stride == 0 && d / stride < size ? d / stride : -1;
  }
  int pe(int index) const { return start + (index << log_stride); }
};

std::vector<Set> sets() {
  const int n = pes();
  std::vector<Set> all{{0, 0, n}, {n - 1, 0, 1}, {0, 1, (n + 1) / 2}};
  if (n > 1) all.push_back({1, 1, n / 2});
  if (n > 2) all.push_back({1, 0, n - 1});
  if (n > 4) all.push_back({0, 2, (n + 3) / 4});
  return all;
}

// Two pSync arrays are used in turn, since one may not be reused before the other members have left.
class Sync {
 public:
  Sync() {
    for (std::size_t half = 0; half < 2; ++half)
      for (std::size_t i = 0; i < kSyncSize; ++i) heap_[half * kSyncSize + i] = static_sync[half][i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
  }
  long* next() {
    ++turn_;
    return (turn_ / 2) % 2 ? static_sync[turn_ % 2] : heap_.get() + (turn_ % 2) * kSyncSize;
  }
  // Every element must hold SHMEM_SYNC_VALUE again on return.
  void check_restored() const {
    shmem_barrier_all();
    int bad = 0;
    for (std::size_t half = 0; half < 2; ++half)
      for (std::size_t i = 0; i < kSyncSize; ++i)
        bad += (heap_[half * kSyncSize + i] != SHMEM_SYNC_VALUE) + (static_sync[half][i] != SHMEM_SYNC_VALUE);
    CHECK_EQUAL(bad, 0);
  }

 private:
  Symmetric<long> heap_{2 * kSyncSize};
  unsigned turn_ = 0;
};

struct MoveRow {
  const char* name;
  void (*broadcast)(void*, const void*, size_t, int, int, int, int, long*);
  void (*collect)(void*, const void*, size_t, int, int, int, long*);
  void (*fcollect)(void*, const void*, size_t, int, int, int, long*);
  void (*alltoall)(void*, const void*, size_t, int, int, int, long*);
  void (*alltoalls)(void*, const void*, ptrdiff_t, ptrdiff_t, size_t, int, int, int, long*);
};

// The routines of a row on one active set, each checked on all its members.
template <class T>
class Moves {
 public:
  Moves(const MoveRow& row, const Set& set, Sync& sync, std::size_t count)
      : row_(row), set_(set), sync_(sync), dest_(count), source_(count) {}

  void run() {
    check([&](long* sync) { return broadcast(sync); });
    check([&](long* sync) { return fcollect(sync); });
    check([&](long* sync) { return collect(sync); });
    check([&](long* sync) { return alltoall(sync); });
    check([&](long* sync) { return alltoalls(sync); });
  }

 private:
  static constexpr T kUntouched = static_cast<T>(-7);
  static T element(int pe, std::size_t i) { return static_cast<T>(pe * 10000 + static_cast<int>(i)); }
  // The element that the member of ordinal i / block contributes at i % block, plus `first`.
  T element_of_member(std::size_t i, std::size_t block, std::size_t first = 0) const {
    return element(set_.pe(static_cast<int>(i / block)), first + i % block);
  }

  // Calls a routine on the members; it returns the number of wrong elements.
  template <class Move>
  void check(Move move) {
    for (std::size_t i = 0; i < source_.size(); ++i) {
      source_[i] = element(me(), i);
      dest_[i] = kUntouched;
    }
    shmem_barrier_all();
    long* const sync = sync_.next();
    const std::size_t bad = index_ >= 0 ? move(sync) : 0;
    CHECK_EQUAL(bad, 0u);
    shmem_barrier_all();
  }

  std::size_t broadcast(long* sync) {
    const int root = set_.size - 1;  // an ordinal within the set
    row_.broadcast(dest_.get(), source_.get(), 20, root, set_.start, set_.log_stride, set_.size, sync);
    // Section 9.10.7: the old form leaves the root's dest alone.
    std::size_t bad = 0;
    for (std::size_t i = 0; i < 20; ++i) bad += dest_[i] != (index_ == root ? kUntouched : element(set_.pe(root), i));
    return bad;
  }
  std::size_t fcollect(long* sync) {
    row_.fcollect(dest_.get(), source_.get(), 5, set_.start, set_.log_stride, set_.size, sync);
    std::size_t bad = dest_[5 * members_] != kUntouched;
    for (std::size_t i = 0; i < 5 * members_; ++i) bad += dest_[i] != element_of_member(i, 5);
    return bad;
  }
  std::size_t collect(long* sync) {
    const auto nelems = static_cast<std::size_t>(index_ % 4);
    row_.collect(dest_.get(), source_.get(), nelems, set_.start, set_.log_stride, set_.size, sync);
    std::size_t bad = 0, k = 0;
    for (int member = 0; member < set_.size; ++member)
      for (int i = 0; i < member % 4; ++i) bad += dest_[k++] != element(set_.pe(member), static_cast<std::size_t>(i));
    return bad + (dest_[k] != kUntouched);
  }
  std::size_t alltoall(long* sync) {
    row_.alltoall(dest_.get(), source_.get(), 3, set_.start, set_.log_stride, set_.size, sync);
    std::size_t bad = 0;
    for (std::size_t i = 0; i < 3 * members_; ++i)
      bad += dest_[i] != element_of_member(i, 3, static_cast<std::size_t>(index_) * 3);
    return bad;
  }
  std::size_t alltoalls(long* sync) {
    row_.alltoalls(dest_.get(), source_.get(), 2, 3, 2, set_.start, set_.log_stride, set_.size, sync);
    std::size_t bad = 0;
    for (std::size_t i = 0; i < 2 * members_; ++i) {
      const std::size_t at = (static_cast<std::size_t>(index_) * 2 + i % 2) * 3;
      bad += dest_[2 * i] != element(set_.pe(static_cast<int>(i / 2)), at) || dest_[2 * i + 1] != kUntouched;
    }
    return bad;
  }

  const MoveRow& row_;
  const Set set_;
  Sync& sync_;
  Symmetric<T> dest_, source_;
  const int index_ = set_.index_of(me());
  const std::size_t members_ = static_cast<std::size_t>(set_.size);
};

template <class T>
void exercise_moves(const MoveRow& row) {
  const Note note(row.name);
  const std::size_t count = static_cast<std::size_t>(pes()) * 8 + 32;
  Sync sync;
  for (const Set& set : sets()) Moves<T>(row, set, sync, count).run();
  sync.check_restored();
}

template <class T>
using ToAll = void(T*, const T*, int, int, int, int, T*, long*);

template <class T, class Op>
void reduce_on_sets(const char* name, ToAll<T>* reduce, Op op) {
  const Note note(name);
  constexpr int kCount = 50;
  constexpr std::size_t kWork =
      kCount / 2 + 1 > SHMEM_REDUCE_MIN_WRKDATA_SIZE ? kCount / 2 + 1 : SHMEM_REDUCE_MIN_WRKDATA_SIZE;
  auto* const memory = static_cast<T*>(shmem_calloc(2 * kCount + 2 * kWork, sizeof(T)));
  T *dest = memory, *source = memory + kCount, *work = memory + 2 * kCount;
  const auto term = [](int pe, int i) { return static_cast<T>(static_cast<float>((pe * 3 + i) % 3 + 1)); };
  Sync sync;
  unsigned turn = 0;
  for (const Set& set : sets()) {
    for (const int count : {1, kCount}) {
      for (const bool in_place : {false, true}) {
        for (int i = 0; i < kCount; ++i) {
          source[i] = term(me(), i);
          dest[i] = static_cast<T>(0);
        }
        shmem_barrier_all();
        long* const p_sync = sync.next();
        T* const p_work = work + (++turn % 2) * kWork;
        if (!set.has(me())) continue;
        T* const to = in_place ? source : dest;
        reduce(to, source, count, set.start, set.log_stride, set.size, p_work, p_sync);
        int bad = 0;
        for (int i = 0; i < count; ++i) {
          T expected = term(set.pe(0), i);
          for (int member = 1; member < set.size; ++member) expected = op(expected, term(set.pe(member), i));
          bad += !(to[i] == expected);
        }
        CHECK_EQUAL(bad, 0);
      }
    }
  }
  sync.check_restored();
  shmem_free(memory);
}

// T is deduced from the routine, so it does not depend on the header's name for complex types.
template <class T>
void sum_on_sets(const char* name, void (*reduce)(T*, const T*, int, int, int, int, T*, long*)) {
  reduce_on_sets<T>(name, reduce, [](T a, T b) { return static_cast<T>(a + b); });
}
template <class T>
void prod_on_sets(const char* name, void (*reduce)(T*, const T*, int, int, int, int, T*, long*)) {
  reduce_on_sets<T>(name, reduce, [](T a, T b) { return static_cast<T>(a * b); });
}
template <class T>
void max_min_on_sets(const char* name, void (*max)(T*, const T*, int, int, int, int, T*, long*), ToAll<T>* min) {
  reduce_on_sets<T>(name, max, [](T a, T b) { return a < b ? b : a; });
  reduce_on_sets<T>(name, min, [](T a, T b) { return b < a ? b : a; });
}
template <class T>
void bits_on_sets(const char* name, void (*all)(T*, const T*, int, int, int, int, T*, long*), ToAll<T>* any,
                  ToAll<T>* parity) {
  reduce_on_sets<T>(name, all, [](T a, T b) { return static_cast<T>(a & b); });
  reduce_on_sets<T>(name, any, [](T a, T b) { return static_cast<T>(a | b); });
  reduce_on_sets<T>(name, parity, [](T a, T b) { return static_cast<T>(a ^ b); });
}

// On return all members have entered; barrier also completes puts.
template <class Synchronise>
void check_synchronise(const char* name, const Synchronise& synchronise, bool completes_puts) {
  const Note note(name);
  Sync sync;
  Symmetric<int> arrived, data(64);
  for (const Set& set : sets()) {
    *arrived = 0;
    shmem_barrier_all();
    if (set.has(me())) {
      long* const p_sync = sync.next();
      const int home = set.pe(0), next = set.pe((set.index_of(me()) + 1) % set.size);
      for (int round = 1; round <= 20; ++round) {
        shmem_int_atomic_inc(arrived.get(), home);
        int block[64];
        for (int& word : block) word = round + me();
        shmem_int_put_nbi(data.get(), block, 64, next);
        if (!completes_puts) shmem_quiet();
        // Section 9.10: successive barriers or syncs of one set may use the same array.
        synchronise(set, p_sync);
        CHECK(shmem_int_atomic_fetch(arrived.get(), home) >= round * set.size);
        const int previous = set.pe((set.index_of(me()) + set.size - 1) % set.size);
        CHECK_EQUAL(data[63], round + previous);
        synchronise(set, p_sync);
      }
    } else {
      sync.next();
    }
    shmem_barrier_all();
  }
  sync.check_restored();
}

}  // namespace

// clang-format off
#define MOVES(P, BITS, T) exercise_moves<T>(MoveRow{#P " forms of " #BITS " bits", P##_broadcast##BITS,           \
  P##_collect##BITS, P##_fcollect##BITS, P##_alltoall##BITS, P##_alltoalls##BITS});
#define SUM_PROD(P, N) sum_on_sets(#P "_" #N "_sum", P##_##N##_sum_to_all);                                        \
  prod_on_sets(#P "_" #N "_prod", P##_##N##_prod_to_all);
#define MAX_MIN(P, N) max_min_on_sets(#P "_" #N "_max_min", P##_##N##_max_to_all, P##_##N##_min_to_all);
#define BITS(P, N) bits_on_sets(#P "_" #N "_bits", P##_##N##_and_to_all, P##_##N##_or_to_all, P##_##N##_xor_to_all);
#define ALL_TO_ALL(P)                                                                                              \
  SUM_PROD(P, short) SUM_PROD(P, int) SUM_PROD(P, long) SUM_PROD(P, longlong) SUM_PROD(P, float)                   \
  SUM_PROD(P, double) SUM_PROD(P, longdouble) SUM_PROD(P, complexf) SUM_PROD(P, complexd)                          \
  MAX_MIN(P, short) MAX_MIN(P, int) MAX_MIN(P, long) MAX_MIN(P, longlong) MAX_MIN(P, float)                        \
  MAX_MIN(P, double) MAX_MIN(P, longdouble)                                                                        \
  BITS(P, short) BITS(P, int) BITS(P, long) BITS(P, longlong)
// clang-format on

PE_TEST(data_moves_on_active_sets){MOVES(shmem, 32, int32_t)
                                       MOVES(shmem, 64, int64_t)} PE_TEST(profiling_names_move_data_on_active_sets){
    MOVES(pshmem, 32, int32_t) MOVES(pshmem, 64, int64_t)} PE_TEST(reductions_on_active_sets){
    ALL_TO_ALL(shmem)} PE_TEST(profiling_names_reduce_on_active_sets){ALL_TO_ALL(pshmem)}

PE_TEST(barrier_and_sync_on_active_sets) {
  const auto barrier = [](const Set& s, long* p) { shmem_barrier(s.start, s.log_stride, s.size, p); };
  const auto profiling_barrier = [](const Set& s, long* p) { pshmem_barrier(s.start, s.log_stride, s.size, p); };
  const auto sync = [](const Set& s, long* p) { shmem_sync(s.start, s.log_stride, s.size, p); };
  const auto profiling_sync = [](const Set& s, long* p) { pshmem_sync(s.start, s.log_stride, s.size, p); };
  check_synchronise("shmem_barrier", barrier, true);
  check_synchronise("pshmem_barrier", profiling_barrier, true);
  check_synchronise("shmem_sync", sync, false);
  check_synchronise("pshmem_sync", profiling_sync, false);
}

// Section 9.10: sets that overlap in some PEs, each with its own pSync, are in use at the same time.
PE_TEST_MIN(overlapping_sets_with_different_arrays_do_not_mix, 3) {
  const int n = pes();
  const Set doorbell{0, 0, n - 1}, back{1, 0, n - 1};
  Symmetric<long> source(2), sum(2), work(2 * SHMEM_REDUCE_MIN_WRKDATA_SIZE), sync(2 * kSyncSize);
  for (std::size_t i = 0; i < 2 * kSyncSize; ++i) sync[i] = SHMEM_SYNC_VALUE;
  shmem_barrier_all();
  int bad = 0;
  for (int round = 0; round < 200; ++round) {
    source[0] = me() + round;
    source[1] = 2 * me() - round;
    if (doorbell.has(me())) {
      shmem_long_sum_to_all(&sum[0], &source[0], 1, 0, 0, n - 1, work.get(), sync.get());
      bad += sum[0] != (n - 1) * (n - 2) / 2 + static_cast<long>(round) * (n - 1);
    }
    if (back.has(me())) {
      shmem_long_sum_to_all(&sum[1], &source[1], 1, 1, 0, n - 1, work.get() + SHMEM_REDUCE_MIN_WRKDATA_SIZE,
                            sync.get() + kSyncSize);
      bad += sum[1] != static_cast<long>(n) * (n - 1) - static_cast<long>(round) * (n - 1);
    }
    shmem_barrier_all();
  }
  CHECK_EQUAL(bad, 0);
}

// Long data, and a root that is not the first PE: its dest stays as it is.
PE_TEST(long_broadcasts_on_active_sets) {
  constexpr std::size_t kMany = 100'000;
  Symmetric<std::int64_t> source(kMany), dest(kMany);
  Sync sync;
  for (const Set& set : sets()) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{3000}, kMany}) {
      for (std::size_t i = 0; i < count; ++i) {
        source[i] = me() * 1'000'000 + static_cast<std::int64_t>(i);
        dest[i] = -1;
      }
      shmem_barrier_all();
      long* const p_sync = sync.next();
      const int root = set.size - 1;
      if (set.has(me())) {
        shmem_broadcast64(dest.get(), source.get(), count, root, set.start, set.log_stride, set.size, p_sync);
        const int from = set.pe(root);
        std::size_t bad = 0;
        for (std::size_t i = 0; i < count; ++i)
          bad += dest[i] != (me() == from ? -1 : from * 1'000'000 + static_cast<std::int64_t>(i));
        CHECK_EQUAL(bad, 0u);
      }
      shmem_barrier_all();
    }
  }
  sync.check_restored();
}

// More arrays than there are teams for active sets; each is used more than once.
PE_TEST_MIN(many_arrays_work_alike, 2) {
  constexpr std::size_t kArrays = 80;
  Symmetric<long> source(1), sum(1), all(static_cast<std::size_t>(pes())), work(SHMEM_REDUCE_MIN_WRKDATA_SIZE);
  Symmetric<long> arrays(kArrays * kSyncSize);
  for (std::size_t i = 0; i < kArrays * kSyncSize; ++i) arrays[i] = SHMEM_SYNC_VALUE;
  shmem_barrier_all();
  int bad = 0;
  for (long round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < kArrays; ++i) {
      long* const p_sync = arrays.get() + i * kSyncSize;
      source[0] = me() + round * 100 + static_cast<long>(i);
      shmem_long_sum_to_all(sum.get(), source.get(), 1, 0, 0, pes(), work.get(), p_sync);
      bad += sum[0] != pes() * (pes() - 1) / 2 + (round * 100 + static_cast<long>(i)) * pes();
      shmem_barrier_all();
      shmem_fcollect64(all.get(), source.get(), 1, 0, 0, pes(), p_sync);
      for (int pe = 0; pe < pes(); ++pe)
        bad += all[static_cast<std::size_t>(pe)] != pe + round * 100 + static_cast<long>(i);
      shmem_barrier_all();
    }
  }
  CHECK_EQUAL(bad, 0);
  long changed = 0;
  for (std::size_t i = 0; i < kArrays * kSyncSize; ++i) changed += arrays[i] != SHMEM_SYNC_VALUE;
  CHECK_EQUAL(changed, 0L);
}
