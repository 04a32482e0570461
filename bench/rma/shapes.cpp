// One-sided MPI in the shapes that programs use: windows that MPI allocates, over memory of malloc, and dynamic ones;
// short and long data, strided data and faces of a cube, bursts, odd places; all kinds of epochs. Rank 0 measures its
// operations on rank 1 while all others wait in MPI_Barrier.
//   shapes
// Prints "<row> <microseconds>", the median of several batches; no row for what the MPI refuses.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "timing.hpp"

namespace {

using bench_rma::now;

constexpr std::size_t kWindowBytes = std::size_t{5} << 20;
constexpr int kTarget = 1;
constexpr int kBatches = 11;
constexpr double kBatchMicroseconds = 400;
constexpr double kRowMicroseconds = 60000;  // an MPI that spins on fewer cores than processes takes milliseconds a call

struct Bench {
  int rank = 0;
  int ranks = 0;
  std::string prefix;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Aint base = 0;  // displacement of the target's memory
  std::vector<char> local = std::vector<char>(kWindowBytes, 1);
  std::vector<char> result = std::vector<char>(kWindowBytes, 0);

  char* here() { return local.data(); }
  bool measures() const { return rank == 0; }
};

double median_of(std::vector<double>& times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

int calls_of_batch(double once) { return std::clamp(static_cast<int>(kBatchMicroseconds / once), 1, 2000); }
int batches_of(double batch) { return std::clamp(static_cast<int>(kRowMicroseconds / batch), 3, kBatches); }

template <class Call>
double time_of(int calls, Call& call) {
  const double started = now();
  for (int i = 0; i < calls; ++i) call();
  return now() - started;
}

// What rank 0 does alone. The call returns false if the MPI refuses it.
template <class Call>
void measure(Bench& bench, const char* name, Call call) {
  bool works = true;
  auto checked = [&] { works = call() && works; };
  time_of(3, checked);
  if (!works) return;
  const double once = std::max(time_of(3, checked) / 3, 0.001);
  const int calls = calls_of_batch(once);
  std::vector<double> times(static_cast<std::size_t>(batches_of(calls * once)));
  for (double& time : times) time = time_of(calls, checked) / calls;
  bench_rma::print_row((bench.prefix + name).c_str(), median_of(times));
}

// What all processes do together; rank 0 says how often.
template <class Call>
void measure_together(Bench& bench, const char* name, Call call) {
  bool works = true;
  auto checked = [&] { works = call() && works; };
  time_of(3, checked);
  int counts[] = {1, 1, works ? 1 : 0};
  const double once = std::max(time_of(3, checked) / 3, 0.001);
  counts[0] = calls_of_batch(once);
  counts[1] = batches_of(counts[0] * once);
  MPI_Bcast(counts, 3, MPI_INT, 0, MPI_COMM_WORLD);
  if (counts[2] == 0) return;
  std::vector<double> times(static_cast<std::size_t>(counts[1]));
  for (double& time : times) time = time_of(counts[0], checked) / counts[0];
  if (bench.measures()) bench_rma::print_row((bench.prefix + name).c_str(), median_of(times));
}

bool is_done(int code) { return code == MPI_SUCCESS; }

template <class Start>
void measure_flushed(Bench& bench, const char* name, Start start) {
  measure(bench, name, [&] { return is_done(start()) && is_done(MPI_Win_flush(kTarget, bench.win)); });
}

void measure_contiguous(Bench& bench) {
  constexpr struct {
    int bytes;
    const char* put;
    const char* get;
  } kSizes[] = {{8, "put_8", "get_8"},          {64, "put_64", "get_64"},
                {1000, "put_1000", "get_1000"}, {10000, "put_10000", "get_10000"},
                {65536, "put_64k", "get_64k"},  {1 << 20, "put_1m", "get_1m"},
                {4 << 20, "put_4m", "get_4m"}};
  for (const auto& size : kSizes) {
    measure_flushed(bench, size.put, [&] {
      return MPI_Put(bench.here(), size.bytes, MPI_CHAR, kTarget, bench.base, size.bytes, MPI_CHAR, bench.win);
    });
    measure_flushed(bench, size.get, [&] {
      return MPI_Get(bench.here(), size.bytes, MPI_CHAR, kTarget, bench.base, size.bytes, MPI_CHAR, bench.win);
    });
  }
  constexpr struct {
    int bytes;
    const char* put;
    const char* get;
  } kOdd[] = {{3000, "odd_put_3000", "odd_get_3000"}, {200000, "odd_put_200000", "odd_get_200000"}};
  for (const auto& odd : kOdd) {
    measure_flushed(bench, odd.put, [&] {
      return MPI_Put(bench.here() + 3, odd.bytes, MPI_CHAR, kTarget, bench.base + 5, odd.bytes, MPI_CHAR, bench.win);
    });
    measure_flushed(bench, odd.get, [&] {
      return MPI_Get(bench.here() + 3, odd.bytes, MPI_CHAR, kTarget, bench.base + 5, odd.bytes, MPI_CHAR, bench.win);
    });
  }
}

// A datatype for one row or two.
class Type {
 public:
  explicit Type(MPI_Datatype type) : type_(type) { MPI_Type_commit(&type_); }
  ~Type() { MPI_Type_free(&type_); }
  Type(const Type&) = delete;
  Type& operator=(const Type&) = delete;
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_;
};

MPI_Datatype vector_of_doubles(int count, int length, int stride) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(count, length, stride, MPI_DOUBLE, &type);
  return type;
}

MPI_Datatype face_of_cube(int normal) {
  const int sizes[] = {64, 64, 64};
  int parts[] = {64, 64, 64};
  const int starts[] = {0, 0, 0};
  parts[normal] = 1;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
  return type;
}

void measure_scattered(Bench& bench) {
  const Type stride(vector_of_doubles(1000, 1, 4));
  const Type face(face_of_cube(2));
  const Type rows(face_of_cube(1));
  measure_flushed(bench, "put_stride4", [&] {
    return MPI_Put(bench.here(), 1000, MPI_DOUBLE, kTarget, bench.base, 1, stride.get(), bench.win);
  });
  measure_flushed(bench, "get_stride4", [&] {
    return MPI_Get(bench.here(), 1000, MPI_DOUBLE, kTarget, bench.base, 1, stride.get(), bench.win);
  });
  const struct {
    MPI_Datatype type;
    const char* put;
    const char* get;
  } faces[] = {{face.get(), "put_face", "get_face"}, {rows.get(), "put_face_rows", "get_face_rows"}};
  for (const auto& one : faces) {
    measure_flushed(bench, one.put,
                    [&] { return MPI_Put(bench.here(), 1, one.type, kTarget, bench.base, 1, one.type, bench.win); });
    measure_flushed(bench, one.get,
                    [&] { return MPI_Get(bench.here(), 1, one.type, kTarget, bench.base, 1, one.type, bench.win); });
  }
  measure_flushed(bench, "put_64_x20", [&] {
    int code = MPI_SUCCESS;
    for (int i = 0; i < 20 && code == MPI_SUCCESS; ++i)
      code = MPI_Put(bench.here() + 64 * i, 64, MPI_CHAR, kTarget, bench.base + 4096 * i, 64, MPI_CHAR, bench.win);
    return code;
  });
  measure_flushed(bench, "get_64_x20", [&] {
    int code = MPI_SUCCESS;
    for (int i = 0; i < 20 && code == MPI_SUCCESS; ++i)
      code = MPI_Get(bench.here() + 64 * i, 64, MPI_CHAR, kTarget, bench.base + 4096 * i, 64, MPI_CHAR, bench.win);
    return code;
  });
}

void measure_updates(Bench& bench) {
  std::fill(bench.local.begin(), bench.local.end(), '\0');
  constexpr struct {
    int count;
    const char* name;
  } kSums[] = {{1, "acc_double_1"}, {100, "acc_double_100"}, {1000, "acc_double_1000"}, {10000, "acc_double_10000"}};
  for (const auto& sum : kSums)
    measure_flushed(bench, sum.name, [&] {
      return MPI_Accumulate(bench.here(), sum.count, MPI_DOUBLE, kTarget, bench.base, sum.count, MPI_DOUBLE, MPI_SUM,
                            bench.win);
    });
  measure_flushed(bench, "acc_int_1000", [&] {
    return MPI_Accumulate(bench.here(), 1000, MPI_INT, kTarget, bench.base, 1000, MPI_INT, MPI_SUM, bench.win);
  });
  constexpr struct {
    int count;
    const char* name;
  } kFetches[] = {{1, "get_acc_int_1"},
                  {100, "get_acc_int_100"},
                  {1000, "get_acc_int_1000"},
                  {10000, "get_acc_int_10000"},
                  {100000, "get_acc_int_100000"}};
  for (const auto& fetch : kFetches)
    measure_flushed(bench, fetch.name, [&] {
      return MPI_Get_accumulate(bench.here(), fetch.count, MPI_INT, bench.result.data(), fetch.count, MPI_INT, kTarget,
                                bench.base, fetch.count, MPI_INT, MPI_SUM, bench.win);
    });
  const Type stride(vector_of_doubles(1000, 1, 4));
  measure_flushed(bench, "acc_stride4", [&] {
    return MPI_Accumulate(bench.here(), 1000, MPI_DOUBLE, kTarget, bench.base, 1, stride.get(), MPI_SUM, bench.win);
  });
}

void measure_words(Bench& bench) {
  long one = 1;
  long other = 0;
  long result = 0;
  measure_flushed(bench, "fetch_and_op",
                  [&] { return MPI_Fetch_and_op(&one, &result, MPI_LONG, kTarget, bench.base, MPI_SUM, bench.win); });
  measure_flushed(bench, "compare_and_swap", [&] {
    return MPI_Compare_and_swap(&one, &other, &result, MPI_LONG, kTarget, bench.base, bench.win);
  });
}

void measure_requests(Bench& bench) {
  const auto waited = [&](const char* name, auto start) {
    measure(bench, name, [&] {
      MPI_Request request = MPI_REQUEST_NULL;
      return is_done(start(&request)) && is_done(MPI_Wait(&request, MPI_STATUS_IGNORE));
    });
  };
  constexpr struct {
    int bytes;
    const char* put;
    const char* get;
  } kSizes[] = {{8, "rput_8", "rget_8"}, {10000, "rput_10000", "rget_10000"}};
  for (const auto& size : kSizes) {
    waited(size.put, [&](MPI_Request* request) {
      return MPI_Rput(bench.here(), size.bytes, MPI_CHAR, kTarget, bench.base, size.bytes, MPI_CHAR, bench.win,
                      request);
    });
    waited(size.get, [&](MPI_Request* request) {
      return MPI_Rget(bench.here(), size.bytes, MPI_CHAR, kTarget, bench.base, size.bytes, MPI_CHAR, bench.win,
                      request);
    });
  }
}

// In an epoch of lock_all.
void measure_passive(Bench& bench) {
  MPI_Win_lock_all(0, bench.win);
  measure_contiguous(bench);
  measure_scattered(bench);
  measure_words(bench);
  measure_requests(bench);
  measure_updates(bench);
  MPI_Win_unlock_all(bench.win);
}

void measure_locks(Bench& bench) {
  measure(bench, "lock_put_8", [&] {
    return is_done(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, kTarget, 0, bench.win)) &&
           is_done(MPI_Put(bench.here(), 8, MPI_CHAR, kTarget, bench.base, 8, MPI_CHAR, bench.win)) &&
           is_done(MPI_Win_unlock(kTarget, bench.win));
  });
  measure(bench, "lock_get_10000", [&] {
    return is_done(MPI_Win_lock(MPI_LOCK_SHARED, kTarget, 0, bench.win)) &&
           is_done(MPI_Get(bench.here(), 10000, MPI_CHAR, kTarget, bench.base, 10000, MPI_CHAR, bench.win)) &&
           is_done(MPI_Win_unlock(kTarget, bench.win));
  });
}

