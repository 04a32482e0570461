#include "transport/ethernet/peers.hpp"

#include <algorithm>

namespace shmemx::ethernet {

Peers::Peers(const transport::Setup& setup, const Settings& settings)
    : setup_(setup),
      settings_(settings),
      pool_(content_bytes_of(settings.own.mtu)),
      budget_{settings.ring_frames / 2, 0},
      table_(static_cast<std::size_t>(setup.n_pes)) {}

Peer& Peers::add(int pe) noexcept {
  EndpointAddress address;
  const bool has_address = addresses_ != nullptr && unpack_address(addresses_->address_of(pe), address);
  if (!has_address) address = {.mtu = kLeastMtu, .interfaces = 1};
  const std::size_t packet_bytes = content_bytes_of(std::min(address.mtu, settings_.own.mtu));
  Peer& made = table_.add(
      pe, pe, address,
      Pulls::Settings{packet_bytes, settings_.block_packets, settings_.blocks, settings_.most_blocks,
                      std::min(address.interfaces, settings_.own.interfaces) > 1, settings_.resend_ns},
      Peer::Parts{pool_, *setup_.sink, *owner_, budget_, &is_active_, settings_.resend_ns, settings_.own.interfaces});
  if (is_closing_) made.inbound.queue().stop();
  if (!has_address) lose(made, "it has no endpoint address of ethernet");
  return made;
}

void Peers::lose(Peer& peer, const std::string& cause) noexcept {
  if (peer.state == Peer::State::lost) return;
  peer.give_up();
  if (!is_closing_) lost_.push_back({peer.pe, cause});
}

void Peers::report() noexcept {
  for (const Loss& loss : std::exchange(lost_, {})) {
    is_active_ = true;
    setup_.sink->lost(loss.pe, loss.cause);
  }
}

void Peers::begin_close() noexcept {
  is_closing_ = true;
  lost_.clear();
}

}  // namespace shmemx::ethernet
