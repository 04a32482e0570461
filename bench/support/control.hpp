// How PE 0 leads the others through the samples: words that every process maps, whatever the library under test shares.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace shmemx::bench {

// Every PE owns one; PE 0 writes it.
// Edges:  order  order.store -> order.load         `iterations`, written before
//         done   done.fetch_add -> done.load       a follower has left its kernel or the case; the next order may come
struct Control {
  alignas(64) std::atomic<std::int64_t> order;
  std::int64_t iterations;
  alignas(64) std::atomic<std::int64_t> done;  // runs and cases that followers have ended, counted in PE 0
  alignas(64) std::atomic<std::int64_t> ping;
  alignas(64) std::atomic<std::int64_t> pong;
};

// A file of Controls for processes that a launcher started. PE 0 makes it and tells the others its process number; once
// all have opened it, PE 0 takes the name away.
class ControlFile {
 public:
  ControlFile() = default;
  ControlFile(const ControlFile&) = delete;
  ControlFile& operator=(const ControlFile&) = delete;
  ~ControlFile() {
    if (controls_ != nullptr) munmap(controls_, bytes_);
  }

  [[nodiscard]] bool open(long owner, int pes, bool create) {
    bytes_ = sizeof(Control) * static_cast<std::size_t>(pes);
    const int fd = shm_open(name_of(owner).c_str(), create ? O_RDWR | O_CREAT | O_EXCL : O_RDWR, 0600);
    if (fd < 0) return false;
    void* memory = MAP_FAILED;
    if (!create || ftruncate(fd, static_cast<off_t>(bytes_)) == 0)
      memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (memory == MAP_FAILED) return false;
    controls_ = static_cast<Control*>(memory);
    return true;
  }
  static void forget_name(long owner) { shm_unlink(name_of(owner).c_str()); }

  Control& of(int pe) const { return controls_[pe]; }

 private:
  static std::string name_of(long owner) { return "/shmemx-bench-" + std::to_string(owner); }

  Control* controls_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace shmemx::bench
