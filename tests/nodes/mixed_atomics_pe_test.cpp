// Atomic operations on the same words at the same time by PEs of the word's node, which use the processor's
// instructions, and by PEs of other nodes, which send messages. No update may be lost: all totals are exact.
#include <pshmem.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "../support/pe_test.hpp"
#include "../support/random.hpp"

namespace {

using namespace pe_test;

constexpr int kRounds = 100;  // each makes about ten operations, some of them on every PE

// Collects what each PE has contributed to each word, as totals that do not depend on atomics.
std::vector<std::uint64_t> totals_of(const std::vector<std::uint64_t>& mine, bool by_xor) {
  const Symmetric<std::uint64_t> all(mine.size());
  std::copy(mine.begin(), mine.end(), all.get());
  shmem_barrier_all();
  std::vector<std::uint64_t> totals(mine.size());
  std::vector<std::uint64_t> theirs(mine.size());
  for (int pe = 0; pe < pes(); ++pe) {
    shmem_uint64_get(theirs.data(), all.get(), theirs.size(), pe);
    for (std::size_t i = 0; i < totals.size(); ++i) totals[i] = by_xor ? totals[i] ^ theirs[i] : totals[i] + theirs[i];
  }
  shmem_barrier_all();
  return totals;
}

std::size_t at(int pe) { return static_cast<std::size_t>(pe); }

// Results of non-blocking fetches, which are valid after the next quiet.
template <class T>
struct Fetched {
  std::vector<T> values;
  std::size_t count = 0;
  explicit Fetched(std::size_t most) : values(most) {}
  T* next() { return &values[count++]; }
};

// ---- one word to which all PEs add: additions, increments, and additions by compare-and-swap ----

template <class Ops, class T = typename Ops::type>
void add_by_every_routine(T* word, int pe, T value, Fetched<T>& late) {
  Ops::fetch_add(word, value, pe);
  Ops::add(word, value, pe);
  Ops::fetch_add_nbi(late.next(), word, value, pe);
  Ops::inc(word, pe);
  Ops::fetch_inc(word, pe);
  Ops::fetch_inc_nbi(late.next(), word, pe);
  for (T seen = Ops::fetch(word, pe);;) {
    const auto next = static_cast<T>(static_cast<std::uint64_t>(seen) + static_cast<std::uint64_t>(value));
    const T found = Ops::compare_swap(word, seen, next, pe);
    if (found == seen) break;
    seen = found;
  }
}

template <class Ops>
void sums_are_exact() {
  using T = typename Ops::type;
  const Note note(Ops::name);
  const Symmetric<T> word;
  Random random(static_cast<std::uint64_t>(me()) + 1);
  std::vector<std::uint64_t> added(at(pes()));
  Fetched<T> late(std::size_t{2} * kRounds);
  shmem_barrier_all();
  for (int i = 0; i < kRounds; ++i) {
    const int pe = random.below(pes());
    const auto value = static_cast<T>(random.below(1000));
    add_by_every_routine<Ops>(word.get(), pe, value, late);
    added[at(pe)] += static_cast<std::uint64_t>(value) * 4 + 3;
  }
  shmem_barrier_all();
  const auto total = totals_of(added, false);
  CHECK_EQUAL(static_cast<T>(total[at(me())]), *word);
  // A fetch returns a value that the word held at some time: never more than the total.
  const auto largest = static_cast<T>(*std::max_element(total.begin(), total.end()));
  CHECK(std::all_of(late.values.begin(), late.values.end(), [&](T value) { return value >= 0 && value <= largest; }));
  shmem_barrier_all();
}

// Fetching increments return every number once: their sum is known, and the numbers of one PE increase.
template <class Ops>
void numbers_are_given_once() {
  using T = typename Ops::type;
  const Note note(Ops::name);
  const Symmetric<T> word;
  shmem_barrier_all();
  std::vector<std::uint64_t> drawn(2);
  bool grows = true;
  T last = 0;
  for (int i = 0; i < kRounds; ++i) {
    const T number = Ops::fetch_inc(word.get(), 0);
    grows = grows && (i == 0 || number > last);
    last = number;
    drawn[0] += static_cast<std::uint64_t>(number);
    ++drawn[1];
  }
  CHECK(grows);
  const auto total = totals_of(drawn, false);
  CHECK_EQUAL(total[0], total[1] * (total[1] - 1) / 2);
  if (me() == 0) CHECK_EQUAL(static_cast<std::uint64_t>(*word), total[1]);
  shmem_barrier_all();
}

// ---- swap: the values stored are those returned and the one that is left ----

template <class Ops>
void swaps_lose_nothing() {
  using T = typename Ops::type;
  const Note note(Ops::name);
  const Symmetric<T> word;
  Random random(static_cast<std::uint64_t>(me()) + 7);
  const auto token = [](int i) { return static_cast<T>(1 + me() * kRounds * 2 + i); };  // exact in a float, too
  std::vector<std::uint64_t> left(at(pes()));  // for each PE's word: values stored minus values returned; wraps
  Fetched<T> late(kRounds);
  std::vector<int> late_from;
  shmem_barrier_all();
  for (int i = 0; i < kRounds; ++i) {
    const int pe = random.below(pes());
    left[at(pe)] += static_cast<std::uint64_t>(token(2 * i)) + static_cast<std::uint64_t>(token(2 * i + 1));
    left[at(pe)] -= static_cast<std::uint64_t>(Ops::swap(word.get(), token(2 * i), pe));
    Ops::swap_nbi(late.next(), word.get(), token(2 * i + 1), pe);
    late_from.push_back(pe);
  }
  shmem_quiet();
  for (std::size_t i = 0; i < late.count; ++i) left[at(late_from[i])] -= static_cast<std::uint64_t>(late.values[i]);
  const auto total = totals_of(left, false);
  CHECK_EQUAL(total[at(me())], static_cast<std::uint64_t>(*word));
  shmem_barrier_all();
}

// All PEs set and read the word: a value that is read was written by one PE, as a whole.
template <class Ops>
void no_value_is_torn() {
  using T = typename Ops::type;
  const Note note(Ops::name);
  const Symmetric<T> word;
  // Both halves of the word hold the number of the writer.
  const auto value_of = [](int pe) {
    if constexpr (std::is_integral_v<T>) {
      const std::uint64_t half = static_cast<std::uint64_t>(pe) + 1;
      return static_cast<T>(half << (sizeof(T) * 4) | half);
    } else {
      return static_cast<T>(pe + 1) / T{3};
    }
  };
  Random random(static_cast<std::uint64_t>(me()) + 3);
  Fetched<T> read(std::size_t{2} * kRounds);
  shmem_barrier_all();
  for (int i = 0; i < kRounds; ++i) {
    const int pe = random.below(pes());
    Ops::set(word.get(), value_of(me()), pe);
    *read.next() = Ops::fetch(word.get(), pe);
    Ops::fetch_nbi(read.next(), word.get(), pe);
  }
  shmem_barrier_all();
  const auto is_known = [&](T value) {
    for (int pe = 0; pe < pes(); ++pe) {
      if (value == value_of(pe)) return true;
    }
    return value == T{};
  };
  CHECK(std::all_of(read.values.begin(), read.values.end(), is_known));
  shmem_barrier_all();
}

// ---- bits: each PE sets and clears one bit of its own; all PEs toggle the bits above those ----

template <class Ops, class T = typename Ops::type>
void toggle(T* word, int pe, T mask, int how, Fetched<T>& late) {
  if (how == 0) {
    Ops::fetch_xor(word, mask, pe);
  } else if (how == 1) {
    Ops::bit_xor(word, mask, pe);
  } else {
    Ops::fetch_xor_nbi(late.next(), word, mask, pe);
  }
}

// Returns whether the word held this PE's bit as this PE had left it.
template <class Ops, class T = typename Ops::type>
bool change_own_bit(T* word, int pe, T bit, bool& is_set, int how) {
  const T clear_others = static_cast<T>(~bit);
  T before = is_set ? bit : T{0};
  if (how == 0) {
    before = is_set ? Ops::fetch_and(word, clear_others, pe) : Ops::fetch_or(word, bit, pe);
  } else if (how == 1) {
    if (is_set) {
      Ops::fetch_and_nbi(&before, word, clear_others, pe);
    } else {
      Ops::fetch_or_nbi(&before, word, bit, pe);
    }
    shmem_quiet();
  } else if (is_set) {
    Ops::bit_and(word, clear_others, pe);
    shmem_quiet();
  } else {
    Ops::bit_or(word, bit, pe);
    shmem_quiet();
  }
  const bool right = ((before & bit) != 0) == is_set;
  is_set = !is_set;
  return right;
}

template <class Ops>
void bits_are_exact() {
  using T = typename Ops::type;
  constexpr int kOwners = 16;  // bits from here on are toggled by all PEs
  const Note note(Ops::name);
  const Symmetric<T> word;
  const auto bit = static_cast<T>(T{1} << (me() % kOwners));
  const auto upper = static_cast<T>(~((T{1} << kOwners) - 1));
  Random random(static_cast<std::uint64_t>(me()) + 11);
  std::vector<std::uint64_t> toggled(at(pes()));
  std::vector<char> is_set(at(pes()));
  Fetched<T> late(kRounds);
  bool right = true;
  shmem_barrier_all();
  for (int i = 0; i < kRounds; ++i) {
    const int pe = random.below(pes());
    const auto mask = static_cast<T>(random.next() & static_cast<std::uint64_t>(upper));
    toggle<Ops>(word.get(), pe, mask, i % 3, late);
    toggled[at(pe)] ^= static_cast<std::uint64_t>(mask);
    if (me() >= kOwners) continue;
    bool set = is_set[at(pe)] != 0;
    right = change_own_bit<Ops>(word.get(), pe, bit, set, random.below(3)) && right;
    is_set[at(pe)] = set;
    if (set) {
      toggled[at(pe)] |= static_cast<std::uint64_t>(bit);
    } else {
      toggled[at(pe)] &= ~static_cast<std::uint64_t>(bit);
    }
  }
  CHECK(right);
  shmem_barrier_all();
  const auto total = totals_of(toggled, true);
  CHECK_EQUAL(static_cast<T>(total[at(me())]), *word);
  shmem_barrier_all();
}

}  // namespace

