// The C++ interface: memory, put and get of all kinds of types, signals, contexts.
#include <shmemx/shmemx.hpp>

#include <algorithm>
#include <array>
#include <complex>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "../../support/pe_test.hpp"

namespace {

using namespace pe_test;

struct Point {
  double x;
  float y;
  short id;
  friend bool operator==(const Point&, const Point&) = default;
};
struct Pair {
  std::int16_t a, b;
  friend bool operator==(const Pair&, const Pair&) = default;
};
struct alignas(64) Line {
  std::array<char, 64> text;
};
enum class Colour : std::uint8_t { red = 1, green };

static_assert(std::is_trivially_copyable_v<shmemx::symmetric_ptr<int>> &&
              sizeof(shmemx::symmetric_ptr<int>) == sizeof(int*));
static_assert(!std::is_copy_constructible_v<shmemx::symmetric_array<int>> &&
              !std::is_copy_constructible_v<shmemx::context>);
static_assert(std::is_nothrow_move_constructible_v<shmemx::symmetric_array<int>> &&
              std::is_nothrow_move_assignable_v<shmemx::context>);
static_assert(std::is_convertible_v<shmemx::symmetric_ptr<int>, shmemx::symmetric_ptr<const int>>);
static_assert(!std::is_convertible_v<int*, shmemx::symmetric_ptr<int>>);
static_assert(std::ranges::contiguous_range<shmemx::symmetric_span<int>> &&
              std::ranges::view<shmemx::symmetric_span<int>>);

// Puts and gets arrays and single elements of T; make(i) is the element i of a PE.
template <class T, class Make>
void transfer(Make make) {
  shmemx::symmetric_array<T> array(12);
  std::vector<T> mine;
  std::vector<T> theirs;
  for (int i = 0; i < 10; ++i) {
    mine.push_back(make(me() * 100 + i));
    theirs.push_back(make(left() * 100 + i));
  }
  shmemx::put(array + 1, mine, right());
  shmemx::p(array, make(me()), right());
  shmemx::barrier_all();
  CHECK(std::equal(theirs.begin(), theirs.end(), array.begin() + 1));
  CHECK(array[0] == make(left()));

  std::vector<T> back(10, make(0));
  shmemx::get(std::span<T>(back), array + 1, right());
  CHECK(back == mine);
  CHECK(shmemx::g(array.span().subspan(3), right()) == mine[2]);
  shmemx::barrier_all();

  shmemx::put_nbi(array, mine, right());
  shmemx::quiet();
  std::ranges::fill(back, make(0));
  shmemx::get_nbi(back, array, right());
  shmemx::quiet();
  CHECK(back == mine);
  shmemx::barrier_all();

  shmemx::iput(array, mine.data(), 3, 2, 4, right());
  shmemx::barrier_all();
  for (std::size_t i = 0; i < 4; ++i) CHECK(array[3 * i] == theirs[2 * i]);
  shmemx::iget(back.data(), array, 2, 3, 4, right());
  for (std::size_t i = 0; i < 4; ++i) CHECK(back[2 * i] == mine[2 * i]);
  shmemx::barrier_all();

  shmemx::ibput(array, mine.data(), 5, 4, 2, 2, right());
  shmemx::barrier_all();
  CHECK(array[5] == theirs[4] && array[6] == theirs[5]);
  shmemx::ibget(back.data(), array, 3, 5, 2, 2, right());
  CHECK(back[3] == mine[4] && back[4] == mine[5]);
  shmemx::barrier_all();
}

}  // namespace

PE_TEST(all_kinds_of_types_travel) {
  transfer<int>([](int i) { return i; });
  transfer<double>([](int i) { return i / 2.0; });
  transfer<unsigned char>([](int i) { return static_cast<unsigned char>(i); });
  transfer<std::complex<double>>([](int i) { return std::complex<double>(i, -i); });
  transfer<Point>([](int i) { return Point{i / 4.0, 2.5F, static_cast<short>(i)}; });
  transfer<Pair>([](int i) { return Pair{static_cast<std::int16_t>(i), 7}; });
  transfer<Colour>([](int i) { return i % 2 == 0 ? Colour::red : Colour::green; });
  transfer<std::array<int, 5>>([](int i) { return std::array{i, 0, -i, 1, 2}; });
}

