// A message of one PE that waits for those in front of it, or for bytes of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "transport/ucx/wire.hpp"

namespace shmemx::ucx {

class Inbox;

// Memory of the alignment that payloads have; null when there is none.
struct FreeAligned {
  void operator()(std::byte* memory) const noexcept { ::operator delete[](memory, std::align_val_t{kRecordAlign}); }
};
using Memory = std::unique_ptr<std::byte[], FreeAligned>;

inline Memory allocate(std::size_t bytes) {
  return Memory(static_cast<std::byte*>(::operator new[](bytes, std::align_val_t{kRecordAlign}, std::nothrow)));
}

// Records, or a long message, whose payload has come with it or is fetched.
struct Arrival {
  Inbox* inbox = nullptr;
  bool is_long = false;
  bool is_placed = false;    // placement() has been asked
  bool has_begun = false;    // its bytes go where they belong
  bool payload_due = false;  // not all of it is here
  Header fixed{};
  std::array<std::byte, kMaxHeaderBytes> header;
  std::byte* place = nullptr;  // as placement() said; null: `own`
  Memory own;                  // records, or header and payload
  std::size_t bytes = 0;       // of records, or of the payload
  Memory kept;                 // a payload that has come, until the message begins
  void* descriptor = nullptr;  // of a payload that has not been asked for

  Bytes header_bytes() const noexcept { return {header.data(), fixed.header_bytes}; }
  std::byte* payload() const noexcept { return place != nullptr ? place : own.get() + fixed.header_bytes; }
  bool is_here() const noexcept { return has_begun && !payload_due; }
  bool shares_memory_with(const Arrival& other) const noexcept {
    const auto here = reinterpret_cast<std::uintptr_t>(place);
    const auto there = reinterpret_cast<std::uintptr_t>(other.place);
    return here != 0 && there != 0 && here < there + other.bytes && there < here + bytes;
  }
};

}  // namespace shmemx::ucx
