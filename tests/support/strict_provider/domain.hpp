// The domain: what its endpoints share.
#pragma once

#include <rdma/fi_domain.h>

#include <array>
#include <atomic>
#include <mutex>

#include "fabric.hpp"
#include "memory.hpp"
#include "serial.hpp"
#include "settings.hpp"
#include "shared.hpp"

namespace strict_provider {

struct Domain : fid_domain {
  Domain(Fabric& owner, const fi_info& info, const Mode& of, void* user_context);

  // Returns what finds out whether threads keep the granted model: in calls on the domain, on an endpoint that uses a
  // completion queue, and on that queue. Null if they may do as they like.
  Serial* serial_of_domain() noexcept { return threading == FI_THREAD_DOMAIN ? &serial : nullptr; }
  Serial* serial_of_endpoint(Serial& endpoint, Serial& queue) noexcept;
  Serial* serial_of_queue(Serial& queue) noexcept;

  Fabric& fabric;
  const Mode& mode;
  const std::uint64_t seed;
  const fi_threading threading;
  Serial serial{"domain"};
  std::mutex lock;
  SharedMemory<DomainMemory> memory;
  Regions regions;
  std::atomic<int> children{0};
  std::atomic<std::uint64_t> endpoints{0};  // that have been opened
  std::atomic<std::uint64_t> av_inserts{0};
  std::atomic<std::uint64_t> registrations{0};
};

int open_domain(fid_fabric* fabric, fi_info* info, fid_domain** opened, void* context);

}  // namespace strict_provider
