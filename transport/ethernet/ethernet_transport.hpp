// The transport "ethernet": the engine over packet sockets, one for each interface.
#pragma once

#include <array>
#include <optional>
#include <vector>

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
  Status open_sockets();
  unsigned n_interfaces() const noexcept { return settings_.own.interfaces; }
  int receive(unsigned interface) noexcept;
  bool has_frame() const noexcept;
  void take_errors() noexcept;
  void watch() noexcept;
  void unwatch() noexcept;

  transport::Setup setup_;
  std::vector<Interface> interfaces_;
  Settings settings_;
  std::array<PacketSocket, kMostInterfaces> sockets_;  // by interface
  UniqueFd wake_fd_;
  std::optional<transport::KeepaliveTimer> timer_;
  std::optional<Engine> engine_;
  // Watched sockets make each frame dearer, so they are not watched while this PE polls all the time. wake_fd_ is
  // readable instead: a thread that sleeps on the descriptor wakes up, and calls arm() before it sleeps again.
  bool is_watched_ = false;
  unsigned reads_ = 0;  // polls that found frames, since arm()
  bool is_armed_ = false;
};

}  // namespace shmemx::ethernet
