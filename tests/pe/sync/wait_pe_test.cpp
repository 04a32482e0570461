// Every wait and test routine of section 9.11 for every type, under both names.
#include <pshmem.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "../../support/pe_test.hpp"
#include "../../support/types.hpp"

namespace {

using namespace pe_test;

template <class T>
struct WaitRow {
  const char* name;
  void (*set)(T*, T, int);  // how the other PE makes the comparison true
  void (*wait_until)(T*, int, T);
  void (*all)(T*, size_t, const int*, int, T);
  size_t (*any)(T*, size_t, const int*, int, T);
  size_t (*some)(T*, size_t, size_t*, const int*, int, T);
  void (*all_vector)(T*, size_t, const int*, int, const T*);
  size_t (*any_vector)(T*, size_t, const int*, int, const T*);
  size_t (*some_vector)(T*, size_t, size_t*, const int*, int, const T*);
  int (*test)(T*, int, T);
  int (*test_all)(T*, size_t, const int*, int, T);
  size_t (*test_any)(T*, size_t, const int*, int, T);
  size_t (*test_some)(T*, size_t, size_t*, const int*, int, T);
  int (*test_all_vector)(T*, size_t, const int*, int, const T*);
  size_t (*test_any_vector)(T*, size_t, const int*, int, const T*);
  size_t (*test_some_vector)(T*, size_t, size_t*, const int*, int, const T*);
};

constexpr std::size_t kCount = 6;
constexpr std::size_t kNone = SIZE_MAX;

template <class T>
void comparisons(const WaitRow<T>& row, T* word) {
  struct Expectation {
    int cmp;
    bool below, same, above;
  };
  constexpr Expectation table[] = {{SHMEM_CMP_EQ, false, true, false}, {SHMEM_CMP_NE, true, false, true},
                                   {SHMEM_CMP_GT, true, false, false}, {SHMEM_CMP_GE, true, true, false},
                                   {SHMEM_CMP_LT, false, false, true}, {SHMEM_CMP_LE, false, true, true}};
  for (const Expectation& e : table) {
    *word = 50;
    CHECK_EQUAL(row.test(word, e.cmp, 49), static_cast<int>(e.below));
    CHECK_EQUAL(row.test(word, e.cmp, 50), static_cast<int>(e.same));
    CHECK_EQUAL(row.test(word, e.cmp, 51), static_cast<int>(e.above));
    row.wait_until(word, e.cmp, e.below ? 49 : e.same ? 50 : 51);  // true at once: must return
  }
  // Signedness: -1 lies below 1 for signed types and is the largest value of unsigned ones.
  *word = static_cast<T>(-1);
  CHECK_EQUAL(row.test(word, SHMEM_CMP_LT, 1), static_cast<int>(std::numeric_limits<T>::is_signed));
  *word = std::numeric_limits<T>::max();
  CHECK_EQUAL(row.test(word, SHMEM_CMP_GT, std::numeric_limits<T>::max() - 1), 1);
}

// Sections 9.11.2 to 9.11.14: no element, or all masked out.
template <class T>
void empty_sets(const WaitRow<T>& row, T* words) {
  const int masked[kCount] = {1, 2, -1, 1, 1, 7};
  const T values[kCount] = {9, 9, 9, 9, 9, 9};
  size_t indices[kCount];
  for (const std::size_t n : {std::size_t{0}, kCount}) {
    row.all(words, n, masked, SHMEM_CMP_EQ, 9);
    row.all_vector(words, n, masked, SHMEM_CMP_EQ, values);
    CHECK_EQUAL(row.any(words, n, masked, SHMEM_CMP_EQ, 9), kNone);
    CHECK_EQUAL(row.any_vector(words, n, masked, SHMEM_CMP_EQ, values), kNone);
    CHECK_EQUAL(row.some(words, n, indices, masked, SHMEM_CMP_EQ, 9), 0u);
    CHECK_EQUAL(row.some_vector(words, n, indices, masked, SHMEM_CMP_EQ, values), 0u);
    CHECK_EQUAL(row.test_all(words, n, masked, SHMEM_CMP_EQ, 9), 1);
    CHECK_EQUAL(row.test_all_vector(words, n, masked, SHMEM_CMP_EQ, values), 1);
    CHECK_EQUAL(row.test_any(words, n, masked, SHMEM_CMP_EQ, 9), kNone);
    CHECK_EQUAL(row.test_any_vector(words, n, masked, SHMEM_CMP_EQ, values), kNone);
    CHECK_EQUAL(row.test_some(words, n, indices, masked, SHMEM_CMP_EQ, 9), 0u);
    CHECK_EQUAL(row.test_some_vector(words, n, indices, masked, SHMEM_CMP_EQ, values), 0u);
  }
  CHECK_EQUAL(row.any(words, 0, nullptr, SHMEM_CMP_EQ, 9), kNone);
  CHECK_EQUAL(row.test_all(words, 0, nullptr, SHMEM_CMP_EQ, 9), 1);
}

bool is_set_of(std::vector<size_t> found, std::vector<size_t> expected) {
  std::sort(found.begin(), found.end());
  return found == expected;
}

// Without communication: true comparisons, masks, and reported indices.
template <class T>
void reports(const WaitRow<T>& row, T* words) {
  const int mask_1[kCount] = {0, 1, 0, 0, 0, 0};
  const T own[kCount] = {10, 21, 12, 23, 14, 15};
  for (std::size_t i = 0; i < kCount; ++i) words[i] = static_cast<T>(10 + i);  // elements 0, 2, 4, 5 match
  size_t found[kCount];
  CHECK_EQUAL(row.test_all(words, kCount, nullptr, SHMEM_CMP_GE, 10), 1);
  CHECK_EQUAL(row.test_all(words, kCount, nullptr, SHMEM_CMP_NE, 11), 0);
  CHECK_EQUAL(row.test_all(words, kCount, mask_1, SHMEM_CMP_NE, 11), 1);
  CHECK_EQUAL(row.test_any(words, kCount, nullptr, SHMEM_CMP_EQ, 13), 3u);
  CHECK_EQUAL(row.test_any(words, kCount, mask_1, SHMEM_CMP_EQ, 11), kNone);
  size_t n = row.test_some(words, kCount, found, mask_1, SHMEM_CMP_LE, 13);
  CHECK(n <= kCount && is_set_of({found, found + n}, {0, 2, 3}));
  CHECK_EQUAL(row.test_some(words, kCount, found, nullptr, SHMEM_CMP_GT, 15), 0u);
  n = row.some(words, kCount, found, nullptr, SHMEM_CMP_GT, 13);
  CHECK(n <= kCount && is_set_of({found, found + n}, {4, 5}));
  CHECK_EQUAL(row.any(words, kCount, nullptr, SHMEM_CMP_LT, 11), 0u);
  row.all(words, kCount, mask_1, SHMEM_CMP_NE, 11);

  CHECK_EQUAL(row.test_all_vector(words, kCount, nullptr, SHMEM_CMP_EQ, own), 0);
  const int mask_13[kCount] = {0, 1, 0, 1, 0, 0};
  CHECK_EQUAL(row.test_all_vector(words, kCount, mask_13, SHMEM_CMP_EQ, own), 1);
  row.all_vector(words, kCount, mask_13, SHMEM_CMP_EQ, own);
  const int only_4[kCount] = {1, 1, 1, 0, 0, 1};
  CHECK_EQUAL(row.test_any_vector(words, kCount, only_4, SHMEM_CMP_EQ, own), 4u);
  CHECK_EQUAL(row.any_vector(words, kCount, only_4, SHMEM_CMP_EQ, own), 4u);
  n = row.test_some_vector(words, kCount, found, nullptr, SHMEM_CMP_NE, own);
  CHECK(n <= kCount && is_set_of({found, found + n}, {1, 3}));
  n = row.some_vector(words, kCount, found, nullptr, SHMEM_CMP_EQ, own);
  CHECK(n <= kCount && is_set_of({found, found + n}, {0, 2, 4, 5}));
}

// Section 9.11.3: repeated calls report every satisfied element in the end.
template <class T>
void rotation(const WaitRow<T>& row, T* words) {
  const T ones[kCount] = {1, 1, 1, 1, 1, 1};
  for (int form = 0; form < 4; ++form) {
    unsigned seen = 0;
    for (std::size_t i = 0; i < kCount; ++i) words[i] = 1;
    for (int i = 0; i < 1000 && seen != (1u << kCount) - 1; ++i) {
      const std::size_t at = form == 0   ? row.test_any(words, kCount, nullptr, SHMEM_CMP_EQ, 1)
                             : form == 1 ? row.any(words, kCount, nullptr, SHMEM_CMP_EQ, 1)
                             : form == 2 ? row.test_any_vector(words, kCount, nullptr, SHMEM_CMP_EQ, ones)
                                         : row.any_vector(words, kCount, nullptr, SHMEM_CMP_EQ, ones);
      if (!CHECK(at < kCount)) break;
      seen |= 1u << at;
    }
    CHECK_EQUAL(seen, (1u << kCount) - 1);
  }
}

// The left neighbour makes the comparisons come true, one element after the other, in a scrambled order.
template <class T>
void remote_updates(const WaitRow<T>& row, T* words) {
  const T twos[kCount] = {2, 2, 2, 2, 2, 2};
  for (int form = 0; form < 7; ++form) {
    for (std::size_t i = 0; i < kCount; ++i) words[i] = 0;
    shmem_barrier_all();
    for (std::size_t i = 0; i < kCount; ++i) row.set(&words[(i * 5 + 1) % kCount], 2, right());
    if (form == 0) {
      row.wait_until(&words[3], SHMEM_CMP_EQ, 2);
      CHECK_EQUAL(words[3], T{2});
    } else if (form == 1) {
      row.all(words, kCount, nullptr, SHMEM_CMP_GT, 1);
    } else if (form == 2) {
      row.all_vector(words, kCount, nullptr, SHMEM_CMP_EQ, twos);
    } else {
      int done[kCount] = {};
      std::size_t left_over = kCount;
      while (left_over > 0) {
        size_t found[kCount];
        size_t n = 1;
        if (form == 3) found[0] = row.any(words, kCount, done, SHMEM_CMP_EQ, 2);
        if (form == 4) found[0] = row.any_vector(words, kCount, done, SHMEM_CMP_EQ, twos);
        if (form == 5) n = row.some(words, kCount, found, done, SHMEM_CMP_NE, 0);
        if (form == 6) n = row.some_vector(words, kCount, found, done, SHMEM_CMP_GE, twos);
        if (!CHECK(n > 0 && n <= left_over)) break;
        for (size_t i = 0; i < n; ++i) {
          CHECK(found[i] < kCount && done[found[i] % kCount] == 0);
          done[found[i] % kCount] = 1;
        }
        left_over -= n;
      }
    }
    if (form != 0) CHECK_EQUAL(row.test_all(words, kCount, nullptr, SHMEM_CMP_EQ, 2), 1);
    shmem_barrier_all();
  }
}

template <class T>
void exercise(const WaitRow<T>& row) {
  const Note note(row.name);
  Symmetric<T> words(kCount);
  comparisons(row, words.get());
  empty_sets(row, words.get());
  reports(row, words.get());
  rotation(row, words.get());
  remote_updates(row, words.get());
}

template <class T>
void old_wait(const char* name, void (*p)(T*, T, int), void (*wait)(T*, T), void (*wait_until)(T*, int, T)) {
  const Note note(name);
  Symmetric<T> word;
  p(word.get(), 4, right());
  wait(word.get(), 0);  // returns once the word differs
  CHECK_EQUAL(*word, T{4});
  wait(word.get(), 3);
  shmem_barrier_all();
  p(word.get(), 9, right());
  wait_until(word.get(), SHMEM_CMP_GT, 8);
  CHECK_EQUAL(*word, T{9});
}

template <class T>
void short_forms(const char* name, void (*p)(T*, T, int), void (*wait_until)(T*, int, T), int (*test)(T*, int, T)) {
  const Note note(name);
  Symmetric<T> word;
  CHECK_EQUAL(test(word.get(), SHMEM_CMP_GT, 5), 0);
  shmem_barrier_all();
  p(word.get(), 6, right());
  wait_until(word.get(), SHMEM_CMP_EQ, 6);
  CHECK_EQUAL(test(word.get(), SHMEM_CMP_GT, 5), 1);
  *word = static_cast<T>(-1);
  CHECK_EQUAL(test(word.get(), SHMEM_CMP_LT, 0), static_cast<int>(std::numeric_limits<T>::is_signed));
}

}  // namespace

