// The id that each message names, and what the layers declare about their messages. The layers below look at these
// declarations only, never at the id.
#pragma once

#include <cstdint>

namespace shmemx::am {

// The ids of all handlers, and the layer that registers each. Neither their order nor their values mean anything.
enum HandlerId : std::uint8_t {
  kAck = 1,         // am: no handler runs, the message carries acknowledgements only
  kPathProbe,       // am: asks whether messages arrive over this network
  kPathProbeReply,  // am: they do
  kPut,             // onesided: without a reply
  kPutStrided,
  kPutSignal,
  kSignal,
  kAtomic,
  kPutReplied,  // onesided: requests, answered by kReply
  kPutRuns,
  kGet,
  kGetStrided,
  kAtomicFetch,
  kAccumulate,
  kKeyRequest,
  kKeyRevoke,
  kWindowLock,    // onesided: a request, answered by kReply
  kWindowUnlock,  // onesided: without a reply
  kPutLocked,     // onesided: a request, answered by kReply
  kReply,
  kFlag,          // coll
  kMessageEager,  // pt2pt
  kMessageRts,
  kMessageCts,
  kMessageDone,
  kMessageCookie,
  kMessageData,
  kActive,  // active: active messages of programs
  kActivePiece,
  kBatch,           // am: several short messages in one
  kStage,           // am: how far the source is in its life
  kMark,            // am: empty; its acknowledgement covers the replies in front of it
  kHandlerIds = 64  // ids at or above this are rejected
};

// What a message does about acknowledgements between nodes.
enum class Role : std::uint8_t {
  operation,  // acknowledged after its handler has run
  request,    // acknowledged before its handler runs, so that the reply carries the acknowledgement
  reply,      // never acknowledged: the requester waits for it
};
// What the layer that owns a handler declares about its messages.
struct HandlerTraits {
  Role role = Role::operation;
  bool counted = true;           // flush() waits until the message has been executed
  bool is_done_at_once = false;  // its handler never returns Verdict::later
  bool place_early = false;      // Placement::placement may be called before `placed` of long messages in front

  bool operator==(const HandlerTraits&) const = default;
};
// What the sender declares about one message, beyond the traits of its handler.
struct SendOptions {
  bool counted = true;    // false: flush() does not wait for it; a later message tells the receiver that it is there
  bool gathers = false;   // if small, it may wait for others while the target has not acknowledged earlier ones
  bool held = false;      // the same even if the target is idle: of a session that batches
  bool in_burst = false;  // if short, it may wait for others to the same PE while the program sends without waiting
  bool followed = false;  // the next message to the same PE follows at once, and may take this one along
};
inline constexpr SendOptions kNotCounted{.counted = false};
inline constexpr SendOptions kFollowed{.counted = false, .followed = true};

}  // namespace shmemx::am
