// Which of several networks leads to a PE of another node. Cards say which could; that one does shows when it is used.
// So where a PE could be reached by several, the first thing that goes there is a question, and nothing else leaves
// before an answer has come over the same network. A network that loses the PE before that, or brings no answer in
// time, gives way to the next.
//
// Each direction finds its own way, and PEs take messages from all networks. Under the endpoint's lock.
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
class Trials {
 public:
  // `via`: by PE, 0 or one more than its network; changed here, and read by any thread. `reach`: by PE, one bit for
  // each network that could lead there; null: `via` is all there is. They stay. `limit_ms`: how long an answer is
  // waited for while there is another network.
  void open(std::span<transport::Transport* const> networks, std::uint8_t* via, const std::uint8_t* reach,
            std::size_t n_pes, std::uint32_t limit_ms);

  // May messages go to `pe`? Otherwise the answer is on its way, after this call at the latest.
  bool have_passed(int pe) noexcept;
  // `pe` has sent this, a question or an answer, over a network.
  void take(int pe, unsigned network, HandlerId kind) noexcept;
  // `pe` has sent something else over a network: it has found that this one leads here.
  void note(int pe, unsigned network) noexcept {
    if (reach_ == nullptr) return;
    heard_[static_cast<std::size_t>(pe)] |= static_cast<std::uint8_t>(1U << network);
    records_[network].has_brought = true;
  }
  // Does this PE or another use it, as far as is known?
  bool is_used(unsigned network) const noexcept {
    return reach_ == nullptr || records_[network].has_brought || (users_[network] != 0 && !is_hopeless(network));
  }
  // A network has lost `pe`. False: it does not matter, since nothing has come from there that way, and another way is
  // in use or left. Otherwise `cause` is what became of all of them.
  bool is_end(int pe, unsigned network, std::string& cause) noexcept;
  // What could not leave before, and answers that do not come. At each poll.
  void go_on() noexcept;

 private:
  struct Trial {
    std::uint8_t asked = 0;  // over which networks, as bits
    std::uint64_t deadline_ns = 0;
    std::string causes;  // of those that have failed
  };
  struct Record {
    unsigned failed = 0;
    unsigned passed = 0;
    bool has_brought = false;  // messages
  };
  struct Answer {
    int pe;
    unsigned network;
  };

  std::atomic_ref<std::uint8_t> via(int pe) const noexcept { return std::atomic_ref(via_[pe]); }
  unsigned network_of(int pe) const noexcept { return via(pe).load(std::memory_order_relaxed) - 1U; }
  void begin(int pe);
  unsigned left(int pe) const noexcept;
  bool has_next(int pe) const noexcept;
  bool is_hopeless(unsigned network) const noexcept;
  void move_on(int pe) noexcept;
  void take_over(int pe, unsigned network) noexcept;
  void add_cause(Trial& trial, unsigned network, const std::string& cause);
  bool try_next(int pe, Trial& trial, const std::string& cause);
  void ask(int pe, Trial& trial) noexcept;
  bool send(int pe, unsigned network, HandlerId kind) noexcept;

  std::vector<transport::Transport*> networks_;
  std::uint8_t* via_ = nullptr;
  const std::uint8_t* reach_ = nullptr;
  std::uint64_t limit_ns_ = 0;
  Record records_[transport::kMaxTransports];
  std::size_t users_[transport::kMaxTransports] = {};  // so many PEs are reached that way, or will be tried so
  std::vector<std::uint8_t> heard_;                    // by PE: networks over which it has sent, as bits
  std::vector<std::uint8_t> lost_;                     // by PE: networks that have lost it, as bits
  std::vector<bool> passed_;                           // by PE
  std::unordered_map<int, Trial> open_;
  std::vector<Answer> due_;  // to questions
};

}  // namespace shmemx::am
