// A message that leaves this PE. The one that arrives is am::Message.
#pragma once

#include <cstdint>

#include "am/handlers.hpp"
#include "base/bytes.hpp"
#include "transport/transport.hpp"

namespace shmemx::am {

using shmemx::Bytes;

// How long the payload stays as it is: during the call that sends it, until a flush (such as symmetric memory), or
// until `outgoing` is done. Where it stays longer than the call, a network may read a long payload later.
struct Lifetime {
  transport::Outgoing* outgoing = nullptr;
  bool until_flush = false;
};
inline constexpr Lifetime kDuringCall{};
inline constexpr Lifetime kUntilFlush{nullptr, true};
constexpr Lifetime until_done(transport::Outgoing& outgoing) noexcept { return {&outgoing, false}; }

struct OutgoingMessage {
  std::int32_t pe;
  HandlerId handler;
  Bytes header;  // read during the call
  Bytes payload = {};
  Lifetime lifetime = kDuringCall;
  Leave leave = Leave::now;
  Counting counting = Counting::counted;

  std::size_t bytes() const noexcept { return header.size() + payload.size(); }
};

}  // namespace shmemx::am
