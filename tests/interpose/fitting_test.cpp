// Data have to fit into the side to which they go: they may be shorter. Arguments that an operation does not use, and
// the padding of pairs.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "error_classes.hpp"
#include "mpi_test.hpp"

using mpi_test::left;
using mpi_test::rank;
using mpi_test::right;
using mpi_test::TestWindow;
using mpi_test::with_windows;

namespace {

// A vector of `count` blocks of two elements, each three elements behind the one before.
class Vector {
 public:
  Vector(int count, MPI_Datatype element) {
    MPI_Type_vector(count, 2, 3, element, &type);
    MPI_Type_commit(&type);
  }
  ~Vector() { MPI_Type_free(&type); }
  Vector(const Vector&) = delete;
  Vector& operator=(const Vector&) = delete;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

// The place of the k-th element of such a vector.
std::size_t place(std::size_t k) { return k / 2 * 3 + k % 2; }

template <class Function>
void locked(MPI_Win win, Function function) {
  MPI_Win_lock(MPI_LOCK_SHARED, right(), 0, win);
  function();
  MPI_Win_unlock(right(), win);
  MPI_Barrier(MPI_COMM_WORLD);
}

constexpr std::array<int, 12> kData = {100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111};

}  // namespace

CASE(puts_that_are_shorter_than_the_target) {
  const Vector vector(6, MPI_INT);
  for (const int count : {1, 2, 3, 7, 12}) {
    with_windows<int>(20, -1, [&](TestWindow<int>& window) {
      locked(window.win, [&] { MPI_Put(kData.data(), count, MPI_INT, right(), 0, 15, MPI_INT, window.win); });
      for (int i = 0; i < 20; ++i) CHECK_EQUAL(window.data[i], i < count ? 100 + i : -1);
    });
    with_windows<int>(20, -1, [&](TestWindow<int>& window) {
      locked(window.win, [&] { MPI_Put(kData.data(), count, MPI_INT, right(), 0, 1, vector.type, window.win); });
      int sum = 0;
      for (int i = 0; i < count; ++i) CHECK_EQUAL(window.data[place(static_cast<std::size_t>(i))], 100 + i);
      for (int i = 0; i < 20; ++i) sum += window.data[i] == -1 ? 1 : 0;
      CHECK_EQUAL(sum, 20 - count);
    });
  }
}

CASE(puts_of_vectors_that_are_shorter) {
  const Vector three(3, MPI_INT);
  const Vector six(6, MPI_INT);
  with_windows<int>(20, -1, [&](TestWindow<int>& window) {
    locked(window.win, [&] { MPI_Put(kData.data(), 1, three.type, right(), 0, 1, six.type, window.win); });
    for (std::size_t k = 0; k < 6; ++k) CHECK_EQUAL(window.data[place(k)], kData[place(k)]);
    for (std::size_t i = 9; i < 20; ++i) CHECK_EQUAL(window.data[i], -1);
  });
  with_windows<int>(20, -1, [&](TestWindow<int>& window) {
    MPI_Request request = MPI_REQUEST_NULL;
    locked(window.win, [&] {
      MPI_Rput(kData.data(), 5, MPI_INT, right(), 2, 3, three.type, window.win, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    });
    for (std::size_t k = 0; k < 5; ++k) CHECK_EQUAL(window.data[2 + place(k)], kData[k]);
    CHECK_EQUAL(window.data[2 + place(5)], -1);
  });
}

// In an epoch of fences, and of small puts under a lock that is taken with them.
CASE(short_puts_of_other_epochs) {
  TestWindow<long> window(4, TestWindow<long>::Memory::allocated, -1);
  const long value = rank;
  MPI_Win_fence(0, window.win);
  MPI_Put(&value, 1, MPI_LONG, right(), 0, 3, MPI_LONG, window.win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window.win);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right(), 0, window.win);
  MPI_Put(&value, 1, MPI_LONG, right(), 2, 2, MPI_LONG, window.win);
  MPI_Put(&value, 0, MPI_LONG, right(), 3, 1, MPI_LONG, window.win);
  MPI_Win_unlock(right(), window.win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window.win);
  CHECK(window.data[0] == left() && window.data[1] == -1 && window.data[2] == left() && window.data[3] == -1);
  MPI_Win_unlock(rank, window.win);
}

CASE(gets_that_are_shorter_than_the_origin) {
  const Vector vector(6, MPI_INT);
  with_windows<int>(20, 0, [&](TestWindow<int>& window) {
    for (int i = 0; i < 20; ++i) window.data[i] = 1000 * rank + i;
    MPI_Barrier(MPI_COMM_WORLD);
    for (const int count : {1, 3, 8, 12}) {
      std::array<int, 20> plain;
      std::array<int, 20> spread;
      std::array<int, 20> requested;
      plain.fill(-7);
      spread.fill(-7);
      requested.fill(-7);
      locked(window.win, [&] {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Get(plain.data(), 20, MPI_INT, right(), 4, count, MPI_INT, window.win);
        MPI_Get(spread.data(), 1, vector.type, right(), 1, count, MPI_INT, window.win);
        MPI_Rget(requested.data(), 2, vector.type, right(), 3, count, MPI_INT, window.win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      });
      for (int i = 0; i < 20; ++i)
        CHECK_EQUAL(plain[static_cast<std::size_t>(i)], i < count ? 1000 * right() + 4 + i : -7);
      for (int i = 0; i < count; ++i) {
        CHECK_EQUAL(spread[place(static_cast<std::size_t>(i))], 1000 * right() + 1 + i);
        CHECK_EQUAL(requested[place(static_cast<std::size_t>(i))], 1000 * right() + 3 + i);
      }
      CHECK_EQUAL(std::count(spread.begin(), spread.end(), -7), 20 - count);
      CHECK_EQUAL(std::count(requested.begin(), requested.end(), -7), 20 - count);
    }
  });
}

CASE(accumulates_that_are_shorter) {
  const Vector vector(4, MPI_INT);
  with_windows<int>(20, 5, [&](TestWindow<int>& window) {
    locked(window.win, [&] {
      MPI_Accumulate(kData.data(), 3, MPI_INT, right(), 0, 6, MPI_INT, MPI_SUM, window.win);
      MPI_Accumulate(kData.data(), 3, MPI_INT, right(), 6, 1, vector.type, MPI_REPLACE, window.win);
    });
    for (int i = 0; i < 6; ++i) CHECK_EQUAL(window.data[i], i < 3 ? 105 + i : 5);
    CHECK(window.data[6] == 100 && window.data[7] == 101 && window.data[8] == 5 && window.data[9] == 102);
    for (int i = 10; i < 20; ++i) CHECK_EQUAL(window.data[i], 5);
  });
}

// The whole target is fetched, and a part of it updated.
CASE(fetching_accumulates_that_are_shorter) {
  const Vector vector(3, MPI_DOUBLE);
  const std::array<double, 2> two = {10, 20};
  with_windows<double>(6, 1, [&](TestWindow<double>& window) {
    std::array<double, 10> old;
    std::array<double, 10> spread;
    std::array<double, 10> none;
    for (auto* const all : {&old, &spread, &none}) all->fill(-3);
    locked(window.win, [&] {
      MPI_Get_accumulate(two.data(), 2, MPI_DOUBLE, old.data(), 10, MPI_DOUBLE, right(), 0, 6, MPI_DOUBLE, MPI_SUM,
                         window.win);
      MPI_Win_flush(right(), window.win);
      MPI_Get_accumulate(two.data(), 1, MPI_DOUBLE, spread.data(), 1, vector.type, right(), 1, 5, MPI_DOUBLE,
                         MPI_REPLACE, window.win);
      MPI_Win_flush(right(), window.win);
      MPI_Get_accumulate(nullptr, 0, MPI_DOUBLE, none.data(), 7, MPI_DOUBLE, right(), 0, 6, MPI_DOUBLE, MPI_SUM,
                         window.win);
    });
    for (std::size_t i = 0; i < 10; ++i) CHECK_EQUAL(old[i], i < 6 ? 1 : -3);
    const std::array<double, 5> before = {21, 1, 1, 1, 1};
    for (std::size_t i = 0; i < 5; ++i) CHECK_EQUAL(spread[place(i)], before[i]);
    const std::array<double, 6> after = {11, 10, 1, 1, 1, 1};
    for (std::size_t i = 0; i < 6; ++i) CHECK_EQUAL(none[i], after[i]);
    CHECK_EQUAL(none[6], -3.0);
    for (std::size_t i = 0; i < 6; ++i) CHECK_EQUAL(window.data[i], after[i]);
  });
}

CASE(longer_data_are_refused) {
  TestWindow<int> window(8, TestWindow<int>::Memory::allocated, -1);
  MPI_Win_set_errhandler(window.win, MPI_ERRORS_RETURN);
  std::array<int, 8> data{};
  MPI_Win_lock_all(0, window.win);
  CHECK_CLASS(MPI_Put(data.data(), 3, MPI_INT, right(), 0, 2, MPI_INT, window.win), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Get(data.data(), 2, MPI_INT, right(), 0, 3, MPI_INT, window.win), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Accumulate(data.data(), 3, MPI_INT, right(), 0, 2, MPI_INT, MPI_SUM, window.win), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Get_accumulate(data.data(), 2, MPI_INT, data.data() + 4, 1, MPI_INT, right(), 0, 2, MPI_INT, MPI_SUM,
                                 window.win),
              MPI_ERR_TYPE);
  MPI_Win_unlock_all(window.win);
  for (int i = 0; i < 8; ++i) CHECK_EQUAL(window.data[i], -1);
}

namespace {

// Fetches an element with an origin that is no memory.
template <class T>
void fetch_without_origin(MPI_Datatype type) {
  TestWindow<T> window(2, TestWindow<T>::Memory::allocated, static_cast<T>(rank + 1));
  void* const nowhere = reinterpret_cast<void*>(std::uintptr_t{16});
  T seen = 0;
  MPI_Win_lock(MPI_LOCK_SHARED, right(), 0, window.win);
  MPI_Fetch_and_op(nowhere, &seen, type, right(), 1, MPI_NO_OP, window.win);
  MPI_Win_flush(right(), window.win);
  CHECK_EQUAL(seen, static_cast<T>(right() + 1));
  seen = 0;
  MPI_Get_accumulate(nowhere, 1, type, &seen, 1, type, right(), 0, 1, type, MPI_NO_OP, window.win);
  MPI_Win_unlock(right(), window.win);
  CHECK_EQUAL(seen, static_cast<T>(right() + 1));
}

}  // namespace

CASE(fetches_do_not_read_the_origin) {
  fetch_without_origin<int>(MPI_INT);
  fetch_without_origin<long>(MPI_LONG);
  fetch_without_origin<short>(MPI_SHORT);
  fetch_without_origin<char>(MPI_SIGNED_CHAR);
  fetch_without_origin<float>(MPI_FLOAT);
  fetch_without_origin<double>(MPI_DOUBLE);
  fetch_without_origin<long double>(MPI_LONG_DOUBLE);
}

namespace {

constexpr int kPairBytes = sizeof(double) + sizeof(int);  // without the padding

struct Pair {
  double value;
  int index;
};
Pair pair_at(const char* from) {
  Pair pair{};
  std::memcpy(&pair.value, from, sizeof pair.value);
  std::memcpy(&pair.index, from + sizeof pair.value, sizeof pair.index);
  return pair;
}
bool operator==(const Pair& a, const Pair& b) { return a.value == b.value && a.index == b.index; }

}  // namespace

// The padding of the last one is not in the window. Behind the window is memory of the program, which stays as it is.
CASE(pairs_at_the_end_of_a_window) {
  std::array<char, 64> memory;
  memory.fill(0);
  std::fill(memory.begin() + 48, memory.end(), char{77});
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_create(memory.data(), 48, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  const std::array<Pair, 2> pairs = {Pair{4, 40}, Pair{2, 20}};
  const int at = 48 - kPairBytes;
  std::array<Pair, 2> old{};
  const auto last_is = [&](const Pair& pair) {
    MPI_Win_fence(0, win);
    CHECK(pair_at(&memory[at]) == pair);
    MPI_Win_fence(0, win);
  };
  MPI_Win_fence(0, win);
  MPI_Put(pairs.data(), 1, MPI_DOUBLE_INT, right(), at, 1, MPI_DOUBLE_INT, win);
  last_is(pairs[0]);
  MPI_Get(old.data(), 1, MPI_DOUBLE_INT, right(), at, 1, MPI_DOUBLE_INT, win);
  last_is(pairs[0]);
  CHECK(old[0] == pairs[0]);
  MPI_Accumulate(&pairs[1], 1, MPI_DOUBLE_INT, right(), at, 1, MPI_DOUBLE_INT, MPI_MINLOC, win);
  last_is(pairs[1]);
  MPI_Fetch_and_op(pairs.data(), old.data(), MPI_DOUBLE_INT, right(), at, MPI_MAXLOC, win);
  last_is(pairs[0]);
  CHECK(old[0] == pairs[1]);
  MPI_Get_accumulate(pairs.data(), 2, MPI_DOUBLE_INT, old.data(), 2, MPI_DOUBLE_INT, right(), at - 16, 2,
                     MPI_DOUBLE_INT, MPI_REPLACE, win);
  last_is(pairs[1]);
  CHECK(old[1] == pairs[0] && pair_at(&memory[at - 16]) == pairs[0]);
  CHECK(std::all_of(memory.begin() + 48, memory.end(), [](char byte) { return byte == 77; }));
  MPI_Win_free(&win);
}

// Pairs that follow each other without padding, on every side: no byte between or behind them is touched.
CASE(packed_pairs) {
  constexpr std::size_t kCount = 4;
  MPI_Datatype packed = MPI_DATATYPE_NULL;
  MPI_Type_create_hvector(kCount, 1, kPairBytes, MPI_DOUBLE_INT, &packed);
  MPI_Type_commit(&packed);
  with_windows<char>(kCount * kPairBytes + 8, char{77}, [&](TestWindow<char>& window) {
    std::array<char, kCount * kPairBytes + 8> data;
    std::array<char, kCount * kPairBytes + 8> old;
    data.fill(0);
    old.fill(55);
    for (std::size_t i = 0; i < kCount; ++i) {
      const Pair pair{static_cast<double>(i), static_cast<int>(10 * i)};
      std::memcpy(&data[i * kPairBytes], &pair.value, sizeof pair.value);
      std::memcpy(&data[i * kPairBytes + 8], &pair.index, sizeof pair.index);
    }
    locked(window.win, [&] { MPI_Accumulate(data.data(), 1, packed, right(), 0, 1, packed, MPI_REPLACE, window.win); });
    locked(window.win, [&] {
      MPI_Get_accumulate(data.data(), 1, packed, old.data(), 1, packed, right(), 0, 1, packed, MPI_MAXLOC, window.win);
    });
    for (std::size_t i = 0; i < kCount; ++i) {
      const Pair pair{static_cast<double>(i), static_cast<int>(10 * i)};
      CHECK(pair_at(&window.data[i * kPairBytes]) == pair);
      CHECK(pair_at(&old[i * kPairBytes]) == pair);
    }
    for (std::size_t i = kCount * kPairBytes; i < old.size(); ++i) CHECK(window.data[i] == 77 && old[i] == 55);
  });
  MPI_Type_free(&packed);
}

int main(int argc, char** argv) { return mpi_test::run(argc, argv); }
