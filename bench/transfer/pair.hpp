// Controls the two processes of one mechanism. Each mechanism has its own processes, so that one that cannot start,
// hangs or dies does not affect the others.
#pragma once

#include <sys/types.h>

#include <string>

#include "order.hpp"

namespace shmemx::bench {

struct Site {
  const Arena* arena = nullptr;
  int cpus[2] = {-1, -1};  // of the local and the remote process; -1: not pinned
  bool crowded = false;    // one core for both
  std::size_t working_set_bytes = 0;
};

class Pair {
 public:
  Pair(const MechanismInfo& info, const Site& site);
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  ~Pair();

  bool alive() const { return alive_; }
  const std::string& why() const { return why_; }

  // Both processes carry out the order. Returns false if they failed, which ends the pair; why() then tells the
  // reason.
  bool carry_out(const Order& order, int limit_ms);
  const Outcome& local() const { return block_->outcome[0]; }
  const Outcome& remote() const { return block_->outcome[1]; }

 private:
  void start(const MechanismInfo& info, const Site& site, bool local, int socket);
  bool await_replies(int limit_ms);
  std::string reason() const;
  void end();
  void end_process(pid_t& pid);

  PairBlock* block_ = nullptr;
  pid_t pids_[2] = {-1, -1};
  int orders_[2] = {-1, -1};
  int replies_[2] = {-1, -1};  // one pipe for each process, whose end closes when the process ends
  bool alive_ = false;
  std::string why_;
};

}  // namespace shmemx::bench
