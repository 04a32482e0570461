// The transport "ethernet": the engine over a packet socket.
#pragma once

#include <optional>

#include "transport/common/keepalive.hpp"
#include "transport/ethernet/engine.hpp"
#include "transport/ethernet/open.hpp"
#include "transport/ethernet/packet_socket.hpp"

namespace shmemx::ethernet {

class EthernetTransport final : public transport::Transport {
 public:
  explicit EthernetTransport(const transport::Setup& setup) : setup_(setup) {}
  ~EthernetTransport() override;
  Status open();

  const char* name() const noexcept override { return "ethernet"; }
  transport::Capabilities capabilities() const noexcept override;
  std::string endpoint_address() const override;
  void set_addresses(const transport::EndpointAddresses& addresses) noexcept override;
  Sent send(int pe, const Header& fixed, Bytes header, Bytes payload, Outgoing* outgoing,
            Urgency urgency) noexcept override {
    return engine_->send(pe, fixed, header, payload, outgoing, urgency);
  }
  void flush() noexcept override { engine_->flush(); }
  bool poll(int expected) noexcept override;
  int descriptor() const noexcept override { return timer_->descriptor(); }
  bool arm() noexcept override;
  void close(std::uint32_t patience_ms) noexcept override;
  std::string describe(int pe) const override;
  FrameCounts frames() const noexcept override;

 private:
  Status choose_settings();
  void watch() noexcept;
  void unwatch() noexcept;

  transport::Setup setup_;
  Interface interface_;
  Engine::Settings settings_;
  PacketSocket socket_;
  UniqueFd wake_fd_;
  std::optional<transport::KeepaliveTimer> timer_;
  std::optional<Engine> engine_;
  // A watched socket makes each frame dearer, so it is not watched while this PE polls all the time. wake_fd_ is
  // readable instead: a thread that sleeps on the descriptor wakes up, and calls arm() before it sleeps again.
  bool is_watched_ = false;
  unsigned reads_ = 0;  // polls that found frames, since arm()
  bool is_armed_ = false;
};

}  // namespace shmemx::ethernet
