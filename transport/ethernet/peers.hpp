// The PEs in contact, and those among them that are lost and not reported yet.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/contact_table.hpp"
#include "transport/ethernet/peer.hpp"
#include "transport/ethernet/settings.hpp"

namespace shmemx::ethernet {

class Peers {
 public:
  Peers(const transport::Setup& setup, const Settings& settings);

  // Names who takes what arrives. To be called before the first contact.
  void set_owner(Inbound::Owner& owner) noexcept { owner_ = &owner; }
  void set_addresses(const transport::EndpointAddresses& addresses) noexcept { addresses_ = &addresses; }
  const transport::EndpointAddresses* addresses() const noexcept { return addresses_; }

  std::size_t n_pes() const noexcept { return table_.n_pes(); }
  Peer* find(int pe) const noexcept { return table_.find(pe); }
  // Returns what is kept of `pe`; makes it at the first contact.
  Peer& contact(int pe) noexcept {
    Peer* const known = find(pe);
    return known != nullptr ? *known : add(pe);
  }
  // In the order of contact.
  const std::vector<Peer*>& list() const noexcept { return table_.list(); }
  void clear() noexcept { table_.clear(); }

  // Marks the peer as lost. report() tells the sink.
  void lose(Peer& peer, const std::string& cause) noexcept;
  bool has_lost() const noexcept { return !lost_.empty(); }
  void report() noexcept;
  // From now on the sink gets nothing.
  void begin_close() noexcept;
  bool is_closing() const noexcept { return is_closing_; }

  // Something has moved.
  void note_progress() noexcept { is_active_ = true; }
  // Returns whether something has moved since the last call.
  bool take_progress() noexcept { return std::exchange(is_active_, false); }

 private:
  struct Loss {
    int pe;
    std::string cause;
  };

  Peer& add(int pe) noexcept;

  const transport::Setup& setup_;
  const Settings& settings_;
  Inbound::Owner* owner_ = nullptr;
  const transport::EndpointAddresses* addresses_ = nullptr;
  FramePool pool_;
  PacketBudget budget_;
  Contacts<Peer> table_;
  std::vector<Loss> lost_;
  bool is_active_ = false;
  bool is_closing_ = false;
};

}  // namespace shmemx::ethernet
