// Completion queues. Reading one carries out what its endpoints have under way.
#pragma once

#include <rdma/fi_eq.h>

#include <deque>
#include <mutex>
#include <vector>

#include "serial.hpp"

namespace strict_provider {

struct Domain;
struct Endpoint;
struct WaitSet;

struct Completion {
  fi_cq_err_entry entry;  // err is 0 for a success
  fi_addr_t source;
};

struct Cq : fid_cq {
  Cq(Domain& owner, const fi_cq_attr& attributes, void* user_context);
  ~Cq();

  void add(const Completion& completion) { entries.push_back(completion); }
  // The lock is held by the caller of these.
  void progress();
  // Returns true if a thread may sleep until the descriptor is readable.
  bool prepare_sleep();
  void clear_wake() noexcept;
  bool has_room(std::size_t signalled) const noexcept { return entries.size() + signalled < size; }

  Domain& domain;
  const fi_cq_format format;
  const std::size_t size;
  std::mutex lock;
  Serial serial{"completion queue"};
  std::deque<Completion> entries;
  std::vector<Endpoint*> senders;
  std::vector<Endpoint*> receivers;
  WaitSet* set = nullptr;
  int pipe[2] = {-1, -1};
};

int open_cq(fid_domain* domain, fi_cq_attr* attributes, fid_cq** opened, void* context);
// Returns 0 if threads may sleep on the queue, otherwise -FI_EAGAIN.
int try_wait(Cq& cq);

}  // namespace strict_provider
