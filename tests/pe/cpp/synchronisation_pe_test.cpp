// The C++ interface: atomics, waits, locks, teams and collectives.
#include <shmemx/shmemx.hpp>
#include <shmemx/tasks.hpp>
#include <shmemx/windows.hpp>

#include <algorithm>
#include <array>
#include <complex>
#include <mutex>
#include <numeric>
#include <vector>

#include "../../support/pe_test.hpp"

namespace {

using namespace pe_test;
using shmemx::cmp;

static_assert(!std::is_copy_constructible_v<shmemx::team> && std::is_nothrow_move_assignable_v<shmemx::team>);
static_assert(!std::is_copy_constructible_v<shmemx::session> && !std::is_copy_constructible_v<shmemx::context>);
static_assert(shmemx::reducible<std::complex<double>, shmemx::ops::sum_t> &&
              !shmemx::reducible<std::complex<double>, shmemx::ops::max_t>);
static_assert(shmemx::reducible<unsigned, shmemx::ops::bit_xor_t> && !shmemx::reducible<double, shmemx::ops::bit_or_t>);
static_assert(shmemx::atomic_type<double> && !shmemx::atomic_integer<double> && !shmemx::atomic_type<short>);
static_assert(shmemx::atomic_bits<std::int64_t> && !shmemx::atomic_bits<char> && shmemx::waitable<unsigned long>);

struct Cell {
  int row;
  double value;
  friend bool operator==(const Cell&, const Cell&) = default;
};

template <class T>
void integer_atomics() {
  const shmemx::symmetric_array<T> word(1);
  CHECK_EQUAL(shmemx::atomic_swap(word, T{6}, right()), T{0});
  CHECK_EQUAL(shmemx::atomic_fetch(word, right()), T{6});
  CHECK_EQUAL(shmemx::atomic_compare_swap(word, T{6}, T{7}, right()), T{6});
  CHECK_EQUAL(shmemx::atomic_fetch_add(word, T{10}, right()), T{7});
  CHECK_EQUAL(shmemx::atomic_fetch_inc(word, right()), T{17});
  shmemx::atomic_inc(word, right());
  shmemx::atomic_add(word, T{2}, right());
  CHECK_EQUAL(shmemx::atomic_fetch(word, right()), T{21});
  T fetched{};
  shmemx::atomic_fetch_add_nbi(&fetched, word, T{1}, right());
  shmemx::quiet();
  CHECK_EQUAL(fetched, T{21});
  shmemx::atomic_compare_swap_nbi(&fetched, word, T{22}, T{30}, right());
  shmemx::quiet();
  CHECK_EQUAL(fetched, T{22});
  shmemx::atomic_fetch_inc_nbi(&fetched, word, right());
  shmemx::quiet();
  CHECK_EQUAL(fetched, T{30});
  shmemx::atomic_set(word, T{3}, right());
  shmemx::barrier_all();
  CHECK_EQUAL(word[0], T{3});
  shmemx::barrier_all();
}

}  // namespace

PE_TEST(atomics_of_integers) {
  integer_atomics<int>();
  integer_atomics<long>();
  integer_atomics<long long>();
  integer_atomics<std::uint32_t>();
  integer_atomics<std::size_t>();
  integer_atomics<unsigned long long>();
}

PE_TEST(atomics_of_other_kinds) {
  const shmemx::symmetric_array<double> real(1);
  double fetched = -1;
  CHECK_EQUAL(shmemx::atomic_swap(real, 2.5, right()), 0.0);
  shmemx::atomic_swap_nbi(&fetched, real, 3.5, right());
  shmemx::quiet();
  CHECK_EQUAL(fetched, 2.5);
  shmemx::atomic_fetch_nbi(&fetched, real, right());
  shmemx::quiet();
  CHECK_EQUAL(fetched, 3.5);

  const shmemx::symmetric_array<std::uint64_t> bits(1);
  std::uint64_t old = 0;
  shmemx::atomic_or(bits, 0xF0, right());
  CHECK_EQUAL(shmemx::atomic_fetch_or(bits, 0x0F, right()), 0xF0U);
  CHECK_EQUAL(shmemx::atomic_fetch_and(bits, 0xFE, right()), 0xFFU);
  shmemx::atomic_and(bits, 0x7F, right());
  CHECK_EQUAL(shmemx::atomic_fetch_xor(bits, 0x01, right()), 0x7EU);
  shmemx::atomic_xor(bits, 0x03, right());
  shmemx::atomic_fetch_and_nbi(&old, bits, 0x3C, right());
  shmemx::quiet();
  CHECK_EQUAL(old, 0x7CU);
  shmemx::atomic_fetch_or_nbi(&old, bits, 0x01, right());
  shmemx::quiet();
  CHECK_EQUAL(old, 0x3CU);
  shmemx::atomic_fetch_xor_nbi(&old, bits, 0x01, right());
  shmemx::quiet();
  CHECK_EQUAL(old, 0x3DU);
  shmemx::barrier_all();
}

