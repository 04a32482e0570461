// What two-sided messages need of the library around them. messages.cpp has the library's own; tests play a whole job
// in one process.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "am/endpoint.hpp"
#include "config/kinds.hpp"
#include "pt2pt/lmt/copy_buffer.hpp"
#include "pt2pt/wire.hpp"
#include "rma/cma.hpp"
#include "transport/transport.hpp"

namespace shmemx::pt2pt {

class Platform {
 public:
  // Returns true for a PE of another node. Only messages go there, and those may be long.
  virtual bool is_internode(int pe) noexcept = 0;
  // Returns false if no cell is free or the network takes nothing at the moment.
  virtual bool try_send(int pe, am::HandlerId id, am::Bytes header, am::Bytes payload,
                        am::SendOptions options) noexcept = 0;
  // Sends to a PE of another node. After Sent::later the payload is in use until `outgoing` is done.
  virtual transport::Sent send_long(int pe, am::HandlerId id, am::Bytes header, am::Bytes payload,
                                    transport::Outgoing& outgoing) noexcept = 0;
  // Returns how long a message may be that leaves with its offer to a PE of another node: the receiver takes it from
  // here, or declines it (transport::declined()).
  virtual std::size_t declinable_bytes(int pe) noexcept = 0;
  // Returns the space that memory of this PE lies in, as `pe` sees it, and the offset in that space.
  virtual Space describe(int pe, const std::byte* at, std::size_t bytes, std::uint64_t& offset) noexcept = 0;
  // Returns where symmetric memory of another PE lies in this process; null if it is not mapped or does not exist.
  virtual std::byte* address_of(int pe, Space space, std::uint64_t offset, std::uint64_t bytes) noexcept = 0;
  // Returns null if there is none, or it is not mapped here.
  virtual CopyBuffer* copy_buffer(int owner) noexcept = 0;
  // Wakes a PE that may sleep until what has just been stored.
  virtual void wake(int pe) noexcept = 0;
  // As rma::cma_read, rma::cma_write.
  virtual long read_memory(pid_t pid, Cursor& local, Cursor& remote, std::size_t most) noexcept {
    return rma::cma_read(pid, local, remote, most);
  }
  virtual long write_memory(pid_t pid, Cursor& local, Cursor& remote, std::size_t most) noexcept {
    return rma::cma_write(pid, local, remote, most);
  }
  // Reports a message that no PE of this library sends. The library ends the job.
  virtual void reject(int source, const char* what) noexcept = 0;
  // Reports that memory, or the allowed part of it, is used up. The library ends the job.
  virtual void exhausted(const char* what, std::size_t bytes, std::size_t allowed) noexcept = 0;

 protected:
  ~Platform() = default;
};

using config::LmtChoice;

struct Settings {
  int me = 0;
  int n_pes = 0;
  bool several_nodes = false;     // Platform::is_internode() holds for some PE
  std::size_t payload_bytes = 0;  // of a message within the node, at most
  std::size_t unexpected_max = 0;
  LmtChoice lmt = LmtChoice::automatic;
  bool receive_bypass = true;  // a blocking receive may be matched before all others
  bool crowded = false;        // more PEs than cores: two sides seldom run at the same time
};

}  // namespace shmemx::pt2pt
