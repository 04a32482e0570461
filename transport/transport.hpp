// One network between nodes, as the layer above sees it: a pipe of messages to each PE, in order, each delivered once.
// The layers above make everything else of such messages: puts, gets, atomics, completion. So a new network needs
// connect, send and poll only. A network that reads and writes memory of other PEs adds that (rma.hpp).
//
// A message is a header and a payload. The header begins with a fixed part (Header); the rest is the handler's.
//
// Rules for all transports:
//  - No locks, no threads: every call is made under the lock of the layer above, by one thread at a time.
//  - Nothing waits. send() refuses a message that it cannot take; the caller polls and tries again.
//  - A slow or silent PE never delays messages to other PEs.
//  - Connections are made on first use. Until then a transport keeps at most a pointer for each PE.
//  - Messages of one pair stay in order, long ones and short ones together: deliver() and placed() are called in the
//    order of sending. So is placement(), and only after all messages in front are done. The exception: placement() of
//    a message with kPlacedEarly may be called, and its payload may move, as soon as each unfinished message in front
//    of it is a long one for which placement() has returned a place. Short messages are never overtaken. Payloads under
//    way never have places that overlap: the later one waits. A transport may do this for a few payloads of a source at
//    a time, or not at all. Messages of different sources have no order.
//  - Incoming data are not trusted: lengths are checked before memory is touched. A broken frame ends in lost().
//  - Sinks are called inside poll() and Rma::progress() only. They may call send() and Rma::register_memory() of this
//    and of other transports, never those two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.hpp"
#include "transport/rma.hpp"

namespace shmemx::transport {

// The fixed part of each message's header. A transport reads header_bytes and kPlacedEarly only.
struct Header {
  std::uint8_t handler;
  std::uint8_t flags;          // kPlacedEarly or not; the other bits belong to the layer above
  std::uint16_t header_bytes;  // of the handler's own header, which follows
  std::uint32_t ack;
};
static_assert(sizeof(Header) == 8);
// In Header::flags: placement() may be called before placed() of the messages in front.
inline constexpr std::uint8_t kPlacedEarly = 0x80;

inline constexpr int kMaxTransports = 4;                          // of a job
inline constexpr std::size_t kMaxHeaderBytes = 512;               // of a message
inline constexpr std::size_t kMaxAddressBytes = 512;              // of an endpoint_address()
inline constexpr std::size_t kLongBytes = std::size_t{16} << 10;  // payloads from here on are long, see Sink

// A payload that is sent from where it lies. It stays in use until the transport sets `done`, inside poll() or send().
struct Outgoing {
  bool done = false;
  bool is_patient = false;  // nobody waits for `done`: a transport need not copy the payload to set it earlier
};

enum class Sent : std::uint8_t {
  no,     // nothing taken; poll and try again
  yes,    // taken: header and payload may be used again
  later,  // taken, but the payload stays in use until the Outgoing is done
};

// When a message leaves.
enum class Urgency : std::uint8_t {
  now,     // leaves at once; the most urgent comes first
  gather,  // may wait for later messages, until flush() or the next message with `now`
};

// What placement() returns to decline a payload; no address.
inline std::byte* declined() noexcept { return reinterpret_cast<std::byte*>(std::uintptr_t{1}); }

// Receives messages.
class Sink {
 public:
  // Delivers a message: the handler's header and the payload, one behind the other, 16-byte aligned, valid during the
  // call.
  virtual void deliver(int source, const Header& fixed, Bytes message) noexcept = 0;
  // Returns where to put the payload of a long message. Called once for each, after its header has arrived and when it
  // is its turn (see the rules above). If null, the message is delivered like a short one, in memory of the transport.
  // May be declined() up to Capabilities::declinable_bytes: a payload that is still at the sender stays there, and the
  // header is delivered alone; one that is here already is delivered with it.
  virtual std::byte* placement(int source, const Header& fixed, Bytes header, std::size_t payload_bytes) noexcept = 0;
  // The payload is complete at the place that placement() returned.
  virtual void placed(int source, const Header& fixed, Bytes header, std::size_t payload_bytes) noexcept = 0;
  // There is no path to `pe` any more, or never was. `cause` is one clause: "connection reset by peer". Not called for
  // a PE that has called close(). At most once for each PE.
  virtual void lost(int pe, const std::string& cause) noexcept = 0;
  // The network does not register memory of this length, and copies it instead. Called for the first only.
  virtual void copies(const char* network, std::size_t bytes, const std::string& cause) noexcept {
    static_cast<void>(network), static_cast<void>(bytes), static_cast<void>(cause);
  }

 protected:
  ~Sink() = default;
};

// The endpoint addresses of all PEs.
class EndpointAddresses {
 public:
  // Returns what endpoint_address() returned at `pe`; empty if that PE has no such transport.
  virtual Bytes address_of(int pe) const noexcept = 0;

