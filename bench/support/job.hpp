// The processes that a bench program consists of, in two kinds that offer the same few words:
// PEs of an OpenSHMEM library, or (BENCH_RAW) plain processes that share one mapping and use nothing else.
// The rest of the bench is written once for both; only the measured loops differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#if defined(BENCH_RAW)
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <vector>
#else
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
  // `bytes` is all that a PE will allocate.
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
    used_ = kSyncBytes;
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

  // A counter barrier for set-up; never measured.
  void sync() {
    auto& count = *reinterpret_cast<std::atomic<std::int64_t>*>(arena_);
    ++round_;
    count.fetch_add(1);
    while (count.load() < round_ * pes_) sched_yield();
  }

 private:
  static constexpr std::size_t kSyncBytes = 4096;

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

#else

class Job {
 public:
  Job(int, std::size_t) {
    shmem_init();
    pe_ = shmem_my_pe();
    pes_ = shmem_n_pes();
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

  template <class T>
  T* remote(T* here, int pe) const {
    void* there = shmem_ptr(here, pe);
    if (there == nullptr) die("shmem_ptr gave no address: the samples cannot be coordinated");
    return static_cast<T*>(there);
  }

  void sync() { shmem_barrier_all(); }

 private:
  int pe_ = 0;
  int pes_ = 0;
};

#endif

}  // namespace shmemx::bench
