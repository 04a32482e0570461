// Data of a program that runs beside a transfer: half of a core's own cache. It is read line by line in a random
// order; each line holds the address of the next one, so that nothing is prefetched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace shmemx::bench {

class WorkingSet {
 public:
  explicit WorkingSet(std::size_t bytes);

  void warm();       // brings it into the cache
  void evict();      // fills the cache with other data
  double read_ns();  // time of reading it once
  std::size_t lines() const { return lines_.size(); }

 private:
  struct alignas(64) Line {
    Line* next;
  };
  void walk();

  std::vector<Line> lines_;
  std::vector<std::uint64_t> other_;
};

}  // namespace shmemx::bench
