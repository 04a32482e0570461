// The transport "tcp": one connection for each pair of PEs that exchange messages. The PE that sends first makes it.
#pragma once

#include <string>

#include "transport/tcp/connector.hpp"
#include "transport/tcp/open.hpp"
#include "transport/tcp/parts.hpp"
#include "transport/tcp/peers.hpp"
#include "transport/tcp/poller.hpp"
#include "transport/tcp/rails.hpp"
#include "transport/tcp/reader.hpp"
#include "transport/tcp/resume.hpp"
#include "transport/tcp/sender.hpp"
#include "transport/tcp/suspension.hpp"

namespace shmemx::tcp {

class TcpTransport final : public transport::Transport {
 public:
  explicit TcpTransport(const transport::Setup& setup) : setup_(setup) {}
  Status open();

  const char* name() const noexcept override { return "tcp"; }
  transport::Capabilities capabilities() const noexcept override;
  std::string endpoint_address() const override { return connector_.own_address(); }
  void set_addresses(const transport::EndpointAddresses& addresses) noexcept override {
    connector_.set_addresses(addresses);
  }
  Sent send(int pe, const Header& fixed, Bytes header, Bytes payload, Outgoing* outgoing,
            Urgency urgency) noexcept override;
  void flush() noexcept override { sender_.flush(); }
  bool poll(int expected) noexcept override;
  int descriptor() const noexcept override { return poller_.epoll(); }
  bool arm() noexcept override;
  void close(std::uint32_t patience_ms) noexcept override;
  std::string describe(int pe) const override;

  const Parts& parts() const noexcept { return parts_; }  // for tests

 private:
  bool handle_events() noexcept;
  bool handle_peer_event(Peer& peer, std::uint32_t events) noexcept;
  bool handle_failing() noexcept;
  bool all_gone() noexcept;

  const transport::Setup setup_;
  const Parts parts_{setup_, peers_, poller_, connector_, sender_, reader_, resume_, suspension_, rails_};
  Poller poller_{parts_};
  Connector connector_{parts_};
  Sender sender_{parts_};
  Reader reader_{parts_};
  Resume resume_{parts_};
  Suspension suspension_{parts_};
  Rails rails_{parts_};
  Peers peers_{setup_};  // behind what their dials use
};

}  // namespace shmemx::tcp