// clang-format off
#define EXTENDED(NAME)                                                       \
    static constexpr const char* name = #NAME;                               \
    static constexpr auto fetch = shmem_##NAME##_atomic_fetch;               \
    static constexpr auto set = shmem_##NAME##_atomic_set;                   \
    static constexpr auto swap = shmem_##NAME##_atomic_swap;                 \
    static constexpr auto fetch_nbi = shmem_##NAME##_atomic_fetch_nbi;       \
    static constexpr auto swap_nbi = shmem_##NAME##_atomic_swap_nbi;
#define STANDARD(NAME)                                                       \
    static constexpr auto compare_swap = shmem_##NAME##_atomic_compare_swap; \
    static constexpr auto fetch_inc = shmem_##NAME##_atomic_fetch_inc;       \
    static constexpr auto inc = shmem_##NAME##_atomic_inc;                   \
    static constexpr auto fetch_add = shmem_##NAME##_atomic_fetch_add;       \
    static constexpr auto add = shmem_##NAME##_atomic_add;                   \
    static constexpr auto fetch_inc_nbi = shmem_##NAME##_atomic_fetch_inc_nbi; \
    static constexpr auto fetch_add_nbi = shmem_##NAME##_atomic_fetch_add_nbi;
#define BITWISE(NAME)                                                        \
    static constexpr auto fetch_and = shmem_##NAME##_atomic_fetch_and;       \
    static constexpr auto bit_and = shmem_##NAME##_atomic_and;               \
    static constexpr auto fetch_or = shmem_##NAME##_atomic_fetch_or;         \
    static constexpr auto bit_or = shmem_##NAME##_atomic_or;                 \
    static constexpr auto fetch_xor = shmem_##NAME##_atomic_fetch_xor;       \
    static constexpr auto bit_xor = shmem_##NAME##_atomic_xor;               \
    static constexpr auto fetch_and_nbi = shmem_##NAME##_atomic_fetch_and_nbi; \
    static constexpr auto fetch_or_nbi = shmem_##NAME##_atomic_fetch_or_nbi; \
    static constexpr auto fetch_xor_nbi = shmem_##NAME##_atomic_fetch_xor_nbi;
