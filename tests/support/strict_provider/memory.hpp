// Registered memory and its keys.
#pragma once

#include <rdma/fi_domain.h>
#include <rdma/fi_rma.h>

#include <atomic>
#include <map>
#include <shared_mutex>
#include <unordered_set>

#include "shared.hpp"

namespace strict_provider {

struct Domain;
struct Endpoint;

struct Region : fid_mr {
  Region(Domain& owner, const fi_mr_attr& attributes);

  bool covers(const iovec& part) const noexcept;

  Domain& domain;
  const std::uint64_t base;
  const std::uint64_t bytes;
  const std::uint64_t access;
  std::size_t slot = kSlots;  // kSlots: not accessible to others
  Endpoint* endpoint = nullptr;
  bool is_enabled = false;
  std::atomic<int> operations{0};  // under way that use it as local memory
};

// What FI_MR_RAW gives to others instead of a key.
struct RawKey {
  std::uint64_t key;
  std::uint64_t domain;
  std::uint64_t check;
};

class Regions {
 public:
  // Adds a region, with a key if others may access it. Returns 0 or a negative error.
  int add(Region& region, std::uint64_t requested_key);
  void remove(Region& region);
  // Makes the key valid for peers.
  void enable(Region& region) noexcept;

  // Returns the region that a descriptor belongs to, marked as used by one more operation; null if there is none.
  Region* use(const void* descriptor) noexcept;

  // `base`: of the registered range, as its owner has got it with the raw key.
  int map(const RawKey& raw, std::uint64_t base, std::uint64_t& key);
  bool unmap(std::uint64_t key);
  bool has_mapped() noexcept;
  // Returns false if the key has not been mapped.
  bool find_raw(std::uint64_t key, RawKey& raw) noexcept;

 private:
  int choose_key(Region& region, std::uint64_t requested_key);

  std::shared_mutex lock_;
  std::unordered_set<const void*> live_;
  std::map<std::uint64_t, RawKey> mapped_;
  std::uint64_t next_mapped_ = 0x7a00;
  std::uint64_t bytes_ = 0;
};

struct RemoteAccess {
  const char* call;
  const DomainMemory* target;
  std::uint64_t endpoint;  // number of the target's endpoint
  std::uint64_t access;
};
// Returns the virtual address at the target. Ends the test if its key does not allow the access.
std::uint64_t resolve(Domain& domain, const RemoteAccess& what, const fi_rma_iov& part);

extern fi_ops_mr region_ops;

}  // namespace strict_provider
