#include "am/path_probe.hpp"

#include <bit>

#include "base/clock.hpp"
#include "base/fatal.hpp"

namespace shmemx::am {
namespace {

constexpr unsigned bit_of(unsigned network) { return 1U << network; }

}  // namespace

void PathProbe::open(const Setup& setup) {
  networks_.assign(setup.networks.begin(), setup.networks.end());
  route_ = setup.route;
  limit_ns_ = std::uint64_t{setup.limit_ms} * 1'000'000U;
  if (networks_.size() > 1) paths_of_ = setup.paths_of;
  if (paths_of_ != nullptr) contacts_.open(setup.n_pes);
}

// Finds out at the first contact which networks might lead to the PE. A PE that none leads to is lost by the first one.
PathProbe::Contact& PathProbe::known(int pe) noexcept {
  Contact& contact = contacts_[pe];
  if (contact.is_known) return contact;
  contact.is_known = true;
  contact.paths = paths_of_(pe);
  contact.has_path = std::popcount(contact.paths) < 2;
  const auto first = static_cast<unsigned>(contact.paths == 0 ? 0 : std::countr_zero(contact.paths));
  ++users_[first];
  route(pe).store(static_cast<std::uint8_t>(first), std::memory_order_relaxed);
  return contact;
}

bool PathProbe::has_path(int pe) noexcept {
  if (paths_of_ == nullptr) return true;
  const Contact& contact = known(pe);
  if (!contact.has_path) begin(pe);
  return contact.has_path;
}

void PathProbe::begin(int pe) {
  const auto [place, is_new] = open_.try_emplace(pe);
  Probe& probe = place->second;
  if (is_new) {
    probe.deadline_ns = now_ns() + limit_ns_;
    while (is_hopeless(network_of(pe)) && has_next(pe)) use_next(pe);
  }
  send_request(pe, probe);
}

void PathProbe::send_request(int pe, Probe& probe) noexcept {
  const unsigned bit = bit_of(network_of(pe));
  if ((probe.requested & bit) == 0 && try_send(pe, network_of(pe), kPathProbe)) probe.requested |= bit;
}

bool PathProbe::try_send(int pe, unsigned network, HandlerId kind) noexcept {
  const transport::Header header{kind, 0, 0, 0};
  return networks_[network]->send(pe, header, {}, {}, nullptr, transport::Urgency::now) != transport::Sent::no;
}

void PathProbe::receive(int pe, unsigned network, HandlerId kind) noexcept {
  if (kind == kPathProbe) {
    if (!try_send(pe, network, kPathProbeReply)) unsent_replies_.push_back({pe, network});
    return;
  }
  const auto probe = open_.find(pe);
  if (probe == open_.end() || (probe->second.requested & bit_of(network)) == 0) return;
  // A network that was given up has only been slow. Nothing else has been sent yet, so it may still be used.
  use(pe, network);
  known(pe).has_path = true;
  ++records_[network].succeeded;
  open_.erase(probe);
}

// Returns the networks behind the one in use that have not lost the PE, as bits.
unsigned PathProbe::networks_left(int pe) const noexcept {
  const unsigned used = (bit_of(network_of(pe)) << 1) - 1;
  return contacts_[pe].paths & ~used & ~unsigned{contacts_[pe].lost_over};
}

bool PathProbe::has_next(int pe) const noexcept { return networks_left(pe) != 0; }

// Returns whether a network has failed repeatedly and never led anywhere. Further PEs then do not wait for it.
bool PathProbe::is_hopeless(unsigned network) const noexcept {
  constexpr unsigned kEnough = 2;
  return records_[network].failed >= kEnough && records_[network].succeeded == 0;
}

// Networks are probed in their order. Requires has_next().
void PathProbe::use_next(int pe) noexcept { use(pe, static_cast<unsigned>(std::countr_zero(networks_left(pe)))); }

void PathProbe::use(int pe, unsigned network) noexcept {
  --users_[network_of(pe)];
  ++users_[network];
  route(pe).store(static_cast<std::uint8_t>(network), std::memory_order_relaxed);
}

void PathProbe::add_cause(Probe& probe, unsigned network, const std::string& cause) {
  probe.causes += (probe.causes.empty() ? "" : "; ") + std::string(networks_[network]->name()) + ": " + cause;
}

// Probes the next network after the one in use has failed. Returns false if there is no next one.
bool PathProbe::try_next(int pe, Probe& probe, const std::string& cause) {
  const unsigned failed = network_of(pe);
  ++records_[failed].failed;
  add_cause(probe, failed, cause);
  if (!has_next(pe)) return false;
  use_next(pe);
  debug_line("%s does not lead to PE %d (%s), %s is tried", networks_[failed]->name(), pe, cause.c_str(),
             networks_[network_of(pe)]->name());
  probe.deadline_ns = now_ns() + limit_ns_;
  send_request(pe, probe);
  return true;
}

// A PE that has sent nothing, or only a probe, over the lost network may still be there. It is probed over the networks
// that are left, even if no message waits for it.
bool PathProbe::is_lost(int pe, unsigned network, std::string& cause) noexcept {
  if (paths_of_ == nullptr) return true;
  Contact& contact = known(pe);
  if ((contact.received_over & bit_of(network)) != 0) return true;
  const bool is_in_use = network == network_of(pe);
  if (contact.has_path) return is_in_use;
  contact.lost_over |= static_cast<std::uint8_t>(bit_of(network));
  if (!is_in_use) {
    begin(pe);
    add_cause(open_[pe], network, cause);
    return false;
  }
  Probe& probe = open_[pe];
  if (try_next(pe, probe, cause)) return false;
  cause = probe.causes;
  return true;
}

void PathProbe::progress() noexcept {
  std::erase_if(unsent_replies_,
                [this](const Reply& reply) { return try_send(reply.pe, reply.network, kPathProbeReply); });
  for (auto& [pe, probe] : open_) {
    send_request(pe, probe);
    if (has_next(pe) && now_ns() > probe.deadline_ns) {
      try_next(pe, probe, "no answer for " + std::to_string(limit_ns_ / 1'000'000U) + " ms");
    }
  }
}

}  // namespace shmemx::am