#define FLOATS(NAME, T)                                        \
  struct NAME##_ops { using type = T; EXTENDED(NAME) };        \
  PE_TEST(swaps_of_##NAME) { swaps_lose_nothing<NAME##_ops>(); no_value_is_torn<NAME##_ops>(); }
#define INTEGERS(NAME, T)                                      \
  struct NAME##_ops { using type = T; EXTENDED(NAME) STANDARD(NAME) }; \
  PE_TEST(sums_of_##NAME) { sums_are_exact<NAME##_ops>(); numbers_are_given_once<NAME##_ops>(); } \
  PE_TEST(swaps_of_##NAME) { swaps_lose_nothing<NAME##_ops>(); no_value_is_torn<NAME##_ops>(); }
#define BITS(NAME, T)                                          \
  struct NAME##_bits { using type = T; static constexpr const char* name = #NAME; BITWISE(NAME) }; \
  PE_TEST(bits_of_##NAME) { bits_are_exact<NAME##_bits>(); }
// clang-format on

FLOATS(float, float)
FLOATS(double, double)
INTEGERS(int, int)
INTEGERS(long, long)
INTEGERS(longlong, long long)
INTEGERS(uint, unsigned int)
INTEGERS(ulong, unsigned long)
INTEGERS(ulonglong, unsigned long long)
INTEGERS(int32, int32_t)
INTEGERS(int64, int64_t)
INTEGERS(uint32, uint32_t)
INTEGERS(uint64, uint64_t)
INTEGERS(size, size_t)
INTEGERS(ptrdiff, ptrdiff_t)
BITS(uint, unsigned int)
BITS(ulong, unsigned long)
BITS(ulonglong, unsigned long long)
BITS(int32, int32_t)
BITS(int64, int64_t)
BITS(uint32, uint32_t)
BITS(uint64, uint64_t)
