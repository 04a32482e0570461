// The transport: puts packets and payloads onto libfabric's endpoint.
#pragma once

#include <optional>
#include <string>

#include "transport/common/keepalive.hpp"
#include "transport/ofi/choice.hpp"
#include "transport/ofi/fabric.hpp"
#include "transport/ofi/inbound.hpp"
#include "transport/ofi/memory.hpp"
#include "transport/ofi/ofi_rma.hpp"
#include "transport/ofi/outbound.hpp"
#include "transport/ofi/peer.hpp"
#include "transport/ofi/transfer.hpp"
#include "transport/transport.hpp"

namespace shmemx::ofi {

class Ofi final : public Transport {
 public:
  Ofi(Choice choice, const Setup& setup);
  ~Ofi() override;

  Status open();

  const char* name() const noexcept override { return "ofi"; }
  transport::Capabilities capabilities() const noexcept override;
  std::string endpoint_address() const override { return peers_.own_address(); }
  void set_addresses(const EndpointAddresses& addresses) noexcept override { peers_.set_addresses(addresses); }
  Sent send(int pe, const Header& fixed, Bytes header, Bytes payload, Outgoing* outgoing,
            Urgency urgency) noexcept override;
  void flush() noexcept override { outbound_.flush(); }
  bool poll(int expected) noexcept override;
  int descriptor() const noexcept override { return timer_ ? timer_->descriptor() : fabric_.wait_fd; }
  bool arm() noexcept override;
  void close(std::uint32_t patience_ms) noexcept override;
  bool abandon(int pe) noexcept override;
  std::string describe(int pe) const override;

  transport::Rma* rma() noexcept override;
  // For that: reads completions, and leaves the rest to poll().
  void progress() noexcept {
    if (fabric_.ep != nullptr) read_completions();
  }

 private:
  bool read_completions();
  bool assume_movement(bool moved) noexcept;
  void on_completion(const fi_cq_data_entry& entry);
  void on_failure();
  void on_chunk(Chunk& chunk);
  bool report();
  void keep_alive();
  bool watches_peers() const noexcept;
  void ping_all();
  static bool has_parted(const Peer& peer, bool is_hasty) noexcept;

  const Setup setup_;
  Fabric fabric_;
  std::string passed_over_;
  Memory memory_;
  Peers peers_;
  Outbound outbound_;
  OfiRma rma_;
  Inbound inbound_;
  transport::Keepalive keepalive_;
  std::optional<transport::KeepaliveTimer> timer_;  // none where the provider has no descriptor
  bool is_armed_ = false;                           // the timer may have woken this PE
  std::uint32_t polls_ = 0;
  bool is_closing_ = false;
  std::uint32_t polls_without_completion_ = 0;
};

}  // namespace shmemx::ofi
