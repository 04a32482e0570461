// Datatypes with known layouts: negative and zero strides, lower bounds, Fortran's precisions, datatypes that are freed
// and made again; updates of arrays and elements. What random programs cannot check where MPI's own routines differ
// from each other.
#include <algorithm>

#include "mpi_test.hpp"

using mpi_test::left;
using mpi_test::rank;
using mpi_test::ranks;
using mpi_test::right;
using mpi_test::TestWindow;
using mpi_test::with_windows;

namespace {

// Puts `count` items of a datatype, and checks that word i of the target becomes the origin's word expected[i].
void check_put(MPI_Datatype origin, MPI_Datatype target, int at, const std::vector<int>& expected) {
  with_windows<int>(expected.size(), -1, [&](TestWindow<int>& window) {
    std::vector<int> words(32);
    for (int i = 0; i < 32; ++i) words[static_cast<std::size_t>(i)] = 100 * rank + i;
    MPI_Win_fence(0, window.win);
    MPI_Put(words.data() + 16, 1, origin, right(), at, 1, target, window.win);
    MPI_Win_fence(0, window.win);
    for (std::size_t i = 0; i < expected.size(); ++i)
      CHECK_EQUAL(window.data[i], expected[i] < 0 ? -1 : 100 * left() + expected[i]);
  });
}

MPI_Datatype vector_of(int count, int stride) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_vector(count, 1, stride, MPI_INT, &made);
  MPI_Type_commit(&made);
  return made;
}

}  // namespace

CASE(negative_strides) {
  MPI_Datatype down = vector_of(3, -2);
  MPI_Datatype down_by_one = vector_of(3, -1);
  MPI_Datatype up = vector_of(3, 1);
  check_put(down, up, 1, {-1, 16, 14, 12, -1});
  check_put(up, down, 5, {-1, 18, -1, 17, -1, 16, -1});
  check_put(down_by_one, up, 0, {16, 15, 14, -1});
  check_put(up, down_by_one, 2, {18, 17, 16, -1});
  MPI_Type_free(&down);
  MPI_Type_free(&down_by_one);
  MPI_Type_free(&up);
}

// The same word three times: allowed where it is read.
CASE(zero_strides) {
  MPI_Datatype same = vector_of(3, 0);
  MPI_Datatype up = vector_of(3, 2);
  check_put(same, up, 0, {16, -1, 16, -1, 16, -1});
  MPI_Type_free(&same);
  MPI_Type_free(&up);
}

CASE(lower_bounds_and_extents) {
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Datatype wide = MPI_DATATYPE_NULL;
  MPI_Datatype two = MPI_DATATYPE_NULL;
  MPI_Datatype four = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_create_resized(pair, -4, 12, &wide);
  MPI_Type_contiguous(2, wide, &two);
  MPI_Type_contiguous(4, MPI_INT, &four);
  MPI_Type_commit(&two);
  MPI_Type_commit(&four);
  check_put(two, four, 1, {-1, 16, 17, 19, 20, -1});
  check_put(four, two, 1, {-1, 16, 17, -1, 18, 19, -1});
  for (MPI_Datatype* type : {&pair, &wide, &two, &four}) MPI_Type_free(type);
}

// A datatype's layout is forgotten with it: its handle may be another one's the next time.
CASE(handles_are_used_again) {
  for (int stride = 1; stride <= 6; ++stride) {
    MPI_Datatype type = vector_of(2, stride);
    std::vector<int> expected(12, -1);
    expected[0] = 16;
    expected[static_cast<std::size_t>(stride)] = 17;
    MPI_Datatype plain = vector_of(2, 1);
    check_put(plain, type, 0, expected);
    MPI_Type_free(&plain);
    MPI_Type_free(&type);
  }
}

