// Operations that an endpoint starts: checked when they are posted, carried out when its queue is read.
#pragma once

#include <rdma/fi_rma.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "peer.hpp"
#include "random.hpp"
#include "settings.hpp"

namespace strict_provider {

struct Endpoint;
struct Region;

enum class Kind : std::uint8_t { send, read, write };

// The arguments of a call.
struct Post {
  const char* call;
  Kind kind;
  std::span<const iovec> local;
  void* const* descriptors;
  fi_addr_t peer;
  std::span<const fi_rma_iov> remote;
  void* context;
  std::uint64_t flags;
  std::uint64_t data;
  bool has_completion = true;  // false: the call never has one, unless it fails
};

struct Operation {
  enum class Stage : std::uint8_t { posted, sent, performed };

  const char* call;
  Kind kind;
  Stage stage = Stage::posted;
  bool is_signalled;
  int error = 0;
  unsigned delay = 0;  // rounds of progress until it is carried out, and then until it completes
  Peer* peer;
  void* context;
  std::uint64_t flags;
  std::uint64_t data;
  std::uint64_t sum = 0;       // of the source
  std::uint64_t position = 0;  // in the queue of the peer
  std::size_t left = 0;        // bytes that a write still has to carry out, from its beginning
  std::vector<iovec> local;
  std::vector<fi_rma_iov> remote;
  std::vector<Region*> regions;
  std::vector<std::byte> captured;

  std::size_t bytes() const noexcept;
};

// What an endpoint has done, for the log.
struct Counts {
  std::uint64_t sends = 0;
  std::uint64_t receives = 0;
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t injected_sends = 0;
  std::uint64_t injected_writes = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
};

class Transmitter {
 public:
  Transmitter(Endpoint& endpoint, std::uint64_t seed) noexcept;

  // Returns 0, or -FI_EAGAIN.
  ssize_t post(const Post& post);
  void progress();
  // Returns true if operations need progress of this endpoint to complete.
  bool is_busy() const noexcept;
  // Carries out what has been posted, as far as the peers take it.
  void finish();
  Counts& counts() noexcept { return counts_; }
  Random& random() noexcept { return random_; }
  bool has_chance() const noexcept { return has_chance_; }

 private:
  Peer& check(const Post& post);
  bool is_refused(const Post& post, Peer& peer);
  std::unique_ptr<Operation> make(const Post& post, Peer& peer);
  bool is_blocked(std::size_t index) const noexcept;
  void carry_out_due();
  void carry_out(Operation& operation);
  void transfer(Operation& operation);
  std::vector<iovec> resolve_remote(const Operation& operation);
  bool is_software(const Operation& operation) const noexcept;
  void request_transfer(Operation& operation);
  void count_transfer(Operation& operation);
  Cell* reserve_cell(Operation& operation, bool is_due);
  std::size_t choose_begin(const Operation& operation);
  void send(Operation& operation);
  void look_for_receipt(Operation& operation);
  void complete(Operation& operation);
  void check_source(const Operation& operation) const;

  Endpoint& endpoint_;
  const bool has_chance_;
  const SoftwareRma software_ = chosen_software();
  Random random_;
  std::vector<std::unique_ptr<Operation>> operations_;  // in the order of their posts
  Counts counts_;
  std::uint32_t sends_ = 0;
  std::uint32_t waits_ = 0;
};

}  // namespace strict_provider
