#include "am/path_probe.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "base/clock.hpp"
#include "base/fatal.hpp"

namespace shmemx::am {
namespace {

constexpr unsigned bit_of(unsigned network) { return 1U << network; }

PathNote note_of(transport::Bytes content) noexcept {
  PathNote note{};
  if (content.size() == sizeof note) std::memcpy(&note, content.data(), sizeof note);
  return note;
}

}  // namespace

void PathProbe::open(const Setup& setup) {
  networks_.assign(setup.networks.begin(), setup.networks.end());
  route_ = setup.route;
  limit_ns_ = std::uint64_t{setup.limit_ms} * 1'000'000U;
  if (networks_.size() > 1) paths_of_ = setup.paths_of;
  if (paths_of_ == nullptr) return;
  contacts_.open(setup.n_pes);
  for (std::size_t i = 0; i < networks_.size(); ++i) {
    records_[i].resumes = networks_[i]->capabilities().resumes;
    may_fail_ = may_fail_ || !records_[i].resumes;
  }
}

// Finds out at the first contact which networks might lead to the PE. A PE that none leads to is lost by the first one.
PathProbe::Contact& PathProbe::known(int pe) noexcept {
  Contact& contact = contacts_[pe];
  if (contact.state != PathState::unknown) return contact;
  contact.paths = paths_of_(pe);
  contact.state = std::popcount(contact.paths) < 2 ? PathState::open : PathState::probing;
  const auto first = static_cast<unsigned>(contact.paths == 0 ? 0 : std::countr_zero(contact.paths));
  ++users_[first];
  route(pe).store(static_cast<std::uint8_t>(first), std::memory_order_relaxed);
  return contact;
}

bool PathProbe::has_path(int pe) noexcept {
  if (paths_of_ == nullptr) return true;
  const Contact& contact = known(pe);
  if (contact.state != PathState::open) begin(pe);
  return contact.state == PathState::open;
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
  if ((probe.requested & bit) == 0 && try_send(pe, network_of(pe), kPathProbe))
    probe.requested = static_cast<std::uint8_t>(probe.requested | bit);
}

bool PathProbe::try_send(int pe, unsigned network, HandlerId kind) noexcept {
  const transport::Header header{kind, 0, 0, 0};
  const Contact& contact = contacts_[pe];
  PathNote note{contact.received, {}};
  for (std::size_t i = 0; i < networks_.size(); ++i) {
    if ((contact.lost_over & bit_of(static_cast<unsigned>(i))) != 0)
      std::strncpy(note.lost_over[i], networks_[i]->name(), sizeof note.lost_over[i]);
  }
  const transport::Bytes content = std::as_bytes(std::span(&note, 1));
  return networks_[network]->send(pe, header, {}, content, nullptr, transport::Urgency::now) != transport::Sent::no;
}

bool PathProbe::receive(int pe, unsigned network, HandlerId kind, transport::Bytes content,
                        std::string& cause) noexcept {
  const PathNote note = note_of(content);
  if (kind == kPathProbeReply) {
    heed_reply(pe, network, note);
    return true;
  }
  if (!heed_lost(pe, network, note, cause)) return false;
  if (!is_abandoned(pe) || !try_send(pe, network, kPathProbeReply)) unsent_replies_.push_back({pe, network});
  return true;
}

void PathProbe::heed_reply(int pe, unsigned network, const PathNote& note) noexcept {
  const auto probe = open_.find(pe);
  if (probe == open_.end() || (probe->second.requested & bit_of(network)) == 0 || probe->second.has_reply) return;
  Contact& contact = known(pe);
  if (contact.state != PathState::open) {
    // A network that was given up has only been slow. Nothing else has been sent yet, so it may still be used.
    use(pe, network);
    ++records_[network].succeeded;
    if (contact.state == PathState::resuming) {
      probe->second.has_reply = true;
      probe->second.received = note.received;
      return;
    }
    contact.state = PathState::open;
  }
  open_.erase(probe);
}

// Gives up the networks over which `pe` has lost this PE. Returns false if no other one is left.
bool PathProbe::heed_lost(int pe, unsigned network, const PathNote& note, std::string& cause) noexcept {
  if (paths_of_ == nullptr) return true;
  for (const auto& name : note.lost_over) {
    const std::string_view lost(name, ::strnlen(name, sizeof name));
    for (unsigned i = 0; i < networks_.size(); ++i) {
      if (lost != networks_[i]->name() || i == network || (known(pe).lost_over & bit_of(i)) != 0) continue;
      cause = "the PE has lost this one there";
      if (is_lost(pe, i, cause)) return false;
      known(pe).lost_over |= static_cast<std::uint8_t>(bit_of(i));
    }
  }
  return true;
}

// Returns whether nothing of the networks that have lost `pe` can arrive, or use memory, any more.
bool PathProbe::is_abandoned(int pe) noexcept {
  if (paths_of_ == nullptr || contacts_[pe].lost_over == 0) return true;
  bool are_all = true;
  for (unsigned i = 0; i < networks_.size(); ++i) {
    if ((contacts_[pe].lost_over & bit_of(i)) != 0 && !networks_[i]->abandon(pe)) are_all = false;
  }
  return are_all;
}

bool PathProbe::is_busy() const noexcept {
  return !unsent_replies_.empty() ||
         std::any_of(open_.begin(), open_.end(), [](const auto& item) { return item.second.has_reply; });
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
  const bool is_in_use = network == network_of(pe);
  if (!is_in_use && !records_[network].resumes && (contact.lost_over & bit_of(network)) != 0) return false;
  if (may_follow(pe, network)) {
    follow(pe, network, cause);
    return false;
  }
  if (contact.state == PathState::open || (contact.received_over & bit_of(network)) != 0) {
    cause = all_causes(pe, network, cause);
    return is_in_use || (contact.received_over & bit_of(network)) != 0;
  }
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

// ---- networks that fail with messages under way ----

// Returns whether the messages that a network has not delivered can take another one: they are kept at both ends.
bool PathProbe::may_follow(int pe, unsigned network) noexcept {
  const Contact& contact = known(pe);
  if (records_[network].resumes || (contact.lost_over & bit_of(network)) != 0) return false;
  const bool was_used = contact.state != PathState::probing;
  if (network == network_of(pe)) return (was_used || (contact.received_over & bit_of(network)) != 0) && has_next(pe);
  return was_used && (contact.received_over & bit_of(network)) != 0;
}

// Gives the network up. If it was in use here, the next one takes over; the PE learns it in any case.
void PathProbe::follow(int pe, unsigned network, const std::string& cause) {
  Contact& contact = known(pe);
  contact.lost_over |= static_cast<std::uint8_t>(bit_of(network));
  Probe& probe = open_[pe];
  if (probe.causes.empty()) probe.causes = former_causes_[pe];
  probe.deadline_ns = now_ns() + limit_ns_;
  if (network != network_of(pe)) {
    add_cause(probe, network, cause);
    probe.requested &= static_cast<std::uint8_t>(~bit_of(network_of(pe)));
    return send_request(pe, probe);
  }
  if (contact.state == PathState::open) contact.state = PathState::resuming;
  contact.has_followed = true;
  probe.has_reply = probe.has_begun = false;
  probe.requested = 0;
  try_next(pe, probe, cause);
}

void PathProbe::note_resumed(int pe, const Probe& probe) {
  contacts_[pe].state = PathState::open;
  former_causes_[pe] = probe.causes;
  debug_line("%s has taken over the messages to PE %d (%s)", networks_[network_of(pe)]->name(), pe,
             probe.causes.c_str());
}

// Returns the causes of all networks that have lost the PE, this one's last.
std::string PathProbe::all_causes(int pe, unsigned network, const std::string& cause) {
  const auto former = former_causes_.find(pe);
  if (former == former_causes_.end()) return cause;
  return former->second + "; " + networks_[network]->name() + ": " + cause;
}

void PathProbe::progress() noexcept {
  std::erase_if(unsent_replies_, [this](const Reply& reply) {
    return is_abandoned(reply.pe) && try_send(reply.pe, reply.network, kPathProbeReply);
  });
  for (auto& [pe, probe] : open_) {
    send_request(pe, probe);
    if (contacts_[pe].state != PathState::open && !probe.has_reply && has_next(pe) && now_ns() > probe.deadline_ns) {
      try_next(pe, probe, "no answer for " + std::to_string(limit_ns_ / 1'000'000U) + " ms");
    }
  }
}

}  // namespace shmemx::am
