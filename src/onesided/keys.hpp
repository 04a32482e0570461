// Keys: under which names networks reach memory. A window is opened to a network piece by piece, when somebody first
// asks for a place in it: what is opened may have to stay in memory, and most of a heap is never touched. Both sides
// forget all keys when the windows are hidden, so none outlives its window.
//
// Under the endpoint's lock.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "context/location.hpp"
#include "onesided/wire.hpp"
#include "transport/transport.hpp"

namespace shmemx::onesided {

// A window has at most so many keys for each network, and a key covers no less unless the window ends.
inline constexpr std::uint64_t kMaxKeysOfWindow = 64;
inline constexpr std::uint64_t kMinKeyRange = std::uint64_t{16} << 20;

// The asked PE's side: what this PE has opened.
class OpenedRanges {
 public:
  // The piece of `window` with `offset` in it, opened if it is not yet. `window` has that byte.
  const KeyAnswer& answer(transport::Transport& network, const KeyAsk& ask, const windows::ExposedRange& window);
  // All of them; the networks are still there.
  void close() noexcept;

 private:
  struct Opened {
    transport::Transport* network;
    windows::WindowName window;
    std::byte* base;
    KeyAnswer answer;
  };
  std::vector<std::unique_ptr<Opened>> opened_;
};

// The asking PE's side: what others have answered.
struct RemoteKey {
  windows::WindowName window;
  std::uint64_t begin;
  std::uint64_t bytes;
  bool is_open;  // false: messages only
  std::string key;
};

class KnownKeys {
 public:
  // The one that covers `place`; null: that has not been asked yet. Valid under the lock.
  const RemoteKey* find(const context::Place& place) const noexcept;
  // The answer is sound.
  void add(const context::Place& place, const KeyAnswer& answer);
  void forget() noexcept { peers_.clear(); }
  // Of a PE that has keys here: how many fences had been called when all that was put there before had been executed.
  std::uint32_t& fences_flushed(int pe) { return peers_[pe].fences_flushed; }

 private:
  struct Peer {
    std::uint32_t fences_flushed = 0;
    std::vector<RemoteKey> keys;
  };
  std::unordered_map<int, Peer> peers_;  // those that have been asked
};

}  // namespace shmemx::onesided
