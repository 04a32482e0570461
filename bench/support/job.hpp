// The processes that a bench program consists of, in three kinds that offer the same few words: PEs of an OpenSHMEM
// library, ranks of an MPI (BENCH_MPI), or plain processes that share one mapping and use nothing else (BENCH_RAW).
// BENCH_PLAIN brings a Job of its own: net/plain_job.hpp.
// The rest of the bench is written once for all; only the measured loops differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "control.hpp"

#if defined(BENCH_RAW)
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <vector>
#elif defined(BENCH_MPI)
#include <mpi.h>
#elif !defined(BENCH_PLAIN)
#include <shmem.h>
#endif

namespace shmemx::bench {

[[noreturn]] inline void die(const char* what) {
  std::fprintf(stderr, "bench: %s\n", what);
  std::exit(2);
}

#if defined(BENCH_RAW)

class Job {
 public:
  // `bytes` is the total that a PE will allocate.
  Job(int pes, std::size_t bytes) : pes_(pes) {
    constexpr std::size_t kHuge = std::size_t{2} << 20;
    stride_ = (bytes + 2 * kHuge) & ~(kHuge - 1);
    const int fd = memfd_create("bench", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, static_cast<off_t>(stride_ * static_cast<std::size_t>(pes))) != 0) die("memfd");
    void* memory = mmap(nullptr, stride_ * static_cast<std::size_t>(pes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) die("mmap");
    madvise(memory, stride_ * static_cast<std::size_t>(pes), MADV_HUGEPAGE);
    arena_ = static_cast<std::byte*>(memory);
    close(fd);
    used_ = kSyncBytes + kControlBytes;
    start_children();
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  ~Job() {
    sync();
    if (pe_ != 0) _exit(0);
    for (const pid_t child : children_) waitpid(child, nullptr, 0);
  }

  int pe() const { return pe_; }
  int pes() const { return pes_; }

  void* allocate(std::size_t bytes) {
    std::byte* memory = base(pe_) + used_;
    used_ += (bytes + 4095) & ~std::size_t{4095};
    if (used_ > stride_) die("the raw arena is too small");
    std::memset(memory, 0, bytes);
    return memory;
  }

  template <class T>
  T* remote(T* here, int pe) const {
    return reinterpret_cast<T*>(reinterpret_cast<std::byte*>(here) + (base(pe) - base(pe_)));
  }

  Control& control(int pe) const { return *reinterpret_cast<Control*>(base(pe) + kSyncBytes); }

  // A counter barrier for set-up; never measured.
  void sync() {
    auto& count = *reinterpret_cast<std::atomic<std::int64_t>*>(arena_);
    ++round_;
    count.fetch_add(1);
    while (count.load() < round_ * pes_) sched_yield();
  }

 private:
  static constexpr std::size_t kSyncBytes = 4096;
  static constexpr std::size_t kControlBytes = 4096;

  std::byte* base(int pe) const { return arena_ + stride_ * static_cast<std::size_t>(pe); }

  void start_children() {
    for (int pe = 1; pe < pes_; ++pe) {
      const pid_t child = fork();
      if (child < 0) die("fork");
      if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pe_ = pe;
        children_.clear();
        return;
      }
      children_.push_back(child);
    }
  }

  std::byte* arena_ = nullptr;
  std::size_t stride_ = 0;
  std::size_t used_ = 0;
  std::int64_t round_ = 0;
  std::vector<pid_t> children_;
  int pe_ = 0;
  int pes_;
};

#elif defined(BENCH_MPI)

// Memory is private: only calls move data to another rank.
class Job {
 public:
  Job(int, std::size_t) {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &pe_);
    MPI_Comm_size(MPI_COMM_WORLD, &pes_);
    long number = ControlFile::new_number();
    if (pe_ == 0 && !controls_.open(number, pes_, true)) die("the control file cannot be made");
    MPI_Bcast(&number, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    if (pe_ != 0 && !controls_.open(number, pes_, false)) die("the control file does not open");
    sync();
    if (pe_ == 0) ControlFile::forget_name(number);
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job() { MPI_Finalize(); }

  int pe() const { return pe_; }
  int pes() const { return pes_; }

  void* allocate(std::size_t bytes) {
    void* memory = std::aligned_alloc(4096, (bytes + 4095) & ~std::size_t{4095});
    if (memory == nullptr) die("no memory");
    std::memset(memory, 0, bytes);
    return memory;
  }

  template <class T>
  T* remote(T* here, int pe) const {
    return pe == pe_ ? here : nullptr;
  }

  Control& control(int pe) const { return controls_.of(pe); }

  void sync() { MPI_Barrier(MPI_COMM_WORLD); }

 private:
  ControlFile controls_;
  int pe_ = 0;
  int pes_ = 0;
};

#elif !defined(BENCH_PLAIN)

class Job {
 public:
  Job(int, std::size_t) {
    shmem_init();
    pe_ = shmem_my_pe();
    pes_ = shmem_n_pes();
    share_control();
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job() { shmem_finalize(); }

  int pe() const { return pe_; }
  int pes() const { return pes_; }

  void* allocate(std::size_t bytes) {
    void* memory = shmem_align(4096, bytes);
    if (memory == nullptr) die("the symmetric heap is too small");
    std::memset(memory, 0, bytes);
    return memory;
  }

  // Returns null if the library does not map the other PE's memory.
  template <class T>
  T* remote(T* here, int pe) const {
    return static_cast<T*>(shmem_ptr(here, pe));
  }

  Control& control(int pe) const { return controls_.of(pe); }

  void sync() { shmem_barrier_all(); }

 private:
  void share_control() {
    static long number;
    if (pe_ == 0) {
      const long mine = ControlFile::new_number();
      if (!controls_.open(mine, pes_, true)) die("the control file cannot be made");
      for (int pe = 0; pe < pes_; ++pe) shmem_long_p(&number, mine, pe);
    }
    sync();
    if (pe_ != 0 && !controls_.open(number, pes_, false)) die("the control file does not open");
    sync();
    if (pe_ == 0) ControlFile::forget_name(number);
  }

  ControlFile controls_;
  int pe_ = 0;
  int pes_ = 0;
};

#endif

}  // namespace shmemx::bench

#if defined(BENCH_PLAIN)
#include "../net/plain_job.hpp"
#endif