CASE(accumulates_of_repeated_elements) {
  MPI_Datatype same = vector_of(4, 0);
  with_windows<int>(2, 1, [&](TestWindow<int>& window) {
    const int values[4] = {1, 10, 100, 1000};
    MPI_Win_fence(0, window.win);
    MPI_Accumulate(values, 4, MPI_INT, right(), 1, 1, same, MPI_SUM, window.win);
    MPI_Win_fence(0, window.win);
    CHECK_EQUAL(window.data[0], 1);
    CHECK_EQUAL(window.data[1], 1112);
  });
  MPI_Type_free(&same);
}

// MPI keeps this type for text, but both MPIs take it for an integer, and programs count with it.
CASE(characters_are_integers) {
  with_windows<char>(4, 3, [&](TestWindow<char>& window) {
    const char one = 1;
    const char minus = -5;
    const char seven = 7;
    const char three = 3;
    char before[2] = {0, 0};
    MPI_Win_fence(0, window.win);
    MPI_Fetch_and_op(&one, before, MPI_CHAR, right(), 0, MPI_SUM, window.win);
    MPI_Accumulate(&minus, 1, MPI_CHAR, right(), 1, 1, MPI_CHAR, MPI_MIN, window.win);
    MPI_Accumulate(&seven, 1, MPI_CHAR, right(), 2, 1, MPI_CHAR, MPI_BXOR, window.win);
    MPI_Compare_and_swap(&seven, &three, before + 1, MPI_CHAR, right(), 3, window.win);
    MPI_Win_fence(0, window.win);
    CHECK_EQUAL(before[0], 3);
    CHECK_EQUAL(before[1], 3);
    CHECK_EQUAL(window.data[0], 4);
    CHECK_EQUAL(window.data[1], -5);
    CHECK_EQUAL(window.data[2], 4);
    CHECK_EQUAL(window.data[3], 7);
  });
}

namespace {

#pragma pack(push, 1)
struct Record {
  char letter;
  double number;
  short small;
  float fraction;
};
#pragma pack(pop)

}  // namespace

// A struct of members of several types, at addresses that fit none of them; and copies of it.
CASE(structs_at_any_address) {
  const int lengths[] = {1, 1, 1, 1};
  const MPI_Aint places[] = {0, 1, 9, 11};
  const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT, MPI_FLOAT};
  MPI_Datatype padded = MPI_DATATYPE_NULL;  // MPI aligns its end as C would align a struct that is not packed
  MPI_Datatype record = MPI_DATATYPE_NULL;
  MPI_Datatype copy = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(4, lengths, places, types, &padded);
  MPI_Type_create_resized(padded, 0, sizeof(Record), &record);
  MPI_Type_free(&padded);
  MPI_Type_commit(&record);
  MPI_Type_dup(record, &copy);
  with_windows<char>(15 * 8, 0, [&](TestWindow<char>& window) {
    const Record sent[3] = {{'a', 1.5 + rank, 7, 0.5F}, {'b', -1.5, 8, 0.25F}, {'c', 1e300, -9, 3.0F}};
    Record got[3] = {};
    MPI_Win_lock_all(0, window.win);
    MPI_Put(sent, 3, record, right(), 15, 3, copy, window.win);
    MPI_Win_flush(right(), window.win);
    MPI_Get(got, 3, copy, right(), 15, 3, copy, window.win);
    MPI_Win_flush(right(), window.win);
    CHECK(std::memcmp(sent, got, sizeof sent) == 0);
    // Single members, which are elements of one type.
    const double one = 1;
    double old = 0;
    MPI_Accumulate(&one, 1, MPI_DOUBLE, right(), 16, 1, MPI_DOUBLE, MPI_SUM, window.win);
    MPI_Fetch_and_op(&one, &old, MPI_DOUBLE, right(), 16, MPI_SUM, window.win);
    MPI_Win_flush(right(), window.win);
    CHECK(old == 2.5 + rank);
    MPI_Win_unlock_all(window.win);
    MPI_Barrier(MPI_COMM_WORLD);
    Record first = {};
    std::memcpy(&first, window.data + 15, sizeof first);
    CHECK(first.letter == 'a' && first.number == 3.5 + left() && first.small == 7);
    CHECK_EQUAL(window.data[14], 0);
  });
  MPI_Type_free(&copy);
  MPI_Type_free(&record);
}

