// Scattered data to and from windows of every kind, while the target waits in the MPI and while it does not: strides,
// faces of a cube, lists of more than a thousand pieces of odd lengths and empty ones, sums of them.
#include <cstdint>
#include <functional>
#include <numeric>

#include "error_classes.hpp"
#include "mpi_test.hpp"

using mpi_test::left;
using mpi_test::rank;
using mpi_test::ranks;
using mpi_test::right;

namespace {

constexpr int kDoubles = 40'000;

// Memory of kDoubles numbers at each process, which hold their indices.
class Memory {
 public:
  enum class Kind { allocated, created, dynamic };
  explicit Memory(Kind kind) : own_(kind == Kind::allocated ? 0 : kDoubles + 1), kind_(kind) {
    const MPI_Aint bytes = kDoubles * sizeof(double);
    data = own_.empty() ? nullptr : own_.data() + 1;
    if (kind == Kind::allocated) {
      MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &data, &win);
    } else if (kind == Kind::created) {
      MPI_Win_create(data, bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    } else {
      MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
      MPI_Win_attach(win, data, bytes);
      MPI_Aint own = 0;
      std::vector<MPI_Aint> all(static_cast<std::size_t>(ranks));
      MPI_Get_address(data, &own);
      MPI_Allgather(&own, 1, MPI_AINT, all.data(), 1, MPI_AINT, MPI_COMM_WORLD);
      base = all[static_cast<std::size_t>(right())];
    }
    reset();
  }
  ~Memory() {
    MPI_Barrier(MPI_COMM_WORLD);
    if (kind_ == Kind::dynamic) MPI_Win_detach(win, data);
    MPI_Win_free(&win);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  void reset() {
    MPI_Barrier(MPI_COMM_WORLD);
    std::iota(data, data + kDoubles, 0.0);
    MPI_Win_fence(0, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  }
  MPI_Aint at(MPI_Aint element) const {
    return kind_ == Kind::dynamic ? base + element * static_cast<MPI_Aint>(sizeof(double)) : element;
  }

  double* data;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Aint base = 0;  // of the right neighbour

 private:
  std::vector<double> own_;
  Kind kind_;
};

// A datatype and the elements that it names, in its order.
class Pattern {
 public:
  Pattern(MPI_Datatype type, std::vector<std::size_t> elements) : indices(std::move(elements)), type_(type) {
    MPI_Type_commit(&type_);
  }
  ~Pattern() { MPI_Type_free(&type_); }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  MPI_Datatype type() const { return type_; }

  const std::vector<std::size_t> indices;

 private:
  MPI_Datatype type_;
};

using Use = std::function<void(const Pattern&)>;

void with_vector(int count, int length, int stride, const Use& use) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(count, length, stride, MPI_DOUBLE, &type);
  std::vector<std::size_t> indices;
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < length; ++k) indices.push_back(static_cast<std::size_t>(i * stride + k));
  use(Pattern(type, std::move(indices)));
}

void with_face(int normal, const Use& use) {
  constexpr int kSide = 32;
  const int sizes[] = {kSide, kSide, kSide};
  int parts[] = {kSide, kSide - 1, kSide};
  int starts[] = {0, 1, 0};
  parts[normal] = 1;
  starts[normal] = 5;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
  std::vector<std::size_t> indices;
  for (int a = 0; a < parts[0]; ++a)
    for (int b = 0; b < parts[1]; ++b)
      for (int c = 0; c < parts[2]; ++c)
        indices.push_back(static_cast<std::size_t>(((starts[0] + a) * kSide + starts[1] + b) * kSide + starts[2] + c));
  use(Pattern(type, std::move(indices)));
}

// Pieces of odd lengths, some of them empty, at odd distances, some in front of others, one far away.
void with_pieces(int count, const Use& use) {
  std::vector<int> lengths;
  std::vector<int> places;
  std::vector<std::size_t> indices;
  for (int i = 0; i < count; ++i) {
    const int slot = i % 2 == 0 ? i + 1 : i - 1;
    lengths.push_back(i % 5 == 2 ? 0 : 1 + i % 7);
    places.push_back(13 * slot + (i > count / 2 ? 6000 : 0));
    for (int k = 0; k < lengths.back(); ++k) indices.push_back(static_cast<std::size_t>(places.back() + k));
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_indexed(count, lengths.data(), places.data(), MPI_DOUBLE, &type);
  use(Pattern(type, std::move(indices)));
}

void with_patterns(const Use& use) {
  with_vector(1000, 1, 4, use);
  with_vector(3, 2, 5, use);
  with_vector(70, 3, 500, use);
  with_vector(1100, 1, 30, use);
  with_vector(1, 1, 1, use);
  for (int normal = 0; normal < 3; ++normal) with_face(normal, use);
  with_pieces(1500, use);
  with_pieces(9, use);
}

std::vector<double> numbers(std::size_t count, double first) {
  std::vector<double> all(count);
  std::iota(all.begin(), all.end(), first);
  return all;
}

// An epoch in which rank 0 operates on its neighbour while that one waits in a barrier, or all operate at once.
void operate(const Memory& memory, bool alone, const std::function<void()>& call) {
  MPI_Win_lock_all(0, memory.win);
  if (!alone || rank == 0) {
    call();
    MPI_Win_flush(right(), memory.win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_unlock_all(memory.win);
  MPI_Barrier(MPI_COMM_WORLD);
}

bool is_target(bool alone) { return !alone || left() == 0; }
bool is_origin(bool alone) { return !alone || rank == 0; }

void with_all(const std::function<void(Memory&, bool alone, const Pattern&)>& use) {
  for (const auto kind : {Memory::Kind::allocated, Memory::Kind::created, Memory::Kind::dynamic}) {
    Memory memory(kind);
    for (const bool alone : {true, false})
      with_patterns([&](const Pattern& pattern) {
        memory.reset();
        use(memory, alone, pattern);
      });
  }
}

std::vector<double> expected_memory(const Pattern& pattern, const std::function<double(std::size_t)>& value,
                                    std::size_t skipped) {
  std::vector<double> all = numbers(kDoubles, 0);
  for (std::size_t i = 0; i < pattern.indices.size(); ++i) all[skipped + pattern.indices[i]] = value(i);
  return all;
}

}  // namespace

CASE(puts_change_the_pieces_only) {
  with_all([](Memory& memory, bool alone, const Pattern& pattern) {
    const auto count = static_cast<int>(pattern.indices.size());
    const std::vector<double> data = numbers(pattern.indices.size(), -1e6);
    operate(memory, alone,
            [&] { MPI_Put(data.data(), count, MPI_DOUBLE, right(), memory.at(3), 1, pattern.type(), memory.win); });
    const auto value = [&](std::size_t i) { return data[i]; };
    const std::vector<double> wanted = is_target(alone) ? expected_memory(pattern, value, 3) : numbers(kDoubles, 0);
    CHECK(std::equal(wanted.begin(), wanted.end(), memory.data));
  });
}

CASE(gets_bring_the_pieces_only) {
  with_all([](Memory& memory, bool alone, const Pattern& pattern) {
    std::vector<double> packed(pattern.indices.size() + 1, -1);
    std::vector<double> same(kDoubles, -1);
    operate(memory, alone, [&] {
      MPI_Get(packed.data(), static_cast<int>(pattern.indices.size()), MPI_DOUBLE, right(), memory.at(3), 1,
              pattern.type(), memory.win);
      MPI_Get(same.data() + 1, 1, pattern.type(), right(), memory.at(3), 1, pattern.type(), memory.win);
    });
    if (!is_origin(alone)) return;
    for (std::size_t i = 0; i < pattern.indices.size(); ++i) {
      CHECK_EQUAL(packed[i], static_cast<double>(pattern.indices[i] + 3));
      CHECK_EQUAL(same[1 + pattern.indices[i]], static_cast<double>(pattern.indices[i] + 3));
      same[1 + pattern.indices[i]] = -1;
    }
    CHECK_EQUAL(packed.back(), -1.0);
    CHECK(same == std::vector<double>(kDoubles, -1));
  });
}

CASE(sums_are_added_to_the_pieces_only) {
  with_all([](Memory& memory, bool alone, const Pattern& pattern) {
    const auto count = static_cast<int>(pattern.indices.size());
    const std::vector<double> data = numbers(pattern.indices.size(), 0.5);
    std::vector<double> old(pattern.indices.size());
    operate(memory, alone, [&] {
      MPI_Accumulate(data.data(), count, MPI_DOUBLE, right(), memory.at(2), 1, pattern.type(), MPI_SUM, memory.win);
      MPI_Get_accumulate(data.data(), count, MPI_DOUBLE, old.data(), count, MPI_DOUBLE, right(), memory.at(2), 1,
                         pattern.type(), MPI_SUM, memory.win);
    });
    const auto value = [&](std::size_t i) { return static_cast<double>(pattern.indices[i] + 2) + 2 * data[i]; };
    const std::vector<double> wanted = is_target(alone) ? expected_memory(pattern, value, 2) : numbers(kDoubles, 0);
    CHECK(std::equal(wanted.begin(), wanted.end(), memory.data));
    for (std::size_t i = 0; is_origin(alone) && i < old.size(); ++i) CHECK_EQUAL(old[i], value(i) - data[i]);
  });
}

// Sums of integers in arrays and single ones of all processes at once: none is lost.
CASE(arrays_and_single_integers_are_atomic) {
  constexpr int kWords = 1037;
  constexpr int kRounds = 50;
  mpi_test::with_windows<int>(kWords + 3, 0, [](mpi_test::TestWindow<int>& window) {
    const std::vector<int> ones(kWords, 1);
    std::vector<int> old(kWords);
    MPI_Win_lock_all(0, window.win);
    for (int i = 0; i < kRounds; ++i) {
      MPI_Accumulate(ones.data(), kWords, MPI_INT, 0, 3, kWords, MPI_INT, MPI_SUM, window.win);
      MPI_Get_accumulate(ones.data(), kWords, MPI_INT, old.data(), kWords, MPI_INT, 0, 3, kWords, MPI_INT, MPI_SUM,
                         window.win);
      for (int k = 0; k < 20; ++k)
        MPI_Fetch_and_op(ones.data(), old.data(), MPI_INT, 0, 3 + (7 * k + rank) % 20, MPI_SUM, window.win);
      MPI_Win_flush_all(window.win);
    }
    MPI_Win_unlock_all(window.win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0) return;
    for (int i = 0; i < kWords + 3; ++i) {
      const int arrays = i < 3 ? 0 : 2 * kRounds * ranks;
      const int single = i < 3 || i >= 23 ? 0 : kRounds * ranks;
      CHECK_EQUAL(window.data[i], arrays + single);
    }
  });
}

CASE(scattered_data_outside_the_window_are_refused) {
  Memory memory(Memory::Kind::created);
  MPI_Win_set_errhandler(memory.win, MPI_ERRORS_RETURN);
  with_vector(1000, 1, 4, [&](const Pattern& pattern) {
    std::vector<double> data(1000, -7);
    MPI_Win_lock_all(0, memory.win);
    const MPI_Aint last = kDoubles - 3997;
    const int fits = MPI_Get(data.data(), 1000, MPI_DOUBLE, right(), last, 1, pattern.type(), memory.win);
    CHECK_EQUAL(fits, MPI_SUCCESS);
    MPI_Win_flush(right(), memory.win);
    CHECK_EQUAL(data.back(), static_cast<double>(kDoubles - 1));
    const int put = MPI_Put(data.data(), 1000, MPI_DOUBLE, right(), last + 1, 1, pattern.type(), memory.win);
    const int get = MPI_Get(data.data(), 1000, MPI_DOUBLE, right(), last + 1, 1, pattern.type(), memory.win);
    for (const int code : {put, get}) {
      int error_class = MPI_SUCCESS;
      MPI_Error_class(code, &error_class);
      CHECK_EQUAL(error_class, MPI_ERR_RMA_RANGE);
    }
    MPI_Win_unlock_all(memory.win);
  });
}

int main(int argc, char** argv) { return mpi_test::run(argc, argv); }
