// The general path of a network's own put and get, where it has them: the target's CPU does nothing. It asks for keys,
// splits what lies in several pieces, and repeats by messages what is lost when a network fails. Long blocks of anybody
// go by it, and short ones of the program where the direct path (direct.hpp) does not know the key yet. Everything
// else goes by messages, and so does what the target has not opened to the network.
//
// A network keeps no order between these transfers and messages, so it is made here: a transfer to a PE waits for the
// messages that were sent there before the last fence; a fence waits for the puts of its context. On public windows
// only completion orders puts and gets.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "config/kinds.hpp"
#include "context/context.hpp"
#include "context/location.hpp"
#include "onesided/registrations.hpp"
#include "onesided/requests.hpp"
#include "onesided/wire.hpp"
#include "transport/transport.hpp"

namespace shmemx::onesided {

// From here on a block is long enough to wait for its completion, and for a key.
inline constexpr std::size_t kRdmaBytes = transport::kLongBytes;

// What one message can repeat if the network fails.
inline constexpr std::size_t kMostOfPart = am::kMaxInternodeBytes / 2;

// Would a PE reach others so over a network that can do this?
inline bool uses_rdma(transport::Transport& network, config::NetRma choice) noexcept {
  return choice != config::NetRma::off && network.rma() != nullptr &&
         (network.capabilities().rma || choice == config::NetRma::on);
}

// Has it to show first that its operations need no CPU of the target?
inline bool needs_probe(const transport::Transport& network, config::NetRma choice) noexcept {
  return choice == config::NetRma::automatic && network.capabilities().probes_rma;
}

// By runtime, at init, and when the windows are hidden: all that was opened to networks is closed. `cache_bytes`: most
// memory of freed windows that stays registered.
void open_rdma(config::NetRma choice, std::span<transport::Transport* const> networks,
               std::uint64_t cache_bytes) noexcept;
void close_rdma() noexcept;

// Does a network of this job transfer blocks? Set at init, before anybody else reads it.
inline constinit bool has_rma_networks = false;

enum class Direction : std::uint8_t { put, get };

// Returns whether a network transfers blocks to or from `pe`, as far as that is known: a network that has to be probed
// counts until then.
bool has_rdma(int pe, Direction direction) noexcept;
inline bool goes_by_rdma(int pe, std::size_t bytes, Direction direction) noexcept {
  return bytes >= kRdmaBytes && has_rdma(pe, direction);
}
// Returns whether a network transfers blocks of any length between the program's and symmetric memory.
inline bool may_go_direct(int pe, Direction direction) noexcept { return has_rdma(pe, direction); }

struct Transfer {
  const char* routine;
  Direction direction;
  context::Place place;
  std::byte* local;
  std::size_t bytes;

  Transfer first(std::size_t most) const noexcept { return {routine, direction, place, local, most}; }
  void skip(std::size_t done) noexcept {
    place.offset += done;
    local += done;
    bytes -= done;
  }
};

// The begin of a transfer that is dealt with as one.
struct Part {
  std::size_t bytes;
  bool is_started;  // false: the network does not reach it
};
// Starts the first part, as a request of the initiator, which ends when the part is complete at the target or here.
// Nothing is started if the owner of a public window has freed it: messages meet the error. Requires goes_by_rdma().
Part start_rdma(const Transfer& transfer, const Initiator& initiator) noexcept;

// Starts a transfer of any length: by the network as far as it reaches, the rest by messages(part).
template <class Messages>
void start_by_network(Transfer transfer, const Initiator& initiator, Messages messages) noexcept {
  while (transfer.bytes != 0) {
    const Part part = start_rdma(transfer, initiator);
    if (!part.is_started) messages(transfer.first(part.bytes));
    transfer.skip(part.bytes);
  }
}

// Starts the transfer by a network where that is worth it: of long blocks, and of those of public windows for which the
// target's CPU would have to execute a message.
template <class Messages>
void start(const Transfer& transfer, const Initiator& initiator, Messages messages) noexcept {
  const int pe = transfer.place.pe;
  const Direction direction = transfer.direction;
  const bool passes_target = has_rma_networks && is_public(transfer.place.window) && may_go_direct(pe, direction);
  if (!passes_target && !goes_by_rdma(pe, transfer.bytes, direction)) [[likely]]
    return messages(transfer);
  start_by_network(transfer, initiator, messages);
}

// An operation of the direct path towards a PE that another network may take over: it ends as a transfer of
// start_rdma() does, and a message repeats it if the network fails.
struct KeptTransfer {
  static constexpr std::size_t kCopiedBytes = 64;
  enum class Source : std::uint8_t {
    stays,   // until the flush of the context
    waits,   // until `open` counts it no more
    copied,  // the program may change it at once; at most kCopiedBytes
  };

  Transfer what;
  transport::Completion* open;  // counts it until then: of a context, or of a caller that waits
  std::uint32_t context;        // index in the table of contexts
  Source source;
};
// Under the endpoint's lock. Returns false, with nothing started, if the caller has to try again after a poll.
bool start_kept(am::Endpoint& endpoint, const KeptTransfer& kept, std::uint64_t offset, transport::Rma& rma,
                const transport::RemoteKey& key);

// Returns when messages sent to `pe` before the last fence have been executed: transfers must not overtake them.
void flush_fenced_messages(const char* routine, int pe) noexcept;

// Returns whether a PE has ever got a key of a window of this one. Set under the endpoint's lock.
inline constinit std::atomic<bool> opened_keys{false};
inline bool has_opened_keys() noexcept { return opened_keys.load(std::memory_order_relaxed); }  // its lock orders

// By the owner of bytes of a public window that nobody finds any more: returns when no network reads or writes them. If
// the memory ends with the window, it is registered no longer.
void revoke_keys(const char* routine, windows::WindowName window, const Extent& extent,
                 Registrations::Memory memory) noexcept;
// Of the registration cache of this process.
Registrations::Counts registration_counts() noexcept;

// Ends the job after a put or get that has failed, as the PE is lost.
[[noreturn, gnu::cold]] void end_for_failure(const char* routine) noexcept;

// Waits until no transfer is under way.
void flush_rdma_all(const char* routine) noexcept;

// By set_handlers().
void set_key_handlers() noexcept;
// At the end of each poll, if there are any: closes the requests of transfers that have ended. Returns whether there
// were some.
inline constinit bool has_transfers = false;
bool finish_transfers(am::Endpoint& endpoint) noexcept;

}  // namespace shmemx::onesided