PE_TEST(waits_and_tests) {
  const shmemx::symmetric_array<int> flags(4);
  std::array<std::size_t, 4> found{};
  CHECK(!shmemx::test(flags, cmp::gt, 0));
  CHECK_EQUAL(shmemx::test_any(flags, cmp::ne, 0), SIZE_MAX);
  CHECK_EQUAL(shmemx::test_some(flags, found.data(), cmp::ne, 0), 0U);
  shmemx::barrier_all();
  for (int i = 0; i < 4; ++i) shmemx::atomic_set(flags + static_cast<std::size_t>(i), i + 1, right());
  shmemx::wait_until(flags + 3, cmp::eq, 4);
  shmemx::wait_until_all(flags, cmp::ge, 1);
  CHECK(shmemx::test_all(flags, cmp::le, 4));
  CHECK_EQUAL(shmemx::wait_until_any(flags, cmp::eq, 3), 2U);
  CHECK_EQUAL(shmemx::wait_until_some(flags.span(), found.data(), cmp::gt, 2, std::array{0, 0, 0, 1}), 1U);
  CHECK_EQUAL(found[0], 2U);
  const std::array values{1, 2, 3, 4};
  shmemx::wait_until_all_vector(flags, cmp::eq, values.data());
  CHECK(shmemx::test_all_vector(flags, cmp::eq, values.data()));
  CHECK_EQUAL(shmemx::wait_until_any_vector(flags.subspan(1, 1), cmp::eq, values.data() + 1), 0U);
  CHECK_EQUAL(shmemx::test_any_vector(flags, cmp::lt, values.data()), SIZE_MAX);
  CHECK_EQUAL(shmemx::wait_until_some_vector(flags, found.data(), cmp::eq, values.data()), 4U);
  CHECK_EQUAL(shmemx::test_some_vector(flags, found.data(), cmp::ne, values.data()), 0U);
  shmemx::barrier_all();
}

PE_TEST(locks_guard) {
  shmemx::symmetric_mutex mutex;
  static long word;
  shmemx::symmetric_lock second{shmemx::symmetric_ptr(&word)};
  const shmemx::symmetric_array<int> counter(1);
  for (int i = 0; i < 20; ++i) {
    const std::scoped_lock guard(mutex);
    shmemx::p(counter, shmemx::g(counter, 0) + 1, 0);
  }
  shmemx::barrier_all();
  CHECK_EQUAL(shmemx::g(counter, 0), 20 * pes());
  shmemx::barrier_all();
  {
    const std::unique_lock guard(second, std::try_to_lock);
    shmemx::atomic_add(counter, guard.owns_lock() ? 1 : 0, 0);
    shmemx::barrier_all();
  }
  CHECK_EQUAL(shmemx::g(counter, 0), 20 * pes() + 1);
  shmemx::barrier_all();
}

