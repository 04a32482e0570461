// The PEs to which messages were sent that may not have been executed there yet: what a flush of all PEs has to look
// at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace shmemx::nemesis {

// Under the lock of its owner. Between two calls the list may grow at its end, and flushes of other threads may shorten
// it.
class UnflushedPes {
 public:
  // Each channel remembers which PEs it has added.
  void add(int pe) { pes_.push_back(static_cast<std::uint16_t>(pe)); }
  std::size_t size() const noexcept { return pes_.size(); }
  // Returns the i-th PE, -1 if the list has become shorter.
  int at(std::size_t i) const noexcept { return i < pes_.size() ? pes_[i] : -1; }
  // Removes the PEs for which is_flushed(pe) returns true.
  template <class IsFlushed>
  void drop(IsFlushed&& is_flushed) {
    std::erase_if(pes_, [&](std::uint16_t pe) { return is_flushed(int{pe}); });
  }

 private:
  std::vector<std::uint16_t> pes_;
};

}  // namespace shmemx::nemesis
