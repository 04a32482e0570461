// Receiving: buffers, checks, the order of packets, and long payloads that this PE reads to their place.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "transport/common/inbound_queue.hpp"
#include "transport/ofi/fabric.hpp"
#include "transport/ofi/memory.hpp"
#include "transport/ofi/outbound.hpp"
#include "transport/ofi/peer.hpp"
#include "transport/ofi/pieces.hpp"
#include "transport/ofi/transfer.hpp"

namespace shmemx::ofi {

struct Buffer : Operation {
  Buffer() noexcept : Operation(Kind::receive) {}
  std::unique_ptr<std::byte[]> memory;
  std::size_t bytes = 0;
  Place place;
  std::optional<Pieces> pieces;  // of a buffer for many packets
};

class Inbound final : private transport::InboundSource {
 public:
  Inbound(Fabric& fabric, Memory& memory, Peers& peers, Outbound& outbound, Transfers& transfers);

  Status open(const Setup& setup);
  void on_received(Buffer& buffer, const fi_cq_data_entry& entry);
  // A receive failed.
  void on_failed(Buffer& buffer, std::uint64_t flags);
  // A chunk of a long payload is here.
  void on_chunk(Transfer& transfer);
  // Posts the buffers that the provider did not take.
  void retry();
  // Returns the memory of lost buffers (Pieces::is_lost()) to the system when no PE can be writing to it any more. To
  // be called now and then.
  void free_lost(std::uint64_t now_ns) noexcept;
  // From now on messages are acknowledged, but not delivered.
  void start_closing();

 private:
  struct Lost {
    Buffer* buffer;
    std::uint64_t since;
  };

  bool fetch(transport::InboundMessage& message) noexcept override;
  void discard(transport::InboundMessage& message) noexcept override;
  void out_of_memory(int source, std::size_t bytes) noexcept override;

  Status add_buffer();
  void post(Buffer& buffer);
  void reuse(Buffer& buffer, bool is_released);
  void replace();
  void accept(Bytes packet);
  void accept_handshake(int pe, std::uint32_t kind, Bytes content);
  void accept_control(Peer& peer, Bytes packet);
  void obey(Peer& peer, std::uint32_t kind, std::uint64_t value);
  void hold(Peer& peer, std::uint64_t number, Bytes packet);
  void take_early(Peer& peer);
  void take(Peer& peer, Bytes packet);
  void take_aligned(Peer& peer, Bytes packet);
  void take_announcement(Peer& peer, const Record& record, Bytes content);
  void begin_parts(Peer& peer, const Record& record, Bytes content);
  void take_part(Peer& peer, Bytes content);
  void take_shutdown_if_due(Peer& peer);
  void refuse(Peer& peer, const char* what);

  Fabric& fabric_;
  Memory& memory_;
  Peers& peers_;
  Outbound& outbound_;
  Transfers& transfers_;
  const Setup* setup_ = nullptr;
  bool is_closing_ = false;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<Buffer*> unposted_;
  std::vector<Buffer*> spare_;
  std::size_t missing_ = 0;  // buffers that are to be posted as soon as there are some
  std::vector<Lost> lost_;   // not freed yet
};

}  // namespace shmemx::ofi
