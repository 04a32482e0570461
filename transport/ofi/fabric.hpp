// An open endpoint and the objects that it needs, closed in the order that libfabric requires.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "transport/ofi/library.hpp"
#include "transport/rma.hpp"

namespace shmemx::ofi {

// The versions of libfabric's interface that this code uses: the oldest, and the newest, which efa needs to write by
// its device.
inline constexpr std::uint32_t kOldestApi = FI_VERSION(1, 14);
inline constexpr std::uint32_t kNewestApi = FI_VERSION(1, 18);

template <class T>
struct CloseFid {
  void operator()(T* object) const noexcept { fi_close(&object->fid); }
};
template <class T>
using Fid = std::unique_ptr<T, CloseFid<T>>;

struct FreeInfo {
  const Library* library;
  void operator()(fi_info* info) const noexcept { library->freeinfo(info); }
};
using Info = std::unique_ptr<fi_info, FreeInfo>;

// What one operation is known by while libfabric has it. First in whatever is handed over as a context.
struct Operation {
  enum class Kind : std::uint8_t { receive, packet, chunk, rma, test };

  explicit Operation(Kind what) noexcept : kind(what) {}
  fi_context2 context{};  // the provider's
  Kind kind;
};

// What a thread sleeps on: a descriptor of the completion queue's own, or one of a wait set that the queue belongs to.
// The queues of some providers leave theirs readable after the first completion; that of a set can be put right. Others
// (shm, efa) have none: whoever waits looks again and again.
enum class Waiting : std::uint8_t { on_queue, on_set, on_nothing };

struct Fabric {
  const Library* library = nullptr;
  Info info{nullptr, FreeInfo{nullptr}};
  Fid<fid_fabric> fabric;
  Fid<fid_domain> domain;
  Fid<fid_av> av;
  Fid<fid_wait> wait_set;  // null: Waiting::on_queue
  Fid<fid_cq> cq;
  Fid<fid_ep> ep;
  int wait_fd = -1;  // the set's or the CQ's; -1: none
  // Completions that were read where only those of puts and gets are dealt with.
  std::vector<fi_cq_data_entry> set_aside;
  std::vector<std::string> lanes;  // names of endpoints that this one has opened for lanes

  std::string provider() const { return info->fabric_attr->prov_name; }
  std::string interface() const { return info->domain_attr->name != nullptr ? info->domain_attr->name : "?"; }
  bool wants(std::uint64_t mr_mode) const noexcept {
    return (static_cast<std::uint64_t>(info->domain_attr->mr_mode) & mr_mode) != 0;
  }
  bool has_multi_recv() const noexcept { return (info->caps & FI_MULTI_RECV) != 0; }
  // Returns true if data move through the kernel's sockets: no RMA in hardware, one ordered stream to each peer.
  bool is_stream() const noexcept;
  // Who carries out puts and gets: the target's CPU, the network, or nobody knows without a probe.
  enum class Rma : std::uint8_t { software, unproven, hardware };
  Rma rma() const noexcept;
  // What of that which is posted to a PE takes effect after the writes that were posted before, as the provider grants
  // it by itself. We request no more: an order may cost the provider paths that are faster.
  transport::FenceOrder order_behind_writes() const noexcept { return writes_.order; }
  // With these flags a write is complete when it is in the target's memory.
  std::uint64_t write_flags() const noexcept { return writes_.flags; }
  // Returns true if a thread may sleep on wait_fd: nothing to read, and nothing under way in the provider.
  bool may_sleep() const noexcept;

  std::string name() const;                                    // the endpoint's address, opaque
  std::string address_text(const std::string& name) const;     // for people
  std::string error_text(int error) const;                     // of a positive fi_errno
  Error failure(const char* what, std::int64_t result) const;  // of a negative result

 private:
  friend Result<Fabric> open_fabric(const Library& library, const fi_info& info, Waiting waiting);
  struct {
    std::uint64_t flags = FI_COMPLETION | FI_DELIVERY_COMPLETE;
    transport::FenceOrder order = transport::FenceOrder::nothing;
  } writes_;
};

// Opens an endpoint that can send and receive, from one result of fi_getinfo.
Result<Fabric> open_fabric(const Library& library, const fi_info& info, Waiting waiting);

// Of shm: the process may end without closing its endpoints, and the provider would leave their segments behind. They
// stay mapped: other endpoints of the process use the same mapping.
void unlink_segments(const Fabric& fabric) noexcept;

}  // namespace shmemx::ofi

// Calls a function of libfabric. If it fails, returns the error's text from the enclosing function.
#define SHMEMX_OFI_TRY(fabric, call, ...)                                                            \
  do {                                                                                               \
    if (const auto shmemx_result = call(__VA_ARGS__)) return (fabric).failure(#call, shmemx_result); \
  } while (false)
