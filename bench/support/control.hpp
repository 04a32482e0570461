// Words through which PE 0 controls the samples of the others. Every process maps them, independent of the library
// under test. On virtual hosts, each with its own /dev/shm, they lie in a file of the folder BENCH_CONTROL_DIR.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "clock.hpp"

namespace shmemx::bench {

// Every PE owns one; PE 0 writes it.
// Edges:  order  order.store -> order.load         `iterations`, written before
//         done   done.fetch_add -> done.load       a follower has left its kernel or the case; the next order may come
struct Control {
  alignas(64) std::atomic<std::int64_t> order;
  std::int64_t iterations;
  alignas(
      64) std::atomic<std::int64_t> done;  // the number of runs and cases that followers have ended, counted in PE 0
  alignas(64) std::atomic<std::int64_t> ping;
  alignas(64) std::atomic<std::int64_t> pong;
};

// A file of Controls for processes that a launcher started. PE 0 creates it and sends the others its number; when all
// have opened it, PE 0 unlinks it.
class ControlFile {
 public:
  ControlFile() = default;
  ControlFile(const ControlFile&) = delete;
  ControlFile& operator=(const ControlFile&) = delete;
  ~ControlFile() {
    if (controls_ != nullptr) munmap(controls_, bytes_);
  }

  // Returns a number that no other job of this folder has. Process numbers alone are ambiguous if hosts have their
  // own.
  static long new_number() { return static_cast<long>(now_ns() ^ (std::int64_t{getpid()} << 44)); }

  [[nodiscard]] bool open(long number, int pes, bool create) {
    bytes_ = sizeof(Control) * static_cast<std::size_t>(pes);
    const int fd = open_file(name_of(number), create ? O_RDWR | O_CREAT | O_EXCL : O_RDWR);
    if (fd < 0) return false;
    void* memory = MAP_FAILED;
    if (!create || ftruncate(fd, static_cast<off_t>(bytes_)) == 0)
      memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (memory == MAP_FAILED) return false;
    controls_ = static_cast<Control*>(memory);
    return true;
  }
  static void forget_name(long number) {
    if (folder() != nullptr) {
      unlink(name_of(number).c_str());
    } else {
      shm_unlink(name_of(number).c_str());
    }
  }

  Control& of(int pe) const { return controls_[pe]; }

 private:
  static const char* folder() { return std::getenv("BENCH_CONTROL_DIR"); }
  static std::string name_of(long number) {
    return (folder() != nullptr ? folder() : "") + ("/shmemx-bench-" + std::to_string(number));
  }
  static int open_file(const std::string& name, int flags) {
    return folder() != nullptr ? ::open(name.c_str(), flags | O_CLOEXEC, 0600) : shm_open(name.c_str(), flags, 0600);
  }

  Control* controls_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace shmemx::bench