// Words at an address that no instruction updates: still atomic, under locks.
CASE(unaligned_words_are_atomic) {
  constexpr int kRounds = 100;
  with_windows<char>(64, 0, [](TestWindow<char>& window) {
    const long one = 1;
    long old = -1;
    MPI_Win_lock_all(0, window.win);
    for (int i = 0; i < kRounds; ++i) {
      MPI_Accumulate(&one, 1, MPI_LONG, 0, 3, 1, MPI_LONG, MPI_SUM, window.win);
      MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 3, MPI_SUM, window.win);
      MPI_Win_flush(0, window.win);
      CHECK(old >= 2 * i + 1);
    }
    MPI_Win_unlock_all(window.win);
    MPI_Barrier(MPI_COMM_WORLD);
    long sum = 0;
    std::memcpy(&sum, window.data + 3, sizeof sum);
    if (rank == 0) CHECK_EQUAL(sum, 2L * kRounds * ranks);
  });
}

CASE(types_of_a_precision) {
  MPI_Datatype real = MPI_DATATYPE_NULL;
  MPI_Type_create_f90_real(15, 300, &real);
  with_windows<double>(2, 0.5, [&](TestWindow<double>& window) {
    const double value = 2.25;
    MPI_Win_fence(0, window.win);
    MPI_Accumulate(&value, 1, MPI_DOUBLE, right(), 1, 1, real, MPI_SUM, window.win);
    MPI_Win_fence(0, window.win);
    CHECK(window.data[1] == 2.75);
  });
}

namespace {

// Types of Fortran with which nobody computes here: they are moved, replaced and fetched, and nothing else.
void check_opaque(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) return;
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  const auto size = static_cast<std::size_t>(bytes);
  with_windows<char>(8 * size, 0, [&](TestWindow<char>& window) {
    std::vector<char> sent(3 * size);
    for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<char>(rank + 3 * static_cast<int>(i) + 1);
    std::vector<char> got(3 * size);
    std::vector<char> before(size, 1);
    MPI_Win_set_errhandler(window.win, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, window.win);
    MPI_Put(sent.data(), 2, type, right(), bytes, 2, type, window.win);
    MPI_Accumulate(sent.data() + 2 * bytes, 1, type, right(), 5 * bytes, 1, type, MPI_REPLACE, window.win);
    MPI_Win_flush(right(), window.win);
    MPI_Get(got.data(), 2, type, right(), bytes, 2, type, window.win);
    MPI_Fetch_and_op(nullptr, got.data() + 2 * bytes, type, right(), 5 * bytes, MPI_NO_OP, window.win);
    MPI_Fetch_and_op(sent.data(), before.data(), type, right(), 6 * bytes, MPI_REPLACE, window.win);
    MPI_Win_flush(right(), window.win);
    CHECK(got == sent);
    CHECK(std::all_of(before.begin(), before.end(), [](char c) { return c == 0; }));
    int error_class = MPI_SUCCESS;
    MPI_Error_class(MPI_Accumulate(sent.data(), 1, type, right(), 0, 1, type, MPI_SUM, window.win), &error_class);
    CHECK_EQUAL(error_class, MPI_ERR_OP);
    MPI_Win_unlock_all(window.win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQUAL(window.data[bytes], static_cast<char>(left() + 1));
    CHECK_EQUAL(window.data[0], 0);
  });
}

}  // namespace

