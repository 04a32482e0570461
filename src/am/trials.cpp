#include "am/trials.hpp"

#include <bit>

#include "base/clock.hpp"
#include "base/fatal.hpp"

namespace shmemx::am {
namespace {

constexpr unsigned bit_of(unsigned network) { return 1U << network; }

}  // namespace

void Trials::open(std::span<transport::Transport* const> networks, std::uint8_t* via, const std::uint8_t* reach,
                  std::size_t n_pes, std::uint32_t limit_ms) {
  networks_.assign(networks.begin(), networks.end());
  via_ = via;
  limit_ns_ = std::uint64_t{limit_ms} * 1'000'000U;
  passed_.assign(n_pes, true);
  for (std::size_t pe = 0; via != nullptr && pe < n_pes; ++pe) {
    if (via[pe] != 0) ++users_[via[pe] - 1U];
  }
  for (std::size_t pe = 0; reach != nullptr && pe < n_pes; ++pe) {
    if ((reach[pe] & (reach[pe] - 1U)) == 0) continue;
    passed_[pe] = false;
    reach_ = reach;
  }
  if (reach_ == nullptr) return;
  heard_.assign(n_pes, 0);
  lost_.assign(n_pes, 0);
}

bool Trials::have_passed(int pe) noexcept {
  if (passed_[static_cast<std::size_t>(pe)]) return true;
  begin(pe);
  return passed_[static_cast<std::size_t>(pe)];
}

void Trials::begin(int pe) {
  const auto [place, is_new] = open_.try_emplace(pe);
  Trial& trial = place->second;
  if (is_new) {
    trial.deadline_ns = now_ns() + limit_ns_;
    while (is_hopeless(network_of(pe)) && has_next(pe)) move_on(pe);
  }
  ask(pe, trial);
}

void Trials::ask(int pe, Trial& trial) noexcept {
  const unsigned bit = bit_of(network_of(pe));
  if ((trial.asked & bit) == 0 && send(pe, network_of(pe), kPathProbe)) trial.asked |= bit;
}

bool Trials::send(int pe, unsigned network, HandlerId kind) noexcept {
  const transport::Header head{kind, 0, 0, 0};
  return networks_[network]->send(pe, head, {}, {}, nullptr, transport::Urgency::now) != transport::Sent::no;
}

void Trials::take(int pe, unsigned network, HandlerId kind) noexcept {
  if (kind == kPathProbe) {
    if (!send(pe, network, kPathProbeReply)) due_.push_back({pe, network});
    return;
  }
  const auto trial = open_.find(pe);
  if (trial == open_.end() || (trial->second.asked & bit_of(network)) == 0) return;
  // A network that was given up has only been slow: nothing else has been sent yet, so it may be taken all the same.
  take_over(pe, network);
  passed_[static_cast<std::size_t>(pe)] = true;
  ++records_[network].passed;
  open_.erase(trial);
}

// Those behind the one in use that have not lost it.
unsigned Trials::left(int pe) const noexcept {
  const unsigned tried = (bit_of(network_of(pe)) << 1) - 1;
  return reach_[pe] & ~tried & ~unsigned{lost_[static_cast<std::size_t>(pe)]};
}

bool Trials::has_next(int pe) const noexcept { return left(pe) != 0; }

// Has it failed again and again, and never led anywhere? Then not everybody has to wait for it.
bool Trials::is_hopeless(unsigned network) const noexcept {
  constexpr unsigned kEnough = 2;
  return records_[network].failed >= kEnough && records_[network].passed == 0;
}

// Networks are tried in their order. Wants has_next().
void Trials::move_on(int pe) noexcept { take_over(pe, static_cast<unsigned>(std::countr_zero(left(pe)))); }

void Trials::take_over(int pe, unsigned network) noexcept {
  --users_[network_of(pe)];
  ++users_[network];
  via(pe).store(static_cast<std::uint8_t>(network + 1), std::memory_order_relaxed);
}

void Trials::add_cause(Trial& trial, unsigned network, const std::string& cause) {
  trial.causes += (trial.causes.empty() ? "" : "; ") + std::string(networks_[network]->name()) + ": " + cause;
}

// False: there is no next one.
bool Trials::try_next(int pe, Trial& trial, const std::string& cause) {
  const unsigned failed = network_of(pe);
  ++records_[failed].failed;
  add_cause(trial, failed, cause);
  if (!has_next(pe)) return false;
  move_on(pe);
  debug_line("%s does not lead to PE %d (%s), %s is tried", networks_[failed]->name(), pe, cause.c_str(),
             networks_[network_of(pe)]->name());
  trial.deadline_ns = now_ns() + limit_ns_;
  ask(pe, trial);
  return true;
}

// A PE that has only asked that way, or not even that, may still be there: it is asked over what is left, even when
// nobody has anything to send.
bool Trials::is_end(int pe, unsigned network, std::string& cause) noexcept {
  if (reach_ == nullptr || (heard_[static_cast<std::size_t>(pe)] & bit_of(network)) != 0) return true;
  const bool is_in_use = network == network_of(pe);
  if (passed_[static_cast<std::size_t>(pe)]) return is_in_use;
  lost_[static_cast<std::size_t>(pe)] |= static_cast<std::uint8_t>(bit_of(network));
  if (!is_in_use) {
    begin(pe);
    add_cause(open_[pe], network, cause);
    return false;
  }
  Trial& trial = open_[pe];
  if (try_next(pe, trial, cause)) return false;
  cause = trial.causes;
  return true;
}

void Trials::go_on() noexcept {
  std::erase_if(due_, [this](const Answer& answer) { return send(answer.pe, answer.network, kPathProbeReply); });
  for (auto& [pe, trial] : open_) {
    ask(pe, trial);
    if (has_next(pe) && now_ns() > trial.deadline_ns) {
      try_next(pe, trial, "no answer for " + std::to_string(limit_ns_ / 1'000'000U) + " ms");
    }
  }
}

}  // namespace shmemx::am
