// A lane by UCX: a worker of its own in the context of the transport, with endpoints to the workers of other PEs. The
// target notices nothing of it.
#pragma once

#include <ucp/api/ucp.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "transport/rma.hpp"
#include "transport/ucx/operations.hpp"

namespace shmemx::ucx {

class UcxTransport;

class UcxLane final : public Offered<transport::Lane> {
 public:
  // Returns null if the network has none: over sockets, where each would have connections of its own, and where another
  // network may take over.
  static std::unique_ptr<transport::Lane> open(UcxTransport& transport);
  ~UcxLane() override;

  transport::RemoteKey* import_key(const transport::RemoteKey& key) noexcept override;
  void report_lost() noexcept override;
  std::size_t most_bytes() const noexcept override { return std::numeric_limits<std::size_t>::max(); }
  transport::FenceOrder fence() noexcept override { return order_by_fence(worker_); }
  void progress() noexcept override;

 private:
  // A PE, with what UCX calls back with when its endpoint fails.
  struct LaneTarget : Target {
    LaneTarget(int number, UcxLane& owner) noexcept : Target(number), lane(owner) {}
    UcxLane& lane;
  };
  struct Loss {
    int pe;
    std::string cause;
  };

  UcxLane(UcxTransport& transport, ucp_worker_h worker) noexcept : transport_(transport), worker_(worker) {}
  Target* connected(int pe);
  void failed(Target& target, const std::string& cause) noexcept override;
  static void endpoint_failed(void* target, ucp_ep_h endpoint, ucs_status_t status);

  UcxTransport& transport_;
  ucp_worker_h worker_;
  std::vector<std::unique_ptr<LaneTarget>> targets_;
  std::vector<std::unique_ptr<RemoteKey>> keys_;
  std::vector<ucp_ep_h> endpoints_;
  std::vector<Loss> lost_;
};

}  // namespace shmemx::ucx
