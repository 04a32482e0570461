// Finds out which of several networks leads to a PE of another node. Endpoint addresses tell which networks might work;
// only a probe tells which does. Where several might, the first message to a PE is a path probe, and nothing else
// leaves before its reply has arrived over the same network. A network that loses the PE before that, or brings no
// reply in time, is replaced by the next one.
//
// Each direction finds its own path; a PE receives from all networks. Under the endpoint's lock.
//
// A network that fails later, with messages under way, is followed by the next one where messages are kept
// (kept_messages.hpp). The pair then gives that network up in both directions: a probe names the networks that have
// lost the PE. The reply leaves when nothing of them can arrive any more. It says how many messages have arrived
// before; the others are sent once more.
#pragma once

#include <atomic>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "am/handlers.hpp"
#include "base/contact_table.hpp"
#include "transport/transport.hpp"

namespace shmemx::am {

// In a table of routes: the PE is of this node. Others have the number of a network, which is 0 before the first
// contact.
inline constexpr std::uint8_t kNodeRoute = 0xff;

// What a probe and its reply carry.
struct PathNote {
  std::uint64_t received;  // messages of the receiver that the sender has had, over all networks
  // The networks over which the sender has lost the receiver. By name, since PEs may have different ones.
  char lost_over[transport::kMaxTransports][8];
};

// Networks count from 0, as in `networks`.
class PathProbe {
 public:
  struct Setup {
    std::span<transport::Transport* const> networks;
    // By PE: kNodeRoute, or its network. Changed here, and read by any thread. Stays.
    std::uint8_t* route;
    // Returns one bit for each network that might lead to a PE of another node. Called once for each, at the first
    // contact. Null: the first network leads to all.
    std::uint8_t (*paths_of)(int pe);
    std::size_t n_pes;
    std::uint32_t limit_ms;  // how long to wait for a reply while there is another network
  };
  void open(const Setup& setup);

  // Returns whether messages may go to `pe`. Otherwise a probe is under way, after this call at the latest.
  bool has_path(int pe) noexcept;
  // Returns whether a path is known, and looks for none.
  bool is_open(int pe) const noexcept { return paths_of_ == nullptr || contacts_[pe].state == PathState::open; }
  std::span<transport::Transport* const> networks() const noexcept { return networks_; }
  // Returns the network to `pe`; another one may take its place until is_open().
  transport::Transport& network_to(int pe) const noexcept { return *networks_[network_of(pe)]; }
  unsigned network_of(int pe) const noexcept { return route(pe).load(std::memory_order_relaxed); }
  // Handles a probe or its reply, which `pe` has sent over a network. Returns false if `pe` is lost; `cause` tells why.
  bool receive(int pe, unsigned network, HandlerId kind, transport::Bytes content, std::string& cause) noexcept;
  // Notes that `pe` has sent any other message over a network: it has found that this one leads here. Those that are
  // numbered are sent once more if they do not arrive.
  void note_message(int pe, unsigned network, bool is_numbered) noexcept {
    if (paths_of_ == nullptr) return;
    contacts_[pe].received_over |= static_cast<std::uint8_t>(1U << network);
    contacts_[pe].received += is_numbered ? 1 : 0;
    records_[network].has_brought_messages = true;
  }
  // Returns whether messages to `pe` have to be kept, since another network may have to take over.
  bool needs_kept(int pe) const noexcept {
    return may_fail_ && !records_[network_of(pe)].resumes && networks_left(pe) != 0;
  }
  bool keeps_any() const noexcept { return may_fail_; }
  // For PEs to which another network leads now: try_resend(pe, received, is_first) sends what is behind and returns
  // whether all has left. Then the path is open.
  template <class TryResend>
  void resume(TryResend&& try_resend) {
    if (!may_fail_ || open_.empty()) return;
    for (auto at = open_.begin(); at != open_.end();) {
      auto& [pe, probe] = *at;
      const bool is_over =
          probe.has_reply && is_abandoned(pe) && try_resend(pe, probe.received, !std::exchange(probe.has_begun, true));
      if (is_over) note_resumed(pe, probe);
      at = is_over ? open_.erase(at) : std::next(at);
    }
  }
  // Returns whether the network to `pe` has followed another one, for which keys may have been made.
  bool has_followed(int pe) const noexcept { return may_fail_ && contacts_[pe].has_followed; }
  // Returns whether polls have to bring something to an end, for which no descriptor becomes readable.
  bool is_busy() const noexcept;
  // Returns whether this PE or another one uses the network, as far as is known. Others begin with the first one.
  bool is_used(unsigned network) const noexcept {
    return paths_of_ == nullptr || records_[network].has_brought_messages ||
           ((network == 0 || users_[network] != 0) && !is_hopeless(network));
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
    // Where another network takes over: the reply is here, and what it says; messages are being sent once more.
    bool has_reply = false;
    bool has_begun = false;
    std::uint64_t received = 0;
  };
  struct Record {
    unsigned failed = 0;
    unsigned succeeded = 0;
    bool has_brought_messages = false;
    bool resumes = false;
  };
  struct Reply {
    int pe;
    unsigned network;
  };
  // What is known of the path to a PE:
  //   unknown    no contact yet                      -> probing, or open if one network at most might lead there
  //   probing    a probe asks for a reply            -> open, by the reply
  //   open       messages leave                      -> resuming, if its network fails and may be followed
  //   resuming   another network is being probed, or -> open, when all that is behind has been sent once more
  //              sends once more what is behind
  enum class PathState : std::uint8_t { unknown, probing, open, resuming };
  // A PE of another node. Networks as bits.
  struct Contact {
    std::uint8_t paths;          // those that might lead there
    std::uint8_t received_over;  // those over which it has sent messages
    std::uint8_t lost_over;      // those that have lost it
    PathState state;
    bool has_followed;       // another network has taken over, or does
    std::uint64_t received;  // numbered messages of the PE, over all networks
  };

  Contact& known(int pe) noexcept;
  std::atomic_ref<std::uint8_t> route(int pe) const noexcept { return std::atomic_ref(route_[pe]); }
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
  bool may_follow(int pe, unsigned network) noexcept;
  void note_resumed(int pe, const Probe& probe);
  void follow(int pe, unsigned network, const std::string& cause);
  bool is_abandoned(int pe) noexcept;
  bool heed_lost(int pe, unsigned network, const PathNote& note, std::string& cause) noexcept;
  void heed_reply(int pe, unsigned network, const PathNote& note) noexcept;
  std::string all_causes(int pe, unsigned network, const std::string& cause);

  std::vector<transport::Transport*> networks_;
  std::uint8_t* route_ = nullptr;
  std::uint8_t (*paths_of_)(int pe) = nullptr;  // null: there is one network
  std::uint64_t limit_ns_ = 0;
  Record records_[transport::kMaxTransports];
  std::size_t users_[transport::kMaxTransports] = {};  // the number of PEs in contact whose route is this network
  ContactTable<Contact> contacts_;
  std::unordered_map<int, Probe> open_;                 // by PE
  std::unordered_map<int, std::string> former_causes_;  // by PE: of networks that others have followed
  bool may_fail_ = false;                               // there are several networks, and one of them does not resume
  std::vector<Reply> unsent_replies_;
};

}  // namespace shmemx::am
