// The PEs to which messages were sent that may not have been executed there yet: what a flush of all PEs has to look
// at.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace shmemx::nemesis {

// How many PEs the lists of this process hold. A thread that reads 0 has nothing to flush: what it has sent before has
// been executed.
//
// Edge:  flushed  store in drop() -> load  the acknowledgements of what was sent
inline constinit std::atomic<std::size_t> unflushed_count{0};

// Under the lock of its owner. Between two calls the list may grow at its end, and flushes of other threads may shorten
// it.
class UnflushedPes {
 public:
  UnflushedPes() = default;
  UnflushedPes(const UnflushedPes&) = delete;
  UnflushedPes& operator=(const UnflushedPes&) = delete;
  ~UnflushedPes() { unflushed_count.fetch_sub(pes_.size(), std::memory_order_release); }  // flushed

  // Each channel remembers which PEs it has added.
  void add(int pe) {
    pes_.push_back(pe);
    unflushed_count.fetch_add(1, std::memory_order_relaxed);  // read by the same thread
  }
  std::size_t size() const noexcept { return pes_.size(); }
  // Returns the i-th PE, -1 if the list has become shorter.
  int at(std::size_t i) const noexcept { return i < pes_.size() ? pes_[i] : -1; }
  // Removes the PEs for which is_flushed(pe) returns true.
  template <class IsFlushed>
  void drop(IsFlushed&& is_flushed) {
    const std::size_t dropped = std::erase_if(pes_, [&](std::int32_t pe) { return is_flushed(pe); });
    unflushed_count.fetch_sub(dropped, std::memory_order_release);  // flushed
  }

 private:
  std::vector<std::int32_t> pes_;
};

}  // namespace shmemx::nemesis
