// Reductions and scans of section 9.10.9 and 9.10.10: every type and operator, in place and with separate buffers,
// several lengths.
#define SHMEMX_NO_C99_COMPLEX  // the rows deduce the type from the routine's address
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "../../support/pe_test.hpp"
#include "team_coll_rows.hpp"

namespace {

using namespace pe_test;

constexpr std::size_t kLengths[] = {1, 2, 5, 33, 300};
constexpr std::size_t kMax = 320;

template <class T>
struct Case {
  shmem_team_t team;
  T* dest;
  T* source;
};

// Small terms, so that results are exact in every type; in narrow integers the library and the test wrap alike.
template <class T>
T term(int pe, std::size_t i) {
  return static_cast<T>(static_cast<float>((static_cast<std::size_t>(pe) * 5 + i * 3) % 4 + (i % 7 == 0 ? 2 : 0)));
}

// The PEs whose terms a result contains.
enum class Terms : std::uint8_t { of_all, up_to_this, before_this };

// Runs one operator for all lengths, with separate buffers and in place, and compares with a fold over PEs first..last.
template <class T, class Op, class Term>
void check_fold(const char* what, const Case<T>& c, Reduce<T>* reduce, Term term, Op op, Terms terms = Terms::of_all) {
  if (reduce == nullptr) return;
  const Note note(what);
  const int index = shmem_team_my_pe(c.team);
  const int last =
      terms == Terms::of_all ? shmem_team_n_pes(c.team) - 1 : index - (terms == Terms::before_this ? 1 : 0);
  for (const std::size_t nelems : kLengths) {
    for (const bool in_place : {false, true}) {
      T* const dest = in_place ? c.source : c.dest;
      for (std::size_t i = 0; i < kMax; ++i) {
        c.dest[i] = static_cast<T>(99);
        c.source[i] = i < nelems ? term(index, i) : static_cast<T>(99);
      }
      shmem_team_sync(c.team);
      CHECK_EQUAL(reduce(c.team, dest, c.source, nelems), 0);
      std::size_t bad = 0;
      for (std::size_t i = 0; i < nelems; ++i) {
        T expected = static_cast<T>(0);
        if (last >= 0) expected = term(0, i);
        for (int pe = 1; pe <= last; ++pe) expected = op(expected, term(pe, i));
        bad += !(dest[i] == expected);
        bad += !in_place && !(c.source[i] == term(index, i));  // the source is unchanged
      }
      CHECK_EQUAL(bad, 0u);
      CHECK(dest[nelems] == static_cast<T>(99));
    }
  }
  CHECK_EQUAL(reduce(c.team, nullptr, nullptr, 0), 0);
}

template <class T>
void check_ordered(const ReduceRow<T>& row, const Case<T>& c) {
  if constexpr (requires(T a, T b) { a < b; }) {
    // Both signs for signed types: -1 must not be compared as a large number.
    const auto terms = [](int pe, std::size_t i) {
      const int raw = static_cast<int>((static_cast<std::size_t>(pe) * 7 + i * 5) % 23);
      return static_cast<T>(std::is_signed_v<T> || std::is_floating_point_v<T> ? raw - 11 : raw + 100);
    };
    check_fold(" max", c, row.max, terms, [](T a, T b) { return a < b ? b : a; });
    check_fold(" min", c, row.min, terms, [](T a, T b) { return b < a ? b : a; });
  }
}

template <class T>
void check_bits(const ReduceRow<T>& row, const Case<T>& c) {
  if constexpr (std::is_integral_v<T>) {
    const auto terms = [](int pe, std::size_t i) {
      return static_cast<T>(~((0x9e3779b97f4a7c15ull >> (pe % 5)) & (i * 0x1234567ull + 0x0f0f0f0f0f0f0f0full)));
    };
    check_fold(" and", c, row.all, terms, [](T a, T b) { return static_cast<T>(a & b); });
    check_fold(" or", c, row.any, terms, [](T a, T b) { return static_cast<T>(a | b); });
    check_fold(" xor", c, row.parity, terms, [](T a, T b) { return static_cast<T>(a ^ b); });
  }
}

template <class T>
void exercise(const ReduceRow<T>& row, const std::vector<shmem_team_t>& teams) {
  const Note note(row.name);
  auto* const memory = static_cast<T*>(shmem_calloc(2 * kMax, sizeof(T)));
  const auto plus = [](T a, T b) { return static_cast<T>(a + b); };
  const auto times = [](T a, T b) { return static_cast<T>(a * b); };
  // Factors of 1 and -1 or 2 keep products exact; in narrow integers the library and the test wrap alike.
  const auto factors = [](int pe, std::size_t i) {
    return static_cast<T>(static_cast<float>(pe % 5 == static_cast<int>(i % 5) ? 2 : 1));
  };
  for (shmem_team_t team : teams) {
    if (team == SHMEM_TEAM_INVALID) continue;
    const Case<T> c{team, memory, memory + kMax};
    check_fold(" sum", c, row.sum, term<T>, plus);
    check_fold(" prod", c, row.prod, factors, times);
    check_fold(" inscan", c, row.inscan, term<T>, plus, Terms::up_to_this);
    check_fold(" exscan", c, row.exscan, term<T>, plus, Terms::before_this);
    check_ordered(row, c);
    check_bits(row, c);
  }
  shmem_free(memory);
}

std::vector<shmem_team_t> make_teams() {
  std::vector<shmem_team_t> teams{SHMEM_TEAM_WORLD};
  shmem_team_t team = SHMEM_TEAM_INVALID, unused = SHMEM_TEAM_INVALID;
  shmem_team_split_2d(SHMEM_TEAM_WORLD, 3, nullptr, 0, &team, nullptr, 0, &unused);
  shmem_team_destroy(unused);
  teams.push_back(team);
  shmem_team_split_strided(SHMEM_TEAM_WORLD, pes() - 1, -1, pes(), nullptr, 0, &team);
  teams.push_back(team);
  return teams;
}

void destroy_teams(const std::vector<shmem_team_t>& teams) {
  for (std::size_t i = 1; i < teams.size(); ++i) shmem_team_destroy(teams[i]);
}

// A type of the bitwise table: only and, or, xor are taken from it; the arithmetic of the type is in the other table.
template <class T>
ReduceRow<T> bits_row(const char* name, Reduce<T>* all, Reduce<T>* any, Reduce<T>* parity) {
  return {name, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, all, any, parity};
}

}  // namespace

