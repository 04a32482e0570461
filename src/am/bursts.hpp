// Finds out which messages follow each other so fast that the network should gather them. Nothing acknowledges such
// messages (Leave::burst), so the time between two of them tells. Under the endpoint's lock.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/contact_table.hpp"

namespace shmemx::am {

class Bursts {
 public:
  // `longest_ns`: the longest time between the first two messages of a burst.
  void open(std::size_t n_pes, std::uint64_t longest_ns) {
    last_.open(n_pes);
    longest_ns_ = longest_ns;
  }
  // To be called for each message of a program that may be in a burst. Returns true if it may wait for others to `pe`:
  // it follows another one without an end() between the two.
  [[gnu::noinline]] bool follows(int pe) noexcept;
  // Ends the bursts to all PEs: a thread waits, or the networks have sent what they held.
  void end() noexcept { ++turn_; }

 private:
  struct Last {
    std::uint32_t sent_turn = 0;      // turn_ when the last message of a burst left at once
    std::uint32_t gathered_turn = 0;  // turn_ when one gathered last
    std::uint64_t sent_ns = 0;        // time of the former
  };
  ContactTable<Last> last_;
  std::uint64_t longest_ns_ = 0;
  std::uint32_t turn_ = 1;  // counts ends
};

}  // namespace shmemx::am
