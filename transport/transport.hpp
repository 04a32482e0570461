// One network between nodes, as the layer above sees it: a pipe of messages to each PE, in order, each delivered once.
// Everything else (puts, gets, atomics, completion) is made of such messages by the channel and the layers above it, so
// a new network needs connect, send and poll only. A network with hardware for it adds put and get (Capabilities::rma).
//
// Rules for all transports:
//  - No locks, no threads: every call is made under the lock of the layer above, by one thread at a time.
//  - Nothing waits. send() says no when it cannot take a message; the caller polls and tries again.
//  - A slow or silent PE never delays what goes to others.
//  - Connections are made on first use. What is kept of a PE before that is a pointer or less.
//  - Messages of one pair stay in order, long ones and short ones together: deliver() and placed() are called in the
//    order of sending. So is placement(), and only when all in front of the message is done. The exception: a message
//    with kPlacedEarly in its header may be asked for, and its bytes may come, as soon as each message in front of it
//    that is not done is a long one that placement() has been asked for itself. Short ones are never overtaken. Two
//    payloads on their way never have places that overlap: the later one waits. A transport may do this for a few
//    payloads of a source at a time, or not at all. Messages of different sources have no order.
//  - What comes in is not trusted: lengths are checked before anything is touched; a broken frame is lost().
//  - Sinks are called inside poll() only. They may call send() and register_memory() of this and of other transports,
//    never poll().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.hpp"

namespace shmemx::transport {

using Bytes = std::span<const std::byte>;

// What travels in front of each message. The transport reads header_bytes and kPlacedEarly only.
struct Header {
  std::uint8_t handler;
  std::uint8_t flags;          // kPlacedEarly or not; the other bits belong to the layer above
  std::uint16_t header_bytes;  // the first part of the payload; the payload behind it may land elsewhere
  std::uint32_t ack;
};
static_assert(sizeof(Header) == 8);
// Header::flags: the sink accepts placement() of this message before placed() of those in front of it.
inline constexpr std::uint8_t kPlacedEarly = 0x80;

inline constexpr int kMaxTransports = 4;                          // of a job
inline constexpr std::size_t kMaxHeaderBytes = 512;               // of a message
inline constexpr std::size_t kMaxAddressBytes = 512;              // longest endpoint_address()
inline constexpr std::size_t kLongBytes = std::size_t{16} << 10;  // a payload from here on is a long one, see Sink

// A payload that is read from where it lies until `done` is set (by poll() or send() of the transport).
struct Outgoing {
  bool done = false;
};

enum class Sent : std::uint8_t {
  no,     // nothing taken; poll and try again
  yes,    // the message is the transport's: header and payload may be used again
  later,  // the payload stays in use until the Outgoing is done
};

// How a message may be treated.
enum class Urgency : std::uint8_t {
  now,     // leaves at once
  gather,  // may wait for others behind it, until flush() or the next message that is sent now
};

// Where messages arrive.
class Sink {
 public:
  // `payload`: header and payload, one behind the other, 16-byte aligned, valid during the call.
  virtual void deliver(int source, const Header& fixed, Bytes message) noexcept = 0;
  // Asked once for each message whose payload has at least kLongBytes, when the header is here and it is its turn (see
  // the rules above): where the payload goes. Null: it is delivered like a short one (the transport finds the memory).
  virtual std::byte* placement(int source, const Header& fixed, Bytes header, std::size_t payload_bytes) noexcept = 0;
  // The payload lies where placement() said.
  virtual void placed(int source, const Header& fixed, Bytes header, std::size_t payload_bytes) noexcept = 0;
  // No way to `pe` any more (or never was): `cause` is one clause, "connection reset by peer". Not called for a PE that
  // has said close(). At most once for a PE.
  virtual void lost(int pe, const std::string& cause) noexcept = 0;

 protected:
  ~Sink() = default;
};

// Addresses of the others: what address() gave there. Empty: that PE has no such transport.
class EndpointAddresses {
 public:
  virtual Bytes address_of(int pe) const noexcept = 0;

