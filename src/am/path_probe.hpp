// Finds out which of several networks leads to a PE of another node. Endpoint addresses tell which networks might work;
// only a probe tells which does. Where several might, the first message to a PE is a path probe, and nothing else
// leaves before its reply has arrived over the same network. A network that loses the PE before that, or brings no
// reply in time, is replaced by the next one.
//
// Each direction finds its own path; a PE receives from all networks. Under the endpoint's lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "am/handlers.hpp"
#include "transport/transport.hpp"

namespace shmemx::am {

// Networks count from 0, as in `networks`.
class PathProbe {
 public:
  struct Setup {
    std::span<transport::Transport* const> networks;
    // By PE: 0 for PEs of this node, else one more than its network. Changed here, and read by any thread. Stays.
    std::uint8_t* route;
    // By PE: one bit for each network that might lead there. Null: there is no choice. Stays.
    const std::uint8_t* paths;
    std::size_t n_pes;
    std::uint32_t limit_ms;  // how long to wait for a reply while there is another network
  };
  void open(const Setup& setup);

  // Returns whether messages may go to `pe`. Otherwise a probe is under way, after this call at the latest.
  bool has_path(int pe) noexcept;
  // Handles a probe or its reply, which `pe` has sent over a network.
  void receive(int pe, unsigned network, HandlerId kind) noexcept;
  // Notes that `pe` has sent any other message over a network: it has found that this one leads here.
  void note_message(int pe, unsigned network) noexcept {
    if (paths_ == nullptr) return;
    received_over_[static_cast<std::size_t>(pe)] |= static_cast<std::uint8_t>(1U << network);
    records_[network].has_brought_messages = true;
  }
  // Returns whether this PE or another one uses the network, as far as is known.
  bool is_used(unsigned network) const noexcept {
    return paths_ == nullptr || records_[network].has_brought_messages ||
           (users_[network] != 0 && !is_hopeless(network));
  }
  // Notes that a network has lost `pe`. Returns whether the PE is lost: false if it has sent nothing over that network
  // and another one is in use or left. If true, `cause` tells what became of all networks.
  bool is_lost(int pe, unsigned network, std::string& cause) noexcept;
  // Sends what could not leave before, and gives up networks that bring no reply. To be called at each poll.
  void progress() noexcept;

 private:
  struct Probe {
    std::uint8_t requested = 0;  // the networks over which a request has left, as bits
    std::uint64_t deadline_ns = 0;
    std::string causes;  // of the networks that have failed
  };
  struct Record {
    unsigned failed = 0;
    unsigned succeeded = 0;
    bool has_brought_messages = false;
  };
  struct Reply {
    int pe;
    unsigned network;
  };

  std::atomic_ref<std::uint8_t> route(int pe) const noexcept { return std::atomic_ref(route_[pe]); }
  unsigned network_of(int pe) const noexcept { return route(pe).load(std::memory_order_relaxed) - 1U; }
  void begin(int pe);
  unsigned networks_left(int pe) const noexcept;
  bool has_next(int pe) const noexcept;
  bool is_hopeless(unsigned network) const noexcept;
  void use_next(int pe) noexcept;
  void use(int pe, unsigned network) noexcept;
  void add_cause(Probe& probe, unsigned network, const std::string& cause);
  bool try_next(int pe, Probe& probe, const std::string& cause);
  void send_request(int pe, Probe& probe) noexcept;
  bool try_send(int pe, unsigned network, HandlerId kind) noexcept;

  std::vector<transport::Transport*> networks_;
  std::uint8_t* route_ = nullptr;
  const std::uint8_t* paths_ = nullptr;
  std::uint64_t limit_ns_ = 0;
  Record records_[transport::kMaxTransports];
  std::size_t users_[transport::kMaxTransports] = {};  // the number of PEs whose route is this network
  std::vector<std::uint8_t> received_over_;            // by PE: networks over which it has sent messages, as bits
  std::vector<std::uint8_t> lost_over_;                // by PE: networks that have lost it, as bits
  std::vector<bool> has_path_;                         // by PE
  std::unordered_map<int, Probe> open_;                // by PE
  std::vector<Reply> unsent_replies_;
};

}  // namespace shmemx::am
