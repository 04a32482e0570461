// Shared by the stress programs of the queue: memory that several processes map at different addresses, and messages
// whose content can be verified.
#pragma once

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "bench/queue/free_cells.hpp"

namespace queue_stress {

using shmemx::kCacheLine;
using shmemx::nemesis::Cell;

[[noreturn]] inline void fail(const char* what) {
  std::fprintf(stderr, "queue stress: %s\n", what);
  std::fflush(nullptr);
  std::_Exit(1);
}

class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes) : bytes_(bytes), file_(memfd_create("queue_stress", MFD_CLOEXEC)) {
    if (file_ < 0 || ftruncate(file_, static_cast<off_t>(bytes)) != 0) fail("no shared memory");
    base_ = map();
  }
  std::byte* base() const { return base_; }
  // Maps the same memory at another address; accesses to the old one fault from now on.
  void move() {
    std::byte* const old = base_;
    base_ = map();
    munmap(old, bytes_);
  }

 private:
  std::byte* map() const {
    void* const where = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (where == MAP_FAILED) fail("cannot map the shared memory");
    return static_cast<std::byte*>(where);
  }
  std::size_t bytes_;
  int file_;
  std::byte* base_;
};

struct Content {
  std::uint32_t source;
  std::uint32_t words;  // how many words of `text` belong to it
  std::uint64_t number;
  std::uint64_t text[5];
};
inline constexpr std::size_t kCellBytes = 2 * kCacheLine;
static_assert(sizeof(Cell) + sizeof(Content) <= kCellBytes);

inline std::uint64_t word_of(std::uint32_t source, std::uint64_t number, std::uint32_t index) {
  return (number * 0x9e3779b97f4a7c15ULL) ^ (std::uint64_t{source} << 56) ^ index;
}

inline void write_content(Cell* cell, std::uint32_t source, std::uint64_t number, std::uint32_t words) {
  Content content{source, words, number, {}};
  for (std::uint32_t i = 0; i < words; ++i) content.text[i] = word_of(source, number, i);
  std::memcpy(cell->payload(), &content, sizeof content);
}

// Returns false if the cell holds no valid message.
inline bool read_content(const Cell* cell, Content& content) {
  std::memcpy(&content, cell->payload(), sizeof content);
  if (content.words > 5) return false;
  for (std::uint32_t i = 0; i < content.words; ++i)
    if (content.text[i] != word_of(content.source, content.number, i)) return false;
  return true;
}

inline double seconds_asked(double otherwise) {
  const char* text = std::getenv("SHMEMX_TEST_SECONDS");
  return text != nullptr ? std::atof(text) : otherwise;
}

class Clock {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace queue_stress