PE_TEST(contexts_are_objects) {
  const shmemx::symmetric_array<long> array(4);
  shmemx::context ctx(shmemx::context_options::private_to_thread | shmemx::context_options::serialized);
  CHECK(static_cast<bool>(ctx));
  const shmemx::context on_team(shmemx::team::world());
  CHECK(static_cast<bool>(on_team));
  shmemx::put(array, std::array<long, 2>{me() + 1L, 5L}, right(), ctx);
  shmemx::p(array + 2, 9L, right(), on_team);
  shmemx::fence(ctx);
  shmemx::atomic_add(array + 3, 4L, right(), ctx);
  shmemx::quiet(ctx);
  shmemx::pe_quiet(std::array{right()}, on_team);
  shmemx::sync_all();
  CHECK_EQUAL(array[0], left() + 1L);
  CHECK_EQUAL(array[2], 9L);
  CHECK_EQUAL(array[3], 4L);
  CHECK_EQUAL(shmemx::g(array + 1, right(), ctx), 5L);

  shmemx::context taken(std::move(ctx));
  CHECK(!ctx);
  CHECK(static_cast<bool>(taken));
  taken = shmemx::context();
  CHECK(static_cast<bool>(taken));
  shmemx::barrier_all();
}

PE_TEST(signals_follow_their_data) {
  const shmemx::symmetric_array<Point> data(3);
  const shmemx::symmetric_array<std::uint64_t> signals(2);
  const std::vector<Point> mine(3, Point{me() + 0.5, 1, 2});
  const std::vector<Point> theirs(3, Point{left() + 0.5, 1, 2});
  shmemx::put_signal(data, mine, signals.ptr(), 3, shmemx::signal_op::set, right());
  CHECK_EQUAL(shmemx::signal_wait_until(signals.ptr(), shmemx::cmp::ge, 3), 3U);
  CHECK(std::ranges::equal(data, theirs));
  shmemx::barrier_all();
  shmemx::put_signal_nbi(data, mine, signals + 1, 2, shmemx::signal_op::add, right());
  shmemx::signal_add(signals + 1, 5, right());
  shmemx::signal_wait_until(signals + 1, shmemx::cmp::eq, 7);
  CHECK_EQUAL(shmemx::signal_fetch(signals + 1), 7U);
  shmemx::quiet();
  shmemx::barrier_all();
  shmemx::signal_set(signals.ptr(), 40, right());
  shmemx::barrier_all();
  CHECK_EQUAL(signals[0], 40U);
}

PE_TEST(static_variables_have_symmetric_addresses) {
  static int counter;
  static double row[8];
  counter = -1;
  shmemx::barrier_all();
  const shmemx::symmetric_ptr at(&counter);
  shmemx::p(at, me(), right());
  const shmemx::symmetric_span whole(row);
  CHECK_EQUAL(whole.size(), 8U);
  shmemx::put(whole.last(2), std::array{1.5, me() + 0.0}, right());
  shmemx::barrier_all();
  CHECK_EQUAL(counter, left());
  CHECK_EQUAL(row[7], left() + 0.0);
  if (int* const other = at.on(right())) CHECK_EQUAL(*other, me());
  shmemx::barrier_all();
}

PE_TEST(arrays_own_their_memory) {
  shmemx::symmetric_array<Line> lines(3);
  CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(lines.data()) % 64, 0U);
  CHECK(std::ranges::all_of(lines, [](const Line& line) { return line.text[63] == 0; }));
  const Line* const memory = lines.data();
  shmemx::symmetric_array<Line> other(std::move(lines));
  CHECK(other.data() == memory && lines.data() == nullptr && lines.empty());
  other = shmemx::symmetric_array<Line>(1, shmemx::for_overwrite);
  CHECK_EQUAL(other.size(), 1U);
  const shmemx::symmetric_array<int> none(0);
  CHECK(none.empty());

  CHECK(!shmemx::symmetric_array<int>::try_allocate(std::size_t{1} << 50).has_value());
  CHECK(!shmemx::symmetric_array<int>::try_allocate(SIZE_MAX / 2).has_value());
  CHECK(shmemx::symmetric_array<int>::try_allocate(7).has_value());
  bool caught = false;
  try {
    const shmemx::symmetric_array<double> too_large(std::size_t{1} << 50);
  } catch (const std::bad_alloc&) {
    caught = true;
  }
  CHECK(caught);
}

// An exception of one PE does not make it wait for the others of its team.
PE_TEST(unwinding_destroys_no_team) {
  const auto fail_on_one = [] {
    const shmemx::team copy = shmemx::team::world().split_strided(0, 1, pes());
    if (me() == pes() - 1) throw std::runtime_error("of one PE");
    throw std::logic_error("of the others");
  };
  bool caught = false;
  try {
    fail_on_one();
  } catch (const std::exception&) {
    caught = true;
  }
  CHECK(caught);
}

PE_TEST(pointers_are_pointers) {
  const shmemx::symmetric_array<int> array(6);
  shmemx::symmetric_ptr at = array.ptr();
  ++at;
  at += 2;
  *at = 4;
  at[1] = 5;
  CHECK(at == array + 3 && at > array.ptr() && at - array.ptr() == 3);
  CHECK_EQUAL(array[3] + array[4], 9);
  const shmemx::symmetric_ptr<const int> read = at - 1;
  CHECK_EQUAL(*(1 + read), 4);
  CHECK(!shmemx::symmetric_ptr<int>(nullptr));
}
