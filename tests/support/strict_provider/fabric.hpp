// The fabric, and sets of completion queues to sleep on.
#pragma once

#include <rdma/fi_eq.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>

#include <atomic>
#include <mutex>
#include <vector>

namespace strict_provider {

extern fi_provider provider;

int get_info(std::uint32_t version, const char* node, const char* service, std::uint64_t flags, const fi_info* hints,
             fi_info** info);
// Returns null if this process may read and write the memory of others, otherwise the reason.
const char* why_no_access() noexcept;

struct Fabric : fid_fabric {
  Fabric(const fi_fabric_attr& attributes, void* user_context);
  std::atomic<int> children{0};
};
// Writes about endpoints that a program leaves open when it ends.
void log_open_endpoints();
int open_fabric(fi_fabric_attr* attributes, fid_fabric** opened, void* context);

struct Cq;

struct WaitSet : fid_wait {
  explicit WaitSet(Fabric& owner);
  ~WaitSet();

  Fabric& fabric;
  int epoll = -1;
  std::mutex lock;
  std::vector<Cq*> queues;
};

}  // namespace strict_provider
