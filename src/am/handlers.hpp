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
  kAccumulateStrided,
  kKeyRequest,
  kKeyRevoke,
  kRmaProbe,
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
  kInquiry,  // runtime: what the PE waits in
  kInquiryReply,
  kActive,  // tasks: active messages of programs
  kActivePiece,
  kTasks,         // tasks: one task or several
  kTasksMixed,    // tasks: the same, some with a priority
  kTasksHandled,  // tasks: the same, some that the receiver also handles as they arrive
  kTaskPiece,
  kTaskOffer,
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

// When a message leaves for a PE of another node. Within a node all leave at once. `small`: of two or more in a batch
// (Gathering). Other messages to the same PE take along what waits.
enum class Leave : std::uint8_t {
  now,
  burst,     // at once; if short, it may wait for others in the network while the program sends without waiting
  followed,  // with the next message to the PE, which the caller sends at once; at the next poll at the latest
  soon,      // if short, at the next poll at the latest; else at once
  idle,      // if small, once the PE has acknowledged what was sent before; else at once
  session,   // if small, when enough have gathered: of a session that batches; else at once
};
// What a flush waits for, beyond the traits of the handler.
enum class Counting : std::uint8_t {
  counted,
  covered,    // counted, but another message follows soon, whose acknowledgement covers this one
  uncounted,  // a flush does not wait for it; a later message tells the receiver that it is there
};
struct SendOptions {
  Leave leave = Leave::now;
  Counting counting = Counting::counted;
};
inline constexpr SendOptions kNotCounted{.counting = Counting::uncounted};

}  // namespace shmemx::am
