// A network's own put and get: it reads and writes memory of other PEs, named by keys, and runs no handler there.
// Transport::rma() returns this where a network has it. The rules of transport.hpp hold: every call is made under the
// lock of the layer above, nothing waits, and operations end inside these calls or inside poll().
//
// One short put or get passes here for each call of the program, so these functions are as short as they can be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.hpp"

namespace shmemx::transport {

using Bytes = std::span<const std::byte>;

// A key names a range of memory that a PE has registered. It travels in messages; only the network reads it.
inline constexpr std::size_t kMaxKeyBytes = 256;

// A key of another PE, ready for use. Each network derives its own from it.
struct RemoteKey {
 protected:
  RemoteKey() = default;
  ~RemoteKey() = default;
};

// Counts operations under way: they increment `open`, and the network decrements it when each is complete at the
// target, or has failed because the PE is lost. One that has failed does nothing any more once abandon() has returned
// true, unless it is unknown.
struct Completion {
  std::uint64_t open = 0;
  bool failed = false;
  bool is_unknown = false;  // whether and when it takes effect
};

// What a network carries out at a PE only after the puts that were started before a fence.
enum class FenceOrder : std::uint8_t { nothing, puts, puts_and_messages };

// How a short get has begun.
enum class ShortGet : std::uint8_t {
  done,  // it has ended
  open,  // started, and counted by its completion
  no,    // nothing is under way: the caller has to poll or to take another way, or the PE is lost
};

// Returns how a short get has begun that get() has started, or not.
inline ShortGet how_begun(bool is_started, const Completion& completion) noexcept {
  if (!is_started) return ShortGet::no;
  if (completion.open != 0) return ShortGet::open;
  return completion.failed ? ShortGet::no : ShortGet::done;
}

// Puts and gets, of a network and of a lane.
class OneSided {
 public:
  static constexpr std::size_t kShortBytes = 64;

  // Start an operation at `offset` from the base of the range of `key`. They return false if the caller has to try
  // again after poll(). If the PE is lost, `completion` has failed on return. The local memory stays in use until the
  // operation is complete; the source of a put only until `source_use`, if not null, counts it no more.
  virtual bool put(const RemoteKey& key, std::uint64_t offset, Bytes source, Completion& completion,
                   Completion* source_use) noexcept = 0;
  virtual bool get(const RemoteKey& key, std::uint64_t offset, std::span<std::byte> dest,
                   Completion& completion) noexcept = 0;
  // put() and get() of at most kShortBytes. The bytes to put are copied, so that the source may be used again on
  // return. get_short() also looks whether the get has ended already, and receives nothing. They may start nothing
  // where put() and get() would.
  virtual bool put_short(const RemoteKey& key, std::uint64_t offset, Bytes source, Completion& completion) noexcept = 0;
  virtual ShortGet get_short(const RemoteKey& key, std::uint64_t offset, std::span<std::byte> dest,
                             Completion& completion) noexcept = 0;
  // Orders the puts to each PE: those from now on, and with `puts_and_messages` all messages, too, take effect after
  // those that have been started. `nothing`: the caller waits until these are complete.
  virtual FenceOrder fence() noexcept = 0;
  // Makes the operations end that the network has finished, for a caller that waits for one of them. It may also
  // receive messages, as poll() does. It costs far less than poll(), which does the rest, and has to be called now and
  // then in between.
  virtual void progress() noexcept = 0;

 protected:
  ~OneSided() = default;
};

// A lane: puts and gets of one user by endpoints that nobody else uses. Its calls need no lock where no other is named:
// one thread at a time makes them. It receives no message.
class Lane : public OneSided {
 public:
  virtual ~Lane() = default;

  // ---- under the lock of the layer above ----
  // Makes a key that the network has imported ready for the lane, as long as that lives. Returns null if the lane does
  // not reach the PE.
  virtual RemoteKey* import_key(const RemoteKey& key) noexcept = 0;
  // Tells the network which PEs the lane has lost. Its next poll() reports them.
  virtual void report_lost() noexcept = 0;

  // ---- without ----
  // The longest operation that put() and get() take.
  virtual std::size_t most_bytes() const noexcept = 0;
};

class Rma : public OneSided {
 public:
  // Opens a range to other PEs. Returns its key, at most kMaxKeyBytes, empty if the network needs none.
  virtual Result<std::string> register_memory(std::byte* base, std::size_t bytes) = 0;
  virtual void unregister_memory(std::byte* base) noexcept = 0;

  // Makes a key of `pe` ready for use until release_key(). Returns null if it cannot be read or `pe` is lost; then `pe`
  // is lost.
  virtual RemoteKey* import_key(int pe, Bytes key) noexcept = 0;
  // No operation with the key is under way. What is left is released with the transport.
  virtual void release_key(RemoteKey* key) noexcept = 0;

  // Returns the same network without the test for a small stack (RoomyTransport): for calls on a stack that is known to
  // be large.
  virtual Rma* bare() noexcept { return this; }

  // Opens a lane, which must end before the network. Returns null if the network has none, or no room for more.
  virtual std::unique_ptr<Lane> open_lane() noexcept { return nullptr; }

 protected:
  ~Rma() = default;
};

}  // namespace shmemx::transport