#define SCALAR(P, N, T) exercise(SCALAR_REDUCE_ROW(P, N, T), teams);
#define BITS(P, N, T) \
  exercise(bits_row<T>(#P "_" #N, P##_##N##_and_reduce, P##_##N##_or_reduce, P##_##N##_xor_reduce), teams);
#define ALL_REDUCTIONS(P)                           \
  const auto teams = make_teams();                  \
  TEST_RMA_TYPES(SCALAR, P)                         \
  TEST_BIT_REDUCE_TYPES(BITS, P)                    \
  exercise(COMPLEX_REDUCE_ROW(P, complexf), teams); \
  exercise(COMPLEX_REDUCE_ROW(P, complexd), teams); \
  destroy_teams(teams);

PE_TEST(reductions_and_scans_of_every_type){ALL_REDUCTIONS(shmem)} PE_TEST(profiling_names_of_reductions_do_the_same){
    ALL_REDUCTIONS(pshmem)}

// Section 9.10.9: the order of floating-point operations is free, but all PEs should hold the same result.
PE_TEST(floating_results_are_equal_on_all_pes) {
  constexpr std::size_t kCount = 1000;
  Symmetric<double> source(kCount), dest(kCount), first(kCount);
  for (std::size_t i = 0; i < kCount; ++i)
    source[i] = 1.0 / (static_cast<double>(i) + 3.7 * (me() + 1)) * ((me() + static_cast<int>(i)) % 2 ? -1e9 : 1e-7);
  CHECK_EQUAL(shmem_double_sum_reduce(SHMEM_TEAM_WORLD, dest.get(), source.get(), kCount), 0);
  shmem_sync_all();
  shmem_double_get(first.get(), dest.get(), kCount, 0);
  CHECK(std::memcmp(first.get(), dest.get(), kCount * sizeof(double)) == 0);
}

// Among the same PEs the association depends on lengths and places alone, not on who comes first.
PE_TEST(floating_results_have_the_same_bits_each_time) {
  constexpr std::size_t kMost = 20000;
  Symmetric<double> source(kMost), first(kMost), dest(kMost);
  for (std::size_t i = 0; i < kMost; ++i)
    source[i] = (me() % 3 == 1 ? 1e16 : 1.0) / (1.0 + me() * 0.7 + static_cast<double>(i % 101));
  for (const std::size_t count : {std::size_t{1}, std::size_t{100}, std::size_t{3000}, kMost}) {
    shmem_double_sum_reduce(SHMEM_TEAM_WORLD, first.get(), source.get(), count);
    for (int late = 0; late < std::min(pes(), 3); ++late) {
      if (me() == late) ::usleep(500);
      shmem_double_sum_reduce(SHMEM_TEAM_WORLD, dest.get(), source.get(), count);
      CHECK(std::memcmp(first.get(), dest.get(), count * sizeof(double)) == 0);
    }
  }
}

PE_TEST(large_reductions_are_right) {
  const std::size_t count = pes() > 8 ? 5000 : (3 << 20) / sizeof(long) + 1;
  Symmetric<long> source(count), dest(count);
  for (const bool in_place : {false, true}) {
    for (std::size_t i = 0; i < count; ++i) source[i] = static_cast<long>(i) * (me() + 1);
    long* const to = in_place ? source.get() : dest.get();
    shmem_sync_all();
    CHECK_EQUAL(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, to, source.get(), count), 0);
    std::size_t bad = 0;
    for (std::size_t i = 0; i < count; ++i) bad += to[i] != static_cast<long>(i) * pes() * (pes() + 1) / 2;
    CHECK_EQUAL(bad, 0u);
    shmem_sync_all();
  }
}

// Section 9.10: collectives on different teams with common members follow each other freely.
PE_TEST(rows_and_columns_alternate) {
  shmem_team_t row = SHMEM_TEAM_INVALID, column = SHMEM_TEAM_INVALID;
  shmem_team_split_2d(SHMEM_TEAM_WORLD, 3, nullptr, 0, &row, nullptr, 0, &column);
  Symmetric<long> in(2), middle(2), out(2);
  int bad = 0;
  for (int round = 0; round < 300; ++round) {
    const auto half = static_cast<std::size_t>(round & 1);
    in[half] = me() + round;
    bad += shmem_long_sum_reduce(row, &middle[half], &in[half], 1) != 0;
    bad += shmem_long_max_reduce(column, &out[half], &middle[half], 1) != 0;
    long expected = 0;
    for (int first = 0; first < pes(); first += 3) {
      long sum = 0;
      for (int pe = first; pe < first + 3 && pe < pes(); ++pe) sum += pe + round;
      // Rows that my column reaches: those that have a member at my position.
      if (first + me() % 3 < pes()) expected = sum > expected ? sum : expected;
    }
    bad += out[half] != expected;
  }
  CHECK_EQUAL(bad, 0);
  shmem_team_destroy(row);
  shmem_team_destroy(column);
}