// clang-format off
#define WAIT(P, N, T) exercise(WaitRow<T>{#P "_" #N, shmem_##N##_atomic_set, P##_##N##_wait_until,                   \
  P##_##N##_wait_until_all, P##_##N##_wait_until_any, P##_##N##_wait_until_some, P##_##N##_wait_until_all_vector,    \
  P##_##N##_wait_until_any_vector, P##_##N##_wait_until_some_vector, P##_##N##_test, P##_##N##_test_all,             \
  P##_##N##_test_any, P##_##N##_test_some, P##_##N##_test_all_vector, P##_##N##_test_any_vector,                     \
  P##_##N##_test_some_vector});
#define OLD_WAIT(P, N) old_wait(#P "_" #N "_wait", shmem_##N##_p, P##_##N##_wait, P##_##N##_wait_until);
#define SHORT_WAIT(P, N) short_forms(#P "_" #N, shmem_##N##_p, P##_##N##_wait_until, P##_##N##_test);
// clang-format on

PE_TEST(every_wait_and_test_of_every_type){
    TEST_AMO_INTEGER_TYPES(WAIT, shmem)} PE_TEST(profiling_names_of_waits_do_the_same){
    TEST_AMO_INTEGER_TYPES(WAIT, pshmem)}

PE_TEST(deprecated_waits_still_work) {
  OLD_WAIT(shmem, short)
  OLD_WAIT(shmem, int)
  OLD_WAIT(shmem, long)
  OLD_WAIT(shmem, longlong) OLD_WAIT(pshmem, short) OLD_WAIT(pshmem, int) OLD_WAIT(pshmem, long)
      OLD_WAIT(pshmem, longlong) SHORT_WAIT(shmem, short) SHORT_WAIT(shmem, ushort) SHORT_WAIT(pshmem, short)
          SHORT_WAIT(pshmem, ushort) void (*const wait)(long*, long) = shmem_wait;
  void (*const profiling_wait)(long*, long) = pshmem_wait;
  void (*const wait_until)(long*, int, long) = shmem_wait_until;
  void (*const profiling_wait_until)(long*, int, long) = pshmem_wait_until;
  old_wait<long>("shmem_wait", shmem_long_p, wait, wait_until);
  old_wait<long>("pshmem_wait", shmem_long_p, profiling_wait, profiling_wait_until);
}

