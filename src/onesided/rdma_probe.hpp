// Do puts and gets of a network need the CPU of their target? Where its name does not say (Capabilities::probes_rma),
// the first PE that is to be accessed by it shows that, once for the process:
//
//   initiator                                     target
//   asks for the block                            replies with its key, or with what it knows already
//   asks it to keep still                         for 20 ms at most it does not poll; a word of the block says so
//   puts numbers into the block, and gets         if a number arrives meanwhile, puts need no CPU here: it replies that
//   that word, until the reply comes:
//   if it has got it, gets need no CPU there
//   says what was found                           knows it, too, and answers others without keeping still
//
// Where puts or gets are software, they move nothing until the target polls again. So what has been seen is proven;
// that nothing was seen counts only if the initiator itself has not been away meanwhile: it has no core for itself, or
// keeps still for another PE. A PE that probes keeps still for PEs of lower numbers only, so one of them succeeds.
//
// A target that cannot open memory to the network counts as one whose CPU is needed.
#pragma once

#include <cstdint>
#include <string>

#include "onesided/rdma.hpp"
#include "transport/transport.hpp"

namespace shmemx::onesided {

// The operations of a network that need no CPU of the target.
struct RmaProof {
  bool puts = false;
  bool gets = false;

  bool of(Direction direction) const noexcept { return direction == Direction::put ? puts : gets; }
};

// Returns what is known of the network; null: nothing yet. Under the endpoint's lock.
const RmaProof* find_proof(const transport::Transport& network) noexcept;
// Returns the same, and probes the network at `pe` first if nothing is known. It leads there.
RmaProof prove_rma(const char* routine, int pe, transport::Transport& network) noexcept;
// Describes to users what was found; empty if the network was not probed. Under the lock.
std::string describe_proof(const transport::Transport& network);

// By set_handlers(). `takes`: may the network be used at all?
void set_probe_handler(bool (*takes)(transport::Transport& network)) noexcept;
// When the windows are hidden: the block is opened to no network any more. What was found is kept. Under the lock.
void close_probe() noexcept;
// For tests. Under the lock.
void forget_proofs() noexcept;

}  // namespace shmemx::onesided
