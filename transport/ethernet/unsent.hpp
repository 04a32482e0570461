// What has to leave for one peer as soon as there is room: notes in its send window, the rest in the queue of a port.
#pragma once

#include <optional>
#include <vector>

#include "transport/ethernet/paths.hpp"
#include "transport/ethernet/pulls.hpp"

namespace shmemx::ethernet {

struct Unsent {
  struct Block {
    Path path;
    Pulls::Request request;
  };

  bool has_notes() const noexcept { return !ended_pulls.empty() || is_shutdown_due; }
  // Packets of one peer that wait are bounded; it requests others once more.
  bool has_room_for_block() const noexcept { return blocks.size() < kMostBlocks; }
  // The peer pulls nothing any more, and nothing is pulled from it.
  void drop_pulls() noexcept {
    request.reset();
    blocks.clear();
  }

  std::vector<std::uint64_t> ended_pulls;  // handles of payloads that are here
  bool is_shutdown_due = false;
  bool is_ping_due = false;
  std::optional<Pulls::Request> request;  // to the peer
  std::vector<Block> blocks;              // that the peer has requested

 private:
  static constexpr std::size_t kMostBlocks = 256;
};

}  // namespace shmemx::ethernet
