#include "endpoint.hpp"

#include <fcntl.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_tagged.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <unordered_set>

#include "domain.hpp"
#include "no_ops.hpp"
#include "random.hpp"
#include "violation.hpp"

namespace strict_provider {
namespace {

Endpoint& endpoint_of(fid* object) noexcept { return *static_cast<Endpoint*>(reinterpret_cast<fid_ep*>(object)); }

// Endpoints that are enabled and not closed.
struct OpenEndpoints {
  std::mutex lock;
  std::unordered_set<Endpoint*> all;
};

// It is never destroyed: the provider may be used until the process ends.
OpenEndpoints& open_endpoints() {
  static auto* const open = new OpenEndpoints;
  return *open;
}

// Appends one line about the endpoint to the log.
void write_log(Endpoint& endpoint, bool is_closed) {
  const char* name = log_file();
  if (name == nullptr) return;
  const Counts& counts = endpoint.transmitter->counts();
  char line[640];
  const int bytes = std::snprintf(
      line, sizeof line,
      "pid %d endpoint %lx mode %s sends %lu receives %lu reads %lu writes %lu injected_sends %lu injected_writes %lu "
      "av_inserts %lu registrations %lu bytes_sent %lu bytes_received %lu bytes_read %lu bytes_written %lu closed %d\n",
      ::getpid(), endpoint.identity.number, endpoint.domain.mode.name, counts.sends, counts.receives, counts.reads,
      counts.writes, counts.injected_sends, counts.injected_writes, endpoint.domain.av_inserts.load(),
      endpoint.domain.registrations.load(), counts.bytes_sent, counts.bytes_received, counts.bytes_read,
      counts.bytes_written, is_closed ? 1 : 0);
  const int file = ::open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return;
  [[maybe_unused]] const ssize_t written = ::write(file, line, static_cast<std::size_t>(bytes));
  ::close(file);
}

// Ends operations under way, and takes the endpoint from its queues.
void shut_down(Endpoint& endpoint) {
  Cq& sender = *endpoint.transmit.queue;
  {
    const Entry entry("fi_close", endpoint.domain.serial_of_endpoint(endpoint.serial, sender.serial), sender.lock);
    endpoint.transmitter->finish();
    std::erase(sender.senders, &endpoint);
  }
  Cq& receiver = *endpoint.receive.queue;
  const Entry entry("fi_close", endpoint.domain.serial_of_endpoint(endpoint.serial, receiver.serial), receiver.lock);
  endpoint.memory->is_closed.store(1);
  endpoint.receiver->finish();
  std::erase(receiver.receivers, &endpoint);
  write_log(endpoint, true);
  const std::unique_lock guard(open_endpoints().lock);
  open_endpoints().all.erase(&endpoint);
}

int close_endpoint(fid* object) {
  Endpoint& endpoint = endpoint_of(object);
  if (endpoint.regions != 0)
    violation("fi_close: %d registrations that are bound to the endpoint are open", endpoint.regions);
  if (endpoint.is_enabled) shut_down(endpoint);
  Domain& domain = endpoint.domain;
  const Entry entry("fi_close", domain.serial_of_domain(), domain.lock);
  if (endpoint.av != nullptr) --endpoint.av->endpoints;
  --domain.children;
  delete &endpoint;
  return 0;
}

void bind_queue(Endpoint& endpoint, Cq& queue, std::uint64_t flags) {
  const Binding binding{&queue, (flags & FI_SELECTIVE_COMPLETION) != 0};
  if ((flags & (FI_TRANSMIT | FI_RECV)) == 0) violation("fi_ep_bind: neither FI_TRANSMIT nor FI_RECV");
  if ((flags & FI_TRANSMIT) != 0) endpoint.transmit = binding;
  if ((flags & FI_RECV) != 0) endpoint.receive = binding;
}

int bind_endpoint(fid* object, fid* other, std::uint64_t flags) {
  Endpoint& endpoint = endpoint_of(object);
  const Entry entry("fi_ep_bind", endpoint.domain.serial_of_domain(), endpoint.domain.lock);
  if (endpoint.is_enabled) violation("fi_ep_bind: the endpoint is enabled");
  if (other->fclass == FI_CLASS_CQ) {
    auto& queue = *static_cast<Cq*>(reinterpret_cast<fid_cq*>(other));
    if (&queue.domain != &endpoint.domain) violation("fi_ep_bind: the completion queue is of another domain");
    bind_queue(endpoint, queue, flags);
    return 0;
  }
  if (other->fclass != FI_CLASS_AV) return -FI_ENOSYS;
  if (endpoint.av != nullptr) violation("fi_ep_bind: the endpoint has an address vector");
  endpoint.av = static_cast<Av*>(reinterpret_cast<fid_av*>(other));
  ++endpoint.av->endpoints;
  return 0;
}

int enable(Endpoint& endpoint) {
  if (endpoint.is_enabled) violation("fi_enable: the endpoint is enabled");
  if (endpoint.av == nullptr) return -FI_ENOAV;
  if (endpoint.transmit.queue == nullptr || endpoint.receive.queue == nullptr) return -FI_ENOCQ;
  if (!endpoint.memory.create()) return -FI_ENOMEM;
  endpoint.memory->number = endpoint.identity.number;
  endpoint.memory->domain_file = endpoint.domain.memory.file();
  endpoint.memory->wake_file.store(endpoint.receive.queue->pipe[1]);
  const std::uint64_t number = endpoint.domain.endpoints.fetch_add(1);
  endpoint.transmitter.emplace(endpoint, endpoint.domain.seed == 0 ? 0 : mix(endpoint.domain.seed + number) | 1);
  endpoint.receiver.emplace(endpoint);
  endpoint.is_enabled = true;
  {
    const std::unique_lock guard(open_endpoints().lock);
    open_endpoints().all.insert(&endpoint);
  }
  {
    const std::unique_lock guard(endpoint.transmit.queue->lock);
    endpoint.transmit.queue->senders.push_back(&endpoint);
  }
  const std::unique_lock guard(endpoint.receive.queue->lock);
  endpoint.receive.queue->receivers.push_back(&endpoint);
  return 0;
}

int control_endpoint(fid* object, int command, void*) {
  Endpoint& endpoint = endpoint_of(object);
  const Entry entry("fi_enable", endpoint.domain.serial_of_domain(), endpoint.domain.lock);
  return command == FI_ENABLE ? enable(endpoint) : -FI_ENOSYS;
}

ssize_t cancel(fid_t object, void* context) {
  Endpoint& endpoint = endpoint_of(object);
  endpoint.check_enabled("fi_cancel");
  Cq& queue = *endpoint.receive.queue;
  const Entry entry("fi_cancel", endpoint.domain.serial_of_endpoint(endpoint.serial, queue.serial), queue.lock);
  return endpoint.receiver->cancel(context) ? 0 : -FI_ENOENT;
}

int set_option(fid_t object, int level, int name, const void* value, std::size_t bytes) {
  Endpoint& endpoint = endpoint_of(object);
  if (level != FI_OPT_ENDPOINT || name != FI_OPT_MIN_MULTI_RECV) return -FI_ENOPROTOOPT;
  if (bytes != sizeof(std::size_t)) return -FI_EINVAL;
  endpoint.check_enabled("fi_setopt");
  endpoint.receiver->set_least_room(*static_cast<const std::size_t*>(value));
  return 0;
}

int get_option(fid_t object, int level, int name, void* value, std::size_t* bytes) {
  Endpoint& endpoint = endpoint_of(object);
  if (level != FI_OPT_ENDPOINT || name != FI_OPT_MIN_MULTI_RECV) return -FI_ENOPROTOOPT;
  if (*bytes < sizeof(std::size_t)) return -FI_ETOOSMALL;
  endpoint.check_enabled("fi_getopt");
  *static_cast<std::size_t*>(value) = endpoint.receiver->least_room();
  *bytes = sizeof(std::size_t);
  return 0;
}

int get_name(fid_t object, void* name, std::size_t* bytes) {
  Endpoint& endpoint = endpoint_of(object);
  endpoint.check_enabled("fi_getname");
  const std::size_t room = *bytes;
  *bytes = sizeof(Address);
  if (room < sizeof(Address)) return -FI_ETOOSMALL;
  const Address address = endpoint.address();
  std::memcpy(name, &address, sizeof address);
  return 0;
}

fi_ops endpoint_fid_ops = {sizeof(fi_ops), close_endpoint, bind_endpoint, control_endpoint, kNo, kNo, kNo};
fi_ops_ep endpoint_ops = {sizeof(fi_ops_ep), cancel, get_option, set_option, kNo, kNo, kNo, kNo};
fi_ops_cm name_ops = {sizeof(fi_ops_cm), kNo, get_name, kNo, kNo, kNo, kNo, kNo, kNo, kNo};
fi_ops_tagged tagged_ops = {sizeof(fi_ops_tagged), kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo};
fi_ops_atomic atomic_ops = {sizeof(fi_ops_atomic), kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo};
fi_ops_collective collective_ops = {sizeof(fi_ops_collective), kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo};

}  // namespace

void log_open_endpoints() {
  const std::unique_lock guard(open_endpoints().lock);
  for (Endpoint* endpoint : open_endpoints().all) write_log(*endpoint, false);
}

Grant::Grant(const fi_info& info, const Mode& mode) noexcept
    : caps(info.caps),
      order(info.tx_attr != nullptr ? info.tx_attr->msg_order : mode.order),
      send_flags(info.tx_attr != nullptr ? info.tx_attr->op_flags : 0),
      receive_flags(info.rx_attr != nullptr ? info.rx_attr->op_flags : 0),
      limits(mode.limits),
      refuses_when_full(info.domain_attr == nullptr || info.domain_attr->resource_mgmt != FI_RM_DISABLED) {
  if (info.tx_attr != nullptr) {
    limits.inject_bytes = info.tx_attr->inject_size;
    limits.sends = info.tx_attr->size;
    limits.parts = info.tx_attr->iov_limit;
    limits.remote_parts = info.tx_attr->rma_iov_limit;
  }
  if (info.rx_attr != nullptr) limits.receives = info.rx_attr->size;
}

Endpoint::Endpoint(Domain& owner, const fi_info& info, void* user_context)
    : fid_ep{{FI_CLASS_EP, user_context, &endpoint_fid_ops},
             &endpoint_ops,
             &name_ops,
             &message_ops,
             &rma_ops,
             &tagged_ops,
             &atomic_ops,
             &collective_ops},
      domain(owner),
      grant(info, owner.mode),
      identity{kMagic, unique_number()},
      contexts(owner.mode.mode) {}

Endpoint::~Endpoint() { identity = {}; }

Address Endpoint::address() const noexcept {
  Address own{kMagic,
              ::getpid(),
              memory.file(),
              reinterpret_cast<std::uint64_t>(&identity),
              identity.number,
              own_pid_namespace(),
              0};
  own.check = own.expected_check();
  return own;
}

void Endpoint::check_enabled(const char* call) const {
  if (!is_enabled) violation("%s: the endpoint is not enabled", call);
}

Region* Endpoint::use_region(const char* call, const iovec& part, const void* descriptor, std::uint64_t access) {
  if (!domain.mode.requires_mr(FI_MR_LOCAL) || part.iov_len == 0) return nullptr;
  Region* region = domain.regions.use(descriptor);
  if (region == nullptr)
    violation("%s: %zu bytes at %p are not registered, the descriptor %p is of no registration", call, part.iov_len,
              part.iov_base, descriptor);
  if (!region->covers(part))
    violation("%s: %zu bytes at %p are not in the %lu registered bytes at 0x%lx", call, part.iov_len, part.iov_base,
              region->bytes, region->base);
  if ((region->access & access) == 0)
    violation("%s: the registration of %p has the access 0x%lx, 0x%lx is needed", call, part.iov_base, region->access,
              access);
  return region;
}

int open_endpoint(fid_domain* object, fi_info* info, fid_ep** opened, void* context) {
  auto& domain = *static_cast<Domain*>(object);
  const Entry entry("fi_endpoint", domain.serial_of_domain(), domain.lock);
  const bool is_reliable =
      info->ep_attr == nullptr || info->ep_attr->type == FI_EP_RDM || info->ep_attr->type == FI_EP_UNSPEC;
  if (!is_reliable) return -FI_EINVAL;
  const Limits& most = domain.mode.limits;
  const Grant asked(*info, domain.mode);
  const bool is_granted = asked.limits.inject_bytes <= most.inject_bytes && asked.limits.sends <= most.sends &&
                          asked.limits.receives <= most.receives && asked.limits.parts <= most.parts &&
                          asked.limits.remote_parts <= most.remote_parts && (asked.order & ~domain.mode.order) == 0;
  if (!is_granted) return -FI_EINVAL;
  ++domain.children;
  *opened = new Endpoint(domain, *info, context);
  return 0;
}

}  // namespace strict_provider