// All processes put into the next one.
void measure_epochs(Bench& bench, const std::vector<MPI_Aint>& bases) {
  const int to = (bench.rank + 1) % bench.ranks;
  const int from = (bench.rank + bench.ranks - 1) % bench.ranks;
  const MPI_Aint base = bases[static_cast<std::size_t>(to)];
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group sources = MPI_GROUP_NULL;
  MPI_Group targets = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &from, &sources);
  MPI_Group_incl(world, 1, &to, &targets);
  const auto fenced = [&](const char* name, int bytes) {
    measure_together(bench, name, [&, bytes] {
      return is_done(MPI_Win_fence(0, bench.win)) &&
             is_done(MPI_Put(bench.here(), bytes, MPI_CHAR, to, base, bytes, MPI_CHAR, bench.win)) &&
             is_done(MPI_Win_fence(0, bench.win));
    });
  };
  fenced("fence_put_8", 8);
  fenced("fence_put_8000", 8000);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, bench.win);
  const auto exposed = [&](const char* name, int bytes) {
    measure_together(bench, name, [&, bytes] {
      return is_done(MPI_Win_post(sources, 0, bench.win)) && is_done(MPI_Win_start(targets, 0, bench.win)) &&
             is_done(MPI_Put(bench.here(), bytes, MPI_CHAR, to, base, bytes, MPI_CHAR, bench.win)) &&
             is_done(MPI_Win_complete(bench.win)) && is_done(MPI_Win_wait(bench.win));
    });
  };
  exposed("pscw_put_8", 8);
  exposed("pscw_put_8000", 8000);
  MPI_Group_free(&targets);
  MPI_Group_free(&sources);
  MPI_Group_free(&world);
}