CASE(types_that_nobody_computes_with_are_moved) {
#ifdef MPI_REAL16
  check_opaque(MPI_REAL16);
#endif
#ifdef MPI_COMPLEX32
  check_opaque(MPI_COMPLEX32);
#endif
#ifdef MPI_2COMPLEX
  check_opaque(MPI_2COMPLEX);
  check_opaque(MPI_2DOUBLE_COMPLEX);
#endif
}

#ifdef MPI_LOGICAL2
CASE(logicals_of_any_size) {
  with_windows<short>(2, 0, [](TestWindow<short>& window) {
    const short yes = 1;
    MPI_Win_fence(0, window.win);
    MPI_Put(&yes, 1, MPI_LOGICAL2, right(), 1, 1, MPI_LOGICAL2, window.win);
    MPI_Win_fence(0, window.win);
    MPI_Accumulate(&yes, 1, MPI_LOGICAL2, right(), 1, 1, MPI_LOGICAL2, MPI_LXOR, window.win);
    MPI_Accumulate(&yes, 1, MPI_LOGICAL2, right(), 0, 1, MPI_LOGICAL2, MPI_LOR, window.win);
    MPI_Win_fence(0, window.win);
    CHECK_EQUAL(window.data[0], 1);
    CHECK_EQUAL(window.data[1], 0);
  });
}
#endif

// Open MPI has a real of 18 digits, the long double of C.
CASE(long_reals_of_a_precision) {
#ifdef OPEN_MPI
  MPI_Datatype real = MPI_DATATYPE_NULL;
  MPI_Type_create_f90_real(18, 4000, &real);
  with_windows<long double>(2, 0.5L, [&](TestWindow<long double>& window) {
    const long double value = 2.25L;
    MPI_Win_fence(0, window.win);
    MPI_Accumulate(&value, 1, MPI_LONG_DOUBLE, right(), 1, 1, real, MPI_SUM, window.win);
    MPI_Win_fence(0, window.win);
    CHECK(window.data[1] == 2.75L);
  });
#endif
}

// Arrays and single elements of integers stay atomic with each other where locks take the place of instructions. Rank 0
// is a target of all, of itself too.
CASE(integers_are_atomic_at_any_granularity) {
  constexpr int kLongs = 1200;
  constexpr int kRounds = 60;
  for (const char* const granularity : {"0", "1024"}) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_accumulate_granularity", granularity);
    long* data = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    MPI_Win_allocate(kLongs * sizeof(long), sizeof(long), info, MPI_COMM_WORLD, &data, &win);
    std::fill(data, data + kLongs, 0L);
    MPI_Barrier(MPI_COMM_WORLD);
    const std::vector<long> ones(kLongs, 1);
    MPI_Win_lock_all(0, win);
    for (int round = 0; round < kRounds; ++round) {
      MPI_Accumulate(ones.data(), kLongs, MPI_LONG, 0, 0, kLongs, MPI_LONG, MPI_SUM, win);
      long old = 0;
      MPI_Fetch_and_op(ones.data(), &old, MPI_LONG, 0, 5, MPI_SUM, win);
      MPI_Accumulate(ones.data(), 1, MPI_LONG, 0, 600, 1, MPI_LONG, MPI_SUM, win);
      MPI_Win_flush(0, win);
      for (long seen = -1; seen != old;) {  // adds 1 to an element that others add to meanwhile
        seen = old;
        const long next = seen + 1;
        MPI_Compare_and_swap(&next, &seen, &old, MPI_LONG, 0, 7, win);
        MPI_Win_flush(0, win);
      }
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      const long all = static_cast<long>(kRounds) * ranks;
      int wrong = 0;
      for (int i = 0; i < kLongs; ++i) wrong += data[i] != (i == 5 || i == 7 || i == 600 ? 2 * all : all) ? 1 : 0;
      CHECK_EQUAL(wrong, 0);
    }
    MPI_Win_free(&win);
    MPI_Info_free(&info);
  }
}

int main(int argc, char** argv) { return mpi_test::run(argc, argv); }
