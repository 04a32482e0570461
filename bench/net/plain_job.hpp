// Two processes started by a PMI launcher. They share only a file that both map (in BENCH_CONTROL_DIR, a folder of
// this job alone): the words that control the samples, and a board for addresses. Included by support/job.hpp.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "../support/control.hpp"

namespace shmemx::bench {

class Job {
 public:
  Job(int, std::size_t) {
    pe_ = number_from("PMI_RANK");
    pes_ = number_from("PMI_SIZE");
    if (pes_ > kMostPes) die("a plain program is for two processes");
    map_file();
    sync();
    if (pe_ == 0) unlink(name_.c_str());
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job() { munmap(file_, sizeof(File)); }

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

  Control& control(int pe) const { return file_->controls[pe]; }

  // Edge `arrivals`: fetch_add(release) -> load(acquire); makes earlier entries of the board visible.
  void sync() {
    ++round_;
    file_->arrivals.fetch_add(1, std::memory_order_release);
    while (file_->arrivals.load(std::memory_order_acquire) < round_ * pes_) sched_yield();
  }

  // Returns the peer's data.
  std::vector<std::byte> exchange(std::span<const std::byte> mine) {
    if (mine.size() > kBoardBytes) die("an address is too long");
    Note& note = file_->notes[pe_];
    note.bytes = mine.size();
    std::memcpy(note.text, mine.data(), mine.size());
    sync();
    const Note& other = file_->notes[1 - pe_];
    std::vector<std::byte> theirs(other.text, other.text + other.bytes);
    sync();
    return theirs;
  }

 private:
  static constexpr int kMostPes = 2;
  static constexpr std::size_t kBoardBytes = 4096;
  struct Note {
    std::size_t bytes;
    std::byte text[kBoardBytes];
  };
  struct File {
    Control controls[kMostPes];
    alignas(64) std::atomic<long> arrivals;
    Note notes[kMostPes];
  };

  static int number_from(const char* variable) {
    const char* text = std::getenv(variable);
    if (text == nullptr) die("a plain program is started by mpiexec.hydra");
    return std::atoi(text);
  }

  // Either process may be first: a new file holds zeros, and both set the same length.
  void map_file() {
    const char* folder = std::getenv("BENCH_CONTROL_DIR");
    if (folder == nullptr) die("BENCH_CONTROL_DIR is not set");
    name_ = std::string(folder) + "/plain";
    const int fd = ::open(name_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(File)) != 0) die("the control file cannot be made");
    void* memory = mmap(nullptr, sizeof(File), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ::close(fd);
    if (memory == MAP_FAILED) die("mmap");
    file_ = static_cast<File*>(memory);
  }

  File* file_ = nullptr;
  std::string name_;
  long round_ = 0;
  int pe_ = 0;
  int pes_ = 0;
};

}  // namespace shmemx::bench
