// One copy that both sides make at the same time: the receiver takes chunks of the message from its front, the sender,
// which has nothing else to do in a blocking send, others from the end. The chunks that nobody has claimed tell both
// what is left, so a sender that computes delays nothing. An LMT that copies from range to range may use this.
#pragma once

#include "pt2pt/lmt/transfers.hpp"

namespace shmemx::pt2pt {

inline constexpr const char* kWrongPlace = "a place that is not in its memory";

// Receiver: returns true if the message is one range on either side, has at least `least` bytes, and the copy buffer is
// free.
bool may_share(Transfers& transfers, const ReceiveRequest& receive, const Offer& offer, std::size_t least) noexcept;

// Receiver: begins such a message. A CTS has to follow.
void share_copy(Transfers& transfers, ReceiveRequest& receive) noexcept;

// Sender: begins to copy into the place that a CTS names. One that cannot reach it, `may_copy`, waits for the end.
// Returns false if the CTS does not fit the request.
bool join_copy(Transfers& transfers, SendRequest& send, const CtsHeader& cts, const Section& section,
               CopyBuffer& buffer, bool may_copy) noexcept;

// Either side: claims chunks and copies each by `copy`, which gets its offset and length in the message. It returns
// false if the place that the peer has named cannot be reached. What the sender cannot write, the receiver reads.
using CopyRange = bool (*)(Transfers&, Request&, std::size_t, std::size_t) noexcept;
bool move_shared(Transfers& transfers, Request& mover, CopyRange copy) noexcept;

inline bool is_shared(const Request& request) noexcept { return request.transfer.buffer != nullptr; }

}  // namespace shmemx::pt2pt
