// The wire format of two-sided messages. The functions that read it check every length and number before it is used,
// since a receiver must survive whatever arrives.
//
//   eager    EagerHeader, data          the whole message, or its first part; the rest follows as data
//   rts      RtsHeader, places          ready to send: the message's size, and where the receiver could read it
//            RtsHeader, data            the same between nodes: its first bytes come with it
//   cts      CtsHeader, places          clear to send: the LMT, the size, and where the sender could write
//   cookie   CookieHeader, places       the next section of a long description; without places: a request for it
//   done     DoneHeader                 ends the transfer on the side that did not move the bytes, or not all
//   data     DataHeader, data           bytes of a transfer through cells or a network, or of an eager message
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "rma/cma.hpp"
#include "rma/shape.hpp"

namespace shmemx::pt2pt {

using rma::Cursor;
using rma::Place;
using rma::Shape;

using Payload = std::span<const std::byte>;

// Names a request to users and to the peer.
struct RequestId {
  std::uint32_t index;
  std::uint32_t generation;
  friend bool operator==(const RequestId&, const RequestId&) = default;

  constexpr std::uint64_t word() const { return std::uint64_t{generation} << 32 | index; }
  static constexpr RequestId of(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
  }
};
// Names the eager message of the source whose first part has arrived.
inline constexpr RequestId kEagerMessage{0xffffffffU, 0xffffffffU};

// The memory that the places of a section lie in.
enum class Space : std::uint32_t {
  private_memory,  // addresses in the describing process
  heap,            // offsets in its symmetric heap
  statics          // offsets in its static data
};

inline constexpr std::size_t kSectionPlaces = 16;  // with any header they fit the smallest cell

struct Section {
  Space space;
  std::uint32_t count;
  Place places[kSectionPlaces];  // the first `count` travel; `at` is a number for the receiver
};
inline constexpr std::size_t kSectionHeadBytes = offsetof(Section, places);

struct EagerHeader {
  std::int32_t tag;
  std::uint32_t bytes;  // of the whole message
};

struct RtsHeader {
  RequestId send;
  std::uint64_t bytes;
  std::int32_t tag;
  std::uint32_t maps_receiver;  // the sender could store into the receiver's symmetric memory
  rma::CmaProbe probe;          // of the sender; process number 0: CMA cannot reach it
};

enum class LmtKind : std::uint32_t { copy, mapped, cma, queue, network };
inline constexpr std::uint32_t kLmtKinds = 5;

struct CtsHeader {
  RequestId send;
  RequestId recv;
  std::uint64_t goal;     // bytes that the receiver takes
  LmtKind kind;           // chosen by the receiver
  std::uint32_t detail;   // copy: number of the first chunk; mapped, cma: of the transfer, 0: not shared; network: most
                          // bytes of a message, 0: any
  std::uint64_t offered;  // network: bytes that the receiver has kept of those with the offer, all of them or 0
};

struct CookieHeader {
  RequestId to;
  RequestId from;
};

struct DoneHeader {
  RequestId to;
};

struct DataHeader {
  RequestId to;
  std::uint64_t offset;  // in the message
};

static_assert(sizeof(Place) == 16 && sizeof(EagerHeader) == 8 && sizeof(RtsHeader) == 48 && sizeof(CtsHeader) == 40 &&
              sizeof(DataHeader) == 16 && kSectionHeadBytes == 8);

// Reads a section, which has to be all of the payload. An empty payload is an empty section. Returns false if a place
// is empty or the total overflows.
[[nodiscard]] inline bool take_section(Payload payload, Section& out) noexcept {
  out.space = Space::private_memory;
  out.count = 0;
  if (payload.empty()) return true;
  if (payload.size() < kSectionHeadBytes) return false;
  std::memcpy(&out, payload.data(), kSectionHeadBytes);
  if (out.space > Space::statics || out.count > kSectionPlaces) return false;
  if (payload.size() != kSectionHeadBytes + out.count * sizeof(Place)) return false;
  std::memcpy(out.places, payload.data() + kSectionHeadBytes, out.count * sizeof(Place));
  std::size_t total = 0;
  for (std::uint32_t i = 0; i < out.count; ++i) {
    if (out.places[i].bytes == 0 || __builtin_add_overflow(total, out.places[i].bytes, &total)) return false;
  }
  return true;
}

// The contents of an RTS, as its receiver keeps them.
struct Offer {
  RtsHeader rts;
  Section section;
};

// A header with its section, as it is sent.
template <class Header>
struct Described {
  Header header;
  Section section;
  std::size_t bytes() const noexcept {
    return section.count == 0 ? sizeof header : sizeof header + kSectionHeadBytes + section.count * sizeof(Place);
  }
};

}  // namespace shmemx::pt2pt
