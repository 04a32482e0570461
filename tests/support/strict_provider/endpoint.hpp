// Endpoints.
#pragma once

#include <rdma/fi_endpoint.h>

#include <optional>

#include "cq.hpp"
#include "guard.hpp"
#include "peer.hpp"
#include "receiver.hpp"
#include "serial.hpp"
#include "settings.hpp"
#include "shared.hpp"
#include "transmitter.hpp"

namespace strict_provider {

struct Domain;

// What fi_info has granted to an endpoint.
struct Grant {
  explicit Grant(const fi_info& info, const Mode& mode) noexcept;

  std::uint64_t caps;
  std::uint64_t order;
  std::uint64_t send_flags;     // of operations whose call has no flags
  std::uint64_t receive_flags;  // the same
  Limits limits;
  bool refuses_when_full;  // FI_RM_ENABLED: otherwise a full queue is a fault of the program
};

// Completion queues that an endpoint is bound to. With selective completion only operations with FI_COMPLETION have
// one.
struct Binding {
  Cq* queue = nullptr;
  bool is_selective = false;

  bool signals(std::uint64_t flags) const noexcept { return !is_selective || (flags & FI_COMPLETION) != 0; }
};

struct Endpoint : fid_ep {
  Endpoint(Domain& owner, const fi_info& info, void* user_context);
  ~Endpoint();

  Address address() const noexcept;
  void check_enabled(const char* call) const;
  // Ends the test if a local buffer is not registered as the mode requires. Returns the region that covers it, or null.
  Region* use_region(const char* call, const iovec& part, const void* descriptor, std::uint64_t access);

  Domain& domain;
  const Grant grant;
  Identity identity;
  SharedMemory<EndpointMemory> memory;
  Av* av = nullptr;
  Binding transmit;
  Binding receive;
  Serial serial{"endpoint"};
  Contexts contexts;
  bool is_enabled = false;
  int regions = 0;  // registrations that are bound to it
  std::optional<Transmitter> transmitter;
  std::optional<Receiver> receiver;
};

int open_endpoint(fid_domain* domain, fi_info* info, fid_ep** opened, void* context);

extern fi_ops_msg message_ops;
extern fi_ops_rma rma_ops;

}  // namespace strict_provider
