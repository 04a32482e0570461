// Large message transfers: one file for each way of copying the bytes of a rendezvous.
//
//   mapped   one side copies from or into symmetric memory of the other, which it maps: one copy
//   cma      the receiver reads the sender's memory through the kernel: one copy, a system call
//   copy     both sides copy at the same time, through the receiver's copy buffer (double buffering)
//   queue    in cells: always possible
//   network  to a PE of another node: few long messages, without a copy where both sides lie in one place
//
// With mapped and cma one side moves the bytes alone, and the other describes its memory in sections; or they share the
// copy of a range (shared_copy.hpp).
#pragma once

#include "pt2pt/lmt/transfers.hpp"
#include "pt2pt/request.hpp"
#include "pt2pt/send_queue.hpp"

namespace shmemx::pt2pt {

class Pieces;

// The functions of one LMT. The receiver chooses it. A function that has nothing to do is null.
struct Lmt {
  const char* name;
  // Receiver: returns true if this LMT can move the message.
  bool (*suits)(Transfers&, const ReceiveRequest&, const Offer&) noexcept;
  // Receiver: begins. Returns true if the sender has to act, so a CTS is sent. If the copy buffer is in use then, the
  // receiver moves, too.
  bool (*start_receive)(Transfers&, ReceiveRequest&, const Offer&) noexcept;
  // Sender: the CTS has arrived. Returns false if it does not fit the request.
  bool (*start_send)(Transfers&, SendRequest&, const CtsHeader&, const Section&) noexcept;
  // Either side: moves a part. Returns true if something moved.
  bool (*move)(Transfers&, Request&) noexcept;
};

extern const Lmt kMappedLmt;
extern const Lmt kCmaLmt;
extern const Lmt kCopyLmt;
extern const Lmt kQueueLmt;
extern const Lmt kNetworkLmt;

const Lmt& lmt_of(LmtKind kind) noexcept;

// Receiver: chooses the LMT of a message that has been matched.
LmtKind choose_lmt(Transfers& transfers, ReceiveRequest& receive, const Offer& offer) noexcept;

// Sender, queue: sends the next data in cells.
Step push_in_cells(Pieces& pieces, std::size_t payload_bytes, Request& send) noexcept;

}  // namespace shmemx::pt2pt