PE_TEST(teams_are_objects) {
  const shmemx::team world = shmemx::team::world();
  CHECK_EQUAL(world.my_pe(), me());
  shmemx::team even = world.split_strided(0, 2, (pes() + 1) / 2);
  CHECK_EQUAL(static_cast<bool>(even), me() % 2 == 0);
  if (even) {
    CHECK_EQUAL(even.n_pes(), (pes() + 1) / 2);
    CHECK_EQUAL(even.world_pe(even.my_pe()), me());
    CHECK_EQUAL(world.translate(me(), even), even.my_pe());
    const shmemx::context on(even);
    static int place;
    shmemx::p(shmemx::symmetric_ptr(&place), me() + 1, even.my_pe(), on);
    shmemx::quiet(on);
    CHECK_EQUAL(place, me() + 1);
    CHECK_EQUAL(shmemx::sync(even), 0);
    CHECK_EQUAL(shmemx::barrier(even), 0);
  }
  const shmemx::team taken(std::move(even));
  CHECK(!even);
  auto [row, column] = world.split_2d(2);
  CHECK_EQUAL(row.my_pe(), me() % 2);
  CHECK_EQUAL(column.my_pe(), me() / 2);
  row = shmemx::team();
  CHECK(!row);
  CHECK(shmemx::team::shared().n_pes() >= 1);
}

PE_TEST(collectives_move_any_type) {
  const shmemx::team world = shmemx::team::world();
  const auto count = static_cast<std::size_t>(pes());
  const shmemx::symmetric_array<Cell> source(2 * count);
  const shmemx::symmetric_array<Cell> dest(2 * count);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = Cell{me(), static_cast<double>(i)};
  shmemx::barrier_all();
  CHECK_EQUAL(shmemx::broadcast(world, dest, source, pes() - 1), 0);
  CHECK(dest[1] == (Cell{pes() - 1, 1.0}));
  shmemx::barrier_all();
  CHECK_EQUAL(shmemx::fcollect(world, dest, source.subspan(0, 2)), 0);
  CHECK(dest[2 * count - 1] == (Cell{pes() - 1, 1.0}));
  shmemx::barrier_all();
  CHECK_EQUAL(shmemx::collect(world, dest, source.subspan(0, me() == 0 ? 2 : 1)), 0);
  CHECK(dest[count] == (Cell{pes() - 1, pes() == 1 ? 1.0 : 0.0}));
  shmemx::barrier_all();
  CHECK_EQUAL(shmemx::alltoall(world, dest, source, 2), 0);
  CHECK(dest[2 * count - 1] == (Cell{pes() - 1, 2.0 * me() + 1}));
  shmemx::barrier_all();

  const shmemx::symmetric_array<int> numbers(2 * count);
  const shmemx::symmetric_array<int> results(2 * count);
  std::iota(numbers.begin(), numbers.end(), 100 * me());
  shmemx::barrier_all();
  CHECK_EQUAL(shmemx::alltoalls(world, results, numbers, 2, 1, 1), 0);
  CHECK_EQUAL(results[2 * count - 2], 100 * (pes() - 1) + me());
  shmemx::barrier_all();
}

PE_TEST(reductions_take_an_operation) {
  const shmemx::team world = shmemx::team::world();
  const shmemx::symmetric_array<long> source(3);
  const shmemx::symmetric_array<long> dest(3);
  std::ranges::fill(source, me() + 1L);
  shmemx::barrier_all();
  const long all = pes() * (pes() + 1L) / 2;
  CHECK_EQUAL(shmemx::reduce(world, dest, source, shmemx::ops::sum), 0);
  CHECK_EQUAL(dest[2], all);
  CHECK_EQUAL(shmemx::reduce(world, dest, source, shmemx::ops::max), 0);
  CHECK_EQUAL(dest[0], pes());
  CHECK_EQUAL(shmemx::reduce(world, dest, source, shmemx::ops::min), 0);
  CHECK_EQUAL(dest[0], 1);
  long factorial = 1;
  long either = 0;
  long odd = 0;
  for (int i = 1; i <= pes(); ++i) factorial *= i, either |= i, odd ^= i;
  CHECK_EQUAL(shmemx::reduce(world, dest, source, shmemx::ops::prod), 0);
  CHECK_EQUAL(dest[1], factorial);
  CHECK_EQUAL(shmemx::reduce(world, dest, source, shmemx::ops::bit_or), 0);
  CHECK_EQUAL(dest[1], either);
  CHECK_EQUAL(shmemx::reduce(world, dest, source, shmemx::ops::bit_xor), 0);
  CHECK_EQUAL(dest[1], odd);
  CHECK_EQUAL(shmemx::reduce(world, dest, source, shmemx::ops::bit_and), 0);
  CHECK_EQUAL(dest[1], pes() == 1 ? 1 : 0);
  CHECK_EQUAL(shmemx::sum_inscan(world, dest, source), 0);
  CHECK_EQUAL(dest[1], (me() + 1L) * (me() + 2L) / 2);
  CHECK_EQUAL(shmemx::sum_exscan(world, dest, source), 0);
  CHECK_EQUAL(dest[1], me() * (me() + 1L) / 2);
  CHECK_EQUAL(shmemx::reduce(world, source, source, shmemx::ops::sum), 0);
  CHECK_EQUAL(source[1], all);

  const shmemx::symmetric_array<std::complex<double>> numbers(1);
  numbers[0] = {1.0, me() + 0.0};
  shmemx::barrier_all();
  CHECK_EQUAL(shmemx::reduce(world, numbers, numbers, shmemx::ops::sum), 0);
  CHECK(numbers[0] == std::complex<double>(pes(), pes() * (pes() - 1) / 2.0));
  shmemx::barrier_all();
}

