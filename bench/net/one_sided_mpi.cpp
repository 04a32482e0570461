// The first cases of one_sided.cpp by one-sided MPI, in a window that is locked all the time; the other cases are not
// measured. The target waits as programs do that have nothing else to do: it enters the library again and again, or
// waits in it. No loop ends while the other rank may need it to make progress. Built for Open MPI and MPICH.
#include "../support/program.hpp"
#include "cases.hpp"

namespace {
using namespace shmemx::bench;

MPI_Win window = MPI_WIN_NULL;

// The window of a PE: its buffer `dest`, which begins with these words.
constexpr MPI_Aint kWord = 0, kFlag = 1, kCounter = 2;  // in words

long* word_of(Work& work, MPI_Aint index) { return work.words() + index; }

void open_window(Work& work) {
  if (window != MPI_WIN_NULL) return;
  MPI_Win_create(work.dest, kLargestBytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  MPI_Barrier(MPI_COMM_WORLD);
}

void put_word(long value, MPI_Aint at, int pe) {
  MPI_Put(&value, 1, MPI_LONG, pe, at, 1, MPI_LONG, window);
  MPI_Win_flush(pe, window);
}
void put_flag(long value, int pe) {
  MPI_Put(&value, 1, MPI_LONG, pe, kFlag, 1, MPI_LONG, window);
  MPI_Win_flush_local(pe, window);
}

void await(Work& work, long value) {
  const volatile long* const flag = word_of(work, kFlag);
  while (*flag != value) {
    int arrived = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &arrived, MPI_STATUS_IGNORE);
    MPI_Win_sync(window);
  }
}

void pingpong(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    ++work.sequence;
    if (work.pe == 0) put_flag(work.sequence, work.peer);
    await(work, work.sequence);
    if (work.pe != 0) put_flag(work.sequence, work.peer);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// PE 0 carries out `operation` while its peer waits for the end.
template <void (*operation)(Work&, long)>
void against_wait(Work& work, long iterations) {
  if (work.pe == 0) {
    operation(work, iterations);
    MPI_Send(nullptr, 0, MPI_BYTE, work.peer, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(nullptr, 0, MPI_BYTE, work.peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

void put_quiet(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) put_word(i, kWord, work.peer);
}
void get(Work& work, long iterations) {
  long value = 0;
  for (long i = 0; i < iterations; ++i) {
    MPI_Get(&value, 1, MPI_LONG, work.peer, kWord, 1, MPI_LONG, window);
    MPI_Win_flush(work.peer, window);
    keep(value);
  }
}
void fadd(Work& work, long iterations) {
  const long one = 1;
  long value = 0;
  for (long i = 0; i < iterations; ++i) {
    MPI_Fetch_and_op(&one, &value, MPI_LONG, work.peer, kCounter, MPI_SUM, window);
    MPI_Win_flush(work.peer, window);
    keep(value);
  }
}

constexpr double kLonger = 4;  // samples, for what ends them does not belong to the operations

constexpr std::array kCases = [] {
  std::array cases{
      one_way("net_pingpong", 8, pingpong, nullptr), round_trip("net_put_quiet", 8, against_wait<put_quiet>, nullptr),
      round_trip("net_get", 8, against_wait<get>, nullptr), round_trip("net_fadd", 8, against_wait<fadd>, nullptr)};
  for (Case& one : cases) {
    one.begin = open_window;
    one.sample_ns *= kLonger;
  }
  return cases;
}();
}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, kCases, kLargestBytes); }
