// The common interface of all mechanisms that move data between two processes, and their list.
//
// A transfer moves bytes from the source process to the dest process. The local process requests it: the reader of a
// get, the writer of a put, the receiver of a two-sided mechanism. Both processes make all calls except the two copies
// at the same time, so that they can exchange addresses and keys.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "link.hpp"

namespace shmemx::bench {

enum class Direction { two_sided, get, put };

inline const char* direction_name(Direction direction) {
  switch (direction) {
    case Direction::two_sided:
      return "two-sided";
    case Direction::get:
      return "get";
    case Direction::put:
      return "put";
  }
  return "?";
}

// Memory of this process, in a file so that mechanisms can map it.
struct Region {
  std::byte* base = nullptr;
  std::size_t bytes = 0;
  int fd = -1;
  std::size_t fd_offset = 0;
};

// Offsets from the start of the registered memory.
struct Transfer {
  std::size_t source = 0;
  std::size_t dest = 0;
  std::size_t bytes = 0;
};

class Mechanism {
 public:
  explicit Mechanism(Link& link) : link_(link) {}
  Mechanism(const Mechanism&) = delete;
  Mechanism& operator=(const Mechanism&) = delete;
  virtual ~Mechanism() = default;

  // Each throws Unavailable, with the reason, if the mechanism cannot work here.
  virtual void init() {}
  virtual void register_mem(const Region& mine) { mine_ = mine; }
  virtual void copy_local(const Transfer& transfer) = 0;  // on return the data are complete at the destination
  virtual void copy_remote(const Transfer&) {}            // empty for one-sided mechanisms
  virtual void deregister_mem() {}
  virtual void finalize() {}

 protected:
  Link& link_;
  Region mine_;
};

// The paper's figures on two 2 GHz Xeons in 2006; negative if it has none.
struct PaperFigures {
  double latency_us = -1;
  double mib_per_s = -1;
  double set_up_us = -1;
  double tear_down_us = -1;
  const char* cache = "";  // source, destination
};

struct MechanismInfo {
  std::string name;
  std::string title;
  Direction direction;
  bool region_specific;     // the set-up holds for one region of memory only
  const char* permission;   // the permission that the operating system requires
  std::size_t chunk_bytes;  // default size of buffers or cells; 0 if there are none
  PaperFigures paper;
  std::unique_ptr<Mechanism> (*make)(Link& link, std::size_t chunk_bytes);  // null: not built in
  std::string missing;                                                      // the reason
};

const std::vector<MechanismInfo>& mechanisms();

std::unique_ptr<Mechanism> make_shared_buffer(Link& link, std::size_t chunk_bytes);
std::unique_ptr<Mechanism> make_message_queue(Link& link, std::size_t chunk_bytes);
std::unique_ptr<Mechanism> make_ptrace(Link& link, std::size_t);
std::unique_ptr<Mechanism> make_process_memory(Link& link, std::size_t);
std::unique_ptr<Mechanism> make_process_vm_get(Link& link, std::size_t);
std::unique_ptr<Mechanism> make_process_vm_put(Link& link, std::size_t);
std::unique_ptr<Mechanism> make_window_get(Link& link, std::size_t);
std::unique_ptr<Mechanism> make_window_put(Link& link, std::size_t);
#if defined(BENCH_HAVE_UCX)
std::unique_ptr<Mechanism> make_ucx_get(Link& link, std::size_t);
std::unique_ptr<Mechanism> make_ucx_put(Link& link, std::size_t);
#endif
#if defined(BENCH_HAVE_FABRIC)
std::unique_ptr<Mechanism> make_fabric_get(Link& link, std::size_t);
std::unique_ptr<Mechanism> make_fabric_put(Link& link, std::size_t);
#endif

}  // namespace shmemx::bench
