// The way in: receive buffers, checks, order, and payloads that are read to where they belong.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "transport/ofi/fabric.hpp"
#include "transport/ofi/memory.hpp"
#include "transport/ofi/outbound.hpp"
#include "transport/ofi/peer.hpp"
#include "transport/ofi/transfer.hpp"

namespace shmemx::ofi {

struct Buffer : Operation {
  Buffer() noexcept : Operation(Kind::receive) {}
  std::unique_ptr<std::byte[]> memory;
  std::size_t bytes = 0;
  Place place;
};

class Inbound {
 public:
  Inbound(Fabric& fabric, Memory& memory, Peers& peers, Outbound& outbound, Transfers& transfers);

  Status open(const Setup& setup);
  void on_received(Buffer& buffer, const fi_cq_data_entry& entry);
  // A receive that went wrong: the buffer goes back where the provider has let it go.
  void on_failed(Buffer& buffer, std::uint64_t flags);
  void on_placed(Transfer& transfer);
  // Buffers that the provider did not take.
  void retry();
  // From now on messages are acknowledged, but reach nobody.
  void start_closing() noexcept { is_closing_ = true; }

 private:
  enum class Outcome : std::uint8_t { consumed, held };

  void post(Buffer& buffer);
  void accept(Bytes packet);
  void accept_control(Peer& peer, Bytes packet);
  void obey(Peer& peer, std::uint32_t kind, std::uint64_t value);
  void hold(Peer& peer, Bytes packet, std::uint32_t sequence, std::size_t offset);
  void drain(Peer& peer);
  Outcome consume(Peer& peer, Bytes packet, std::size_t& offset);
  void deliver(Peer& peer, const Record& record, Bytes content);
  void land(Peer& peer, const Record& record, Bytes content);
  void finish(Peer& peer, const Placement& placement);
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
};

}  // namespace shmemx::ofi