// Section 9.11: the waiter sees what the initiator ordered before the update.
PE_TEST_MIN(a_wait_acquires_the_data_before_it, 2) {
  constexpr int kRounds = 3000;
  Symmetric<int> data(64);
  Symmetric<int> flag;
  Symmetric<int> ack;
  for (int i = 1; i <= kRounds; ++i) {
    if (me() == 0) {
      int block[64];
      for (int& word : block) word = i;
      shmem_int_put(data.get(), block, 64, 1);
      shmem_fence();
      shmem_int_atomic_set(flag.get(), i, 1);
      shmem_int_wait_until(ack.get(), SHMEM_CMP_GE, i);
      CHECK_EQUAL(*ack, i);
    } else if (me() == 1) {
      if (i % 2 == 0)
        shmem_int_wait_until(flag.get(), SHMEM_CMP_GE, i);
      else
        while (!shmem_int_test(flag.get(), SHMEM_CMP_GE, i)) {
        }
      int bad = 0;
      for (std::size_t k = 0; k < 64; ++k) bad += data[k] != i;
      CHECK_EQUAL(bad, 0);
      shmem_int_atomic_set(ack.get(), i, 0);
    }
  }
}

PE_TEST(comparison_constants_are_distinct_constant_expressions) {
  switch (SHMEM_CMP_EQ) {
    case SHMEM_CMP_NE:
    case SHMEM_CMP_GT:
    case SHMEM_CMP_GE:
    case SHMEM_CMP_LT:
    case SHMEM_CMP_LE:
      CHECK(false);
      break;
    case SHMEM_CMP_EQ:
      CHECK(true);
      break;
  }
}
