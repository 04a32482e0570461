// Keys: by which names networks reach memory. A window is registered with a network piece by piece, when a PE first
// requests the key of a place in it: registered memory may have to stay in memory, and most of a heap is never touched.
//
// Both sides forget all keys when the windows are hidden. Keys of a public window end before: its owner revokes them at
// the PEs that have some, and unregisters the memory when all have replied (rdma.hpp). So no key outlives its window.
//
// Under the endpoint's lock.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "context/location.hpp"
#include "onesided/registrations.hpp"
#include "onesided/wire.hpp"
#include "transport/transport.hpp"

namespace shmemx::onesided {

// The largest number of keys that a window has for each network, and the least that a key covers unless the window
// ends.
inline constexpr std::uint64_t kMaxKeysOfWindow = 64;
inline constexpr std::uint64_t kMinKeyRange = std::uint64_t{16} << 20;
// What one request may have registered beside the piece that it is about, if that is new, and no more than is
// registered of the window already: registered memory may have to stay in memory.
inline constexpr std::uint64_t kMostAheadBytes = std::uint64_t{64} << 20;

// Says why `network` does not register the first piece of this PE's heap; empty if it does. Under the endpoint's lock.
std::string why_not_registered(transport::Transport& network);

// The target's side: the ranges that this PE has registered.
class OpenedRanges {
 public:
  // Returns the key of the piece of `memory` with the request's offset in it, for PE `pe`, and behind it those of other
  // pieces: what is registered, or, of the heap and the static data, is registered now within kMostAheadBytes, the
  // nearest first in the direction of the request. Registers the first one if it is not yet. `memory` has that byte.
  KeyList reply(transport::Transport& network, const KeyRequest& request, const windows::ExposedRange& memory, int pe);
  // The PEs that have got keys of bytes of the public window.
  std::vector<int> holders(windows::WindowName window, const Extent& extent);
  // Gives what has been opened of these bytes back to the registration cache; `memory`: what happens to it.
  void close(windows::WindowName window, const Extent& extent, Registrations::Memory memory) noexcept;
  // Unregisters all. The networks are still there.
  void close() noexcept;
  Registrations& registrations() noexcept { return registrations_; }

 private:
  // Pieces of a window do not overlap, except the same ones for several networks.
  struct Name {
    std::uint32_t index;
    std::uint32_t generation;
    std::uint64_t begin;
    transport::Transport* network;
    friend auto operator<=>(const Name&, const Name&) = default;
  };
  struct Opened {
    std::byte* base;
    KeyReply reply;
    std::vector<int> holders;  // of a public window
  };
  using Pieces = std::map<Name, Opened>;
  struct Requester {
    int pe;
    std::uint64_t ahead_bytes;  // that may be registered for it
  };

  template <class Visit>
  static void for_each(Pieces& pieces, windows::WindowName window, const Extent& extent, Visit visit);
  Opened& open_piece(const Name& name, const windows::ExposedRange& memory);
  void report_refusal(const Name& name, std::uint64_t bytes, const char* why);
  Opened* try_open_ahead(const Name& name, const windows::ExposedRange& memory);
  Opened* find(const transport::Transport& network, windows::WindowName window, std::uint64_t offset);
  std::uint64_t registered_bytes(const transport::Transport& network, const Name& window) const;
  static void add_holder(Opened& opened, windows::WindowName window, int pe);
  void add_neighbours(const Name& first, const KeyRequest& request, const windows::ExposedRange& memory,
                      Requester requester, KeyList& list);
  void end(Pieces::iterator piece, Registrations::Memory memory) noexcept;

  Pieces pieces_;
  Registrations registrations_;
  bool has_reported_ = false;  // a refusal
};

// The initiator's side: a range of a window as another PE has replied, and the key, imported by the network.
struct KnownKey {
  std::uint64_t begin;
  std::uint64_t bytes;
  transport::Rma* rma;
  transport::RemoteKey* key;  // null: messages only

  void release() const noexcept {
    if (key != nullptr) rma->release_key(key);
  }
};

class KnownKeys {
 public:
  // Returns the one that covers `place`, null if it has not been requested yet. Valid under the lock.
  const KnownKey* find(const context::Place& place) const noexcept;
  // Around each request for keys, which `rma` imports; null: the network has messages only. Keys that their owner has
  // revoked meanwhile are not added. The reply is sound.
  // Returns whether what follows `place` in its window is known, and nothing in front of it.
  bool begin_request(const context::Place& place) noexcept;
  void end_request(const context::Place& place, const KeyList* reply, transport::Rma* rma);
  // Takes the keys of bytes of a window out, for the caller to release.
  std::vector<KnownKey> revoke(int pe, windows::WindowName window, const Extent& extent);
  // Releases all. The networks are still there.
  void forget() noexcept;
  // Of a PE: the number of fences when all that was put there before had been executed.
  std::uint32_t& fences_flushed(int pe) { return fences_flushed_[pe]; }

 private:
  struct Owner {
    std::int32_t pe;
    windows::WindowName window;
    friend bool operator==(const Owner&, const Owner&) = default;
  };
  struct Hash {
    std::size_t operator()(const Owner& owner) const noexcept {
      const std::uint64_t name = std::uint64_t{owner.window.generation} << 20 ^ owner.window.index;
      return std::hash<std::uint64_t>{}(name ^ static_cast<std::uint64_t>(owner.pe) << 40);
    }
  };

  using Keys = std::map<std::uint64_t, KnownKey>;  // by begin; they do not overlap

  static void add(Keys& keys, int pe, const KeyReply& reply, transport::Rma* rma);

  std::unordered_map<Owner, Keys, Hash> windows_;
  std::unordered_map<int, std::uint32_t> fences_flushed_;
  std::vector<Owner> revoked_;  // while keys are being requested
  std::uint32_t requests_ = 0;
};

}  // namespace shmemx::onesided