 protected:
  ~EndpointAddresses() = default;
};

struct Capabilities {
  bool rma = false;         // Rma moves data without the target's CPU, so it is faster than messages
  bool probes_rma = false;  // that is so only if it shows at the first contact (onesided/rdma_probe.hpp)
  bool waits = false;    // descriptor() becomes readable if poll() has something to do; else it is polled at intervals
  bool resumes = false;  // what breaks is opened again, and nothing is lost: lost() means that the PE is gone
  std::size_t short_bytes;           // payloads up to here need no second copy and no rendezvous
  std::size_t declinable_bytes = 0;  // payloads up to here stay with the sender if placement() returns declined()
};

// For the transport "ethernet"; 0 and empty: it chooses.
struct EthernetSettings {
  std::string interface;
  std::size_t mtu = 0;
  std::uint32_t block_packets = 0;  // of one request for packets of a long payload
  std::uint32_t blocks = 0;         // outstanding at once
  std::uint32_t resend_us = 0;      // the shortest time after which a frame is sent again
};

// What a transport is opened with. It outlives the transport.
struct Setup {
  int me = 0;
  int n_pes = 1;
  std::uint64_t secret[2] = {};      // of the job; see common/authentication.hpp
  std::uint32_t timeout_ms = 30000;  // a network that carries nothing for this time is broken
  std::uint32_t silence_ms =
      30000;                 // a PE that does not reply for this time is lost; longer if a computing PE cannot reply
  bool one_machine = false;  // all PEs of the job are on this machine
  bool has_reserve = false;  // another network may take over when this one fails: abandon() may be called
  bool tcp_one_read = true;  // tcp reads headers and payloads together
  Sink* sink = nullptr;
  EthernetSettings ethernet = {};
  int stop_signal = 0;   // threads of the network leave this signal unblocked; 0: none. See base/stopped_threads.hpp
  bool tcp_mac = false;  // what travels on a connection carries keyed hashes, see tcp/sealing.hpp; the same on all PEs
  std::uint64_t first_number = 0;  // of what is sent to each PE over ucx and ofi; the same on all PEs; for tests
};

// Returns how long a PE may be silent on a network that another one can replace.
constexpr std::uint32_t silence_before_reserve(const Setup& setup) noexcept {
  return setup.has_reserve ? setup.silence_ms / 4 : setup.silence_ms;
}

// Frames since the start, of a network that sends its own.
struct FrameCounts {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;    // that prove to be of this job
  std::uint64_t resent = 0;      // sent again, or requests for packets that were missing
  std::uint64_t duplicates = 0;  // received again, or recorded and sent by somebody else
  // Received and dropped, by cause:
  std::uint64_t truncated = 0;   // cut off, or of no valid form
  std::uint64_t foreign = 0;     // for another endpoint, or from nobody of this job
  std::uint64_t forged = 0;      // the proof is wrong: changed on the way, or made without the secret
  std::uint64_t stale = 0;       // of an earlier life of their sender
  std::uint64_t overflowed = 0;  // that found no room in the ring

  std::uint64_t refused() const noexcept { return truncated + foreign + forged + stale; }
  FrameCounts& operator+=(const FrameCounts& more) noexcept;
};

// Returns the cause of a loss if a PE has not replied for `ms`. It names the variable that allows a longer time.
std::string silence_text(std::uint64_t ms);

class Transport {
 public:
  virtual ~Transport() = default;
  virtual const char* name() const noexcept = 0;  // as in SHMEMX_TRANSPORT
  virtual Capabilities capabilities() const noexcept = 0;
  // Returns what others need to reach this PE, at most kMaxAddressBytes.
  virtual std::string endpoint_address() const = 0;
  // To be called before the first send() or poll(). `addresses` outlives the transport.
  virtual void set_addresses(const EndpointAddresses& addresses) noexcept = 0;

  // Sends a message. `header`, at most kMaxHeaderBytes, is always copied. A payload below kLongBytes has been copied or
  // sent on return. A long one may be read later if `outgoing` is not null. It is null if the payload will not stay.
  virtual Sent send(int pe, const Header& fixed, Bytes header, Bytes payload, Outgoing* outgoing,
                    Urgency urgency) noexcept = 0;
  // Sends what has been gathered.
  virtual void flush() noexcept = 0;
  // Makes progress: receives, sends what had to wait, finds ends of connections. Returns true if a sink was called, if
  // something that had to wait was sent, or if bytes of a message have moved: the caller then polls again soon.
  // `expected` is the PE whose message the caller waits for, -1 if any; other PEs may then be polled less often.
  virtual bool poll(int expected) noexcept = 0;

  // Returns a descriptor that is readable if there is something to do, -1 if there is none. Any thread may wait on it.
  virtual int descriptor() const noexcept = 0;
  // To be called before a thread sleeps on the descriptor. Returns false if poll() has to be called first. Not called
  // if nothing can wake a thread (Capabilities::waits).
  virtual bool arm() noexcept = 0;

  // The orderly end. Sends a shutdown message to all PEs that this PE has exchanged messages with, so that they do not
  // take the silence for a failure. Waits, at most `patience_ms`, until everything has left this machine.
  virtual void close(std::uint32_t patience_ms) noexcept = 0;

  // Another network takes over all traffic with `pe`. From the first call on nothing of that PE is delivered. Returns
  // true when nothing of this transport reads or writes memory for it any more: no payload, placed or sent, no
  // operation of put() or get(). To be called again until then.
  virtual bool abandon(int pe) noexcept;

  // Describes to users how `pe` is reached ("eth0 10.0.0.1 -> 10.0.0.2:4711"), how long messages are sent, and what
  // makes progress.
  virtual std::string describe(int pe) const = 0;
  // Zeros if the network leaves frames to others.
  virtual FrameCounts frames() const noexcept { return {}; }

  // Null if the network has messages only.
  virtual Rma* rma() noexcept { return nullptr; }
};

using TransportPtr = std::unique_ptr<Transport>;

}  // namespace shmemx::transport