PE_TEST(the_library_is_an_object) {
  const shmemx::library again;  // each start has an end of its own
  CHECK(static_cast<bool>(again));
  {
    const shmemx::library threads(shmemx::thread_level::funneled);
    CHECK(static_cast<bool>(threads));
    CHECK(threads.provided() >= shmemx::thread_level::single);
  }
  CHECK_EQUAL(shmemx::my_pe(), me());
  CHECK_EQUAL(shmemx::n_pes(), pes());
}

PE_TEST(a_team_knows_its_contexts_and_a_context_its_team) {
  const shmemx::team world = shmemx::team::world();
  const shmemx::team all = world.split_strided(0, 1, pes(), 2);
  CHECK_EQUAL(all.num_contexts(), 2);
  CHECK_EQUAL(world.split_strided(0, 1, pes()).num_contexts(), 0);
  const shmemx::context on_all(all);
  CHECK(on_all.team_handle() == all.handle());
  CHECK(shmemx::context().team_handle() == SHMEM_TEAM_WORLD);

  const shmemx::symmetric_array<long> word(1);
  word[0] = me();
  shmemx::barrier_all();
  CHECK(word.ptr().on(me(), all) == word.data());
  CHECK_EQUAL(word.ptr().on(right(), all) == nullptr, word.ptr().on(right()) == nullptr);
  CHECK(word.ptr().accessible(right()) && shmemx::pe_accessible(right()));
  static long own;
  CHECK(shmemx::symmetric_ptr(&own).accessible(right()));
  shmemx::barrier_all();
}

PE_TEST(sessions_end_with_their_scope) {
  const shmemx::symmetric_array<long> words(64);
  const shmemx::context apart;
  {
    const shmemx::session phase;
    const shmemx::session other(apart, shmemx::session_options::batch, 64);
    for (long i = 0; i < 32; ++i) {
      shmemx::p(words + static_cast<std::size_t>(i), i + 1, right());
      shmemx::p(words + static_cast<std::size_t>(i + 32), i + 33, right(), apart);
    }
  }
  shmemx::quiet(apart);
  shmemx::barrier_all();
  for (long i = 0; i < 64; ++i) CHECK_EQUAL(words[static_cast<std::size_t>(i)], i + 1);
  shmemx::barrier_all();
}

PE_TEST(memory_with_hints_is_zeroed) {
  using shmemx::memory_hints;
  const shmemx::symmetric_array<long> counters(100, memory_hints::atomics_remote | memory_hints::signal_remote);
  CHECK(std::all_of(counters.begin(), counters.end(), [](long word) { return word == 0; }));
  shmemx::barrier_all();
  shmemx::atomic_add(counters + 5, 2L, right());
  shmemx::barrier_all();
  CHECK_EQUAL(counters[5], 2);
  shmemx::barrier_all();
}

PE_TEST(the_library_names_itself) {
  CHECK_EQUAL(shmemx::info_get_version().major, SHMEM_MAJOR_VERSION);
  CHECK_EQUAL(shmemx::info_get_version().minor, SHMEM_MINOR_VERSION);
  CHECK_EQUAL(shmemx::info_get_name(), SHMEM_VENDOR_STRING);
  shmemx::pcontrol(1);
}