// `memory`: what this process exposes, where displacements are addresses; null where they are offsets.
void measure_window(Bench& bench, const char* kind, const void* memory) {
  bench.prefix = std::to_string(bench.ranks) + "_" + kind + "_";
  MPI_Aint own = 0;
  if (memory != nullptr) MPI_Get_address(memory, &own);
  std::vector<MPI_Aint> bases(static_cast<std::size_t>(bench.ranks));
  MPI_Allgather(&own, 1, MPI_AINT, bases.data(), 1, MPI_AINT, MPI_COMM_WORLD);
  bench.base = bases[kTarget];
  MPI_Win_set_errhandler(bench.win, MPI_ERRORS_RETURN);
  MPI_Barrier(MPI_COMM_WORLD);
  if (bench.measures()) {
    measure_passive(bench);
    measure_locks(bench);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  measure_epochs(bench, bases);
  std::fflush(stdout);
}

void measure_allocated(Bench& bench) {
  char* memory = nullptr;
  MPI_Win_allocate(kWindowBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &bench.win);
  std::fill(memory, memory + kWindowBytes, '\0');
  measure_window(bench, "alloc", nullptr);
  MPI_Win_free(&bench.win);
}

void measure_created(Bench& bench) {
  char* const memory = static_cast<char*>(std::malloc(kWindowBytes));
  std::fill(memory, memory + kWindowBytes, '\0');
  MPI_Win_create(memory, kWindowBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &bench.win);
  measure_window(bench, "malloc", nullptr);
  MPI_Win_free(&bench.win);
  std::free(memory);
}

void measure_dynamic(Bench& bench) {
  char* const memory = static_cast<char*>(std::malloc(kWindowBytes));
  std::fill(memory, memory + kWindowBytes, '\0');
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &bench.win);
  MPI_Win_attach(bench.win, memory, kWindowBytes);
  MPI_Barrier(MPI_COMM_WORLD);
  measure_window(bench, "dynamic", memory);
  MPI_Win_detach(bench.win, memory);
  MPI_Win_free(&bench.win);
  std::free(memory);
}

}  // namespace

int main(int argc, char** argv) {
  Bench bench;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &bench.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &bench.ranks);
  if (bench.ranks < 2) MPI_Abort(MPI_COMM_WORLD, 2);
  const std::string kinds = argc > 1 ? argv[1] : "alloc malloc dynamic";
  if (kinds.find("alloc") == 0 || kinds.find(" alloc") != std::string::npos) measure_allocated(bench);
  if (kinds.find("malloc") != std::string::npos) measure_created(bench);
  if (kinds.find("dynamic") != std::string::npos) measure_dynamic(bench);
  MPI_Finalize();
  return 0;
}