 protected:
  ~EndpointAddresses() = default;
};

struct Capabilities {
  bool rma = false;         // put() and get() move data without the target's CPU: worth more than messages
  bool keys = false;        // register_memory(), put() and get() are there, in software where `rma` is false
  bool waits = false;       // descriptor() becomes readable when poll() has something to do
  std::size_t short_bytes;  // payloads up to here need no second copy and no handshake
};

// A range that this PE opens to others, as they name it: travels in messages. Opaque; at most kMaxKeyBytes.
inline constexpr std::size_t kMaxKeyBytes = 256;

// put() or get() under way; `open` grows by one with each and shrinks when it is complete at the target.
struct Completion {
  std::uint64_t open = 0;
};

// What a transport is opened with. Outlives it.
struct Setup {
  int me = 0;
  int n_pes = 1;
  std::uint64_t secret[2] = {};      // of the job: who does not know it is a stranger
  std::uint32_t timeout_ms = 30000;  // a network that carries nothing for so long is broken
  std::uint32_t silence_ms =
      30000;                 // a PE that answers nothing for so long is lost; longer where a computing PE cannot
  bool one_machine = false;  // all PEs of the job are on this machine
  Sink* sink = nullptr;
};

// The cause of a loss when a PE has not answered for `ms`: names what allows more.
std::string silence_text(std::uint64_t ms);

class Transport {
 public:
  virtual ~Transport() = default;
  virtual const char* name() const noexcept = 0;  // as in SHMEMX_TRANSPORT
  virtual Capabilities capabilities() const noexcept = 0;
  // What others need to reach this PE. At most kMaxAddressBytes.
  virtual std::string endpoint_address() const = 0;
  // Before the first send() or poll(); `addresses` outlives the transport.
  virtual void set_addresses(const EndpointAddresses& addresses) noexcept = 0;

  // `header` (at most kMaxHeaderBytes) is always copied. A payload below kLongBytes is copied or gone on return. A
  // longer one may be read later, when `outgoing` is not null; it is null where the payload is not going to stay.
  virtual Sent send(int pe, const Header& fixed, Bytes header, Bytes payload, Outgoing* outgoing,
                    Urgency urgency) noexcept = 0;
  // What has been gathered leaves.
  virtual void flush() noexcept = 0;
  // Receives, sends what was left over, notices ends. True when a sink was called, something left over has gone, or
  // bytes of a message have moved: whoever waits looks again soon.
  // `expected`: a PE that is waited for, -1: any; others may then be looked at less often.
  virtual bool poll(int expected) noexcept = 0;

  // For whoever sleeps until there is something to do; -1 where there is none. Any thread may wait on it.
  virtual int descriptor() const noexcept = 0;
  // To be called before sleeping. False: poll() first.
  virtual bool arm() noexcept = 0;

  // The end: says good-bye to all PEs ever reached, so that they do not take the silence for a failure, and waits (at
  // most `patience_ms`) until everything sent has left this machine's hands.
  virtual void close(std::uint32_t patience_ms) noexcept = 0;

  // For people: how `pe` is reached ("eth0 10.0.0.1 -> 10.0.0.2:4711"); how long messages go; where progress comes
  // from.
  virtual std::string describe(int pe) const = 0;

  // ---- networks with RMA only (Capabilities::keys) ----
  // The key's bytes; empty where none is needed.
  virtual Result<std::string> register_memory(std::byte* base, std::size_t bytes);
  virtual void unregister_memory(std::byte* base) noexcept;
  // `offset` from the base of the range that `key` names on `pe`. False: try again after poll(). The local memory stays
  // in use until `completion` says so.
  virtual bool put(int pe, Bytes key, std::uint64_t offset, Bytes source, Completion& completion) noexcept;
  virtual bool get(int pe, Bytes key, std::uint64_t offset, std::span<std::byte> dest, Completion& completion) noexcept;
};

using TransportPtr = std::unique_ptr<Transport>;

}  // namespace shmemx::transport
