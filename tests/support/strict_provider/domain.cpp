#include "domain.hpp"

#include <rdma/fi_errno.h>

#include <cstring>

#include "cq.hpp"
#include "endpoint.hpp"
#include "no_ops.hpp"
#include "peer.hpp"
#include "random.hpp"
#include "violation.hpp"

namespace strict_provider {
namespace {

Domain& domain_of(fid* object) noexcept { return *static_cast<Domain*>(reinterpret_cast<fid_domain*>(object)); }

int close_domain(fid* object) {
  Domain& domain = domain_of(object);
  if (const int open = domain.children.load(); open != 0)
    violation("fi_close: %d objects of the domain are open", open);
  if (domain.regions.has_mapped()) violation("fi_close: keys of fi_mr_map_raw are mapped");
  --domain.fabric.children;
  delete &domain;
  return 0;
}

int map_raw(Domain& domain, const struct fi_mr_map_raw& request) {
  if (request.key_size != sizeof(RawKey)) return -FI_EINVAL;
  RawKey raw;
  std::memcpy(&raw, request.raw_key, sizeof raw);
  return domain.regions.map(raw, request.base_addr, *request.key);
}

int control_domain(fid* object, int command, void* argument) {
  Domain& domain = domain_of(object);
  const Entry entry("fi_control", domain.serial_of_domain(), domain.lock);
  if (!domain.mode.requires_mr(FI_MR_RAW)) return -FI_ENOSYS;
  if (command == FI_MAP_RAW_MR) return map_raw(domain, *static_cast<const struct fi_mr_map_raw*>(argument));
  if (command != FI_UNMAP_KEY) return -FI_ENOSYS;
  const std::uint64_t key = *static_cast<const std::uint64_t*>(argument);
  if (!domain.regions.unmap(key)) violation("fi_mr_unmap_key: the key 0x%lx is not mapped", key);
  return 0;
}

fi_ops domain_fid_ops = {sizeof(fi_ops), close_domain, kNo, control_domain, kNo, kNo, kNo};
fi_ops_domain domain_ops = {
    sizeof(fi_ops_domain), open_av, open_cq, open_endpoint, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo};

}  // namespace

Domain::Domain(Fabric& owner, const fi_info& info, const Mode& of, void* user_context)
    : fid_domain{{FI_CLASS_DOMAIN, user_context, &domain_fid_ops}, &domain_ops, &region_ops},
      fabric(owner),
      mode(of),
      seed(chosen_seed()),
      threading(info.domain_attr->threading) {}

Serial* Domain::serial_of_endpoint(Serial& endpoint, Serial& queue) noexcept {
  switch (threading) {
    case FI_THREAD_DOMAIN:
      return &serial;
    case FI_THREAD_COMPLETION:
      return &queue;
    case FI_THREAD_ENDPOINT:
    case FI_THREAD_FID:
      return &endpoint;
    default:
      return nullptr;
  }
}

Serial* Domain::serial_of_queue(Serial& queue) noexcept {
  return threading == FI_THREAD_DOMAIN ? &serial : threading == FI_THREAD_COMPLETION ? &queue : nullptr;
}

int open_domain(fid_fabric* object, fi_info* info, fid_domain** opened, void* context) {
  auto& fabric = *static_cast<Fabric*>(object);
  const fi_domain_attr* attributes = info->domain_attr;
  const Mode* mode = attributes != nullptr && attributes->name != nullptr ? mode_of(attributes->name) : nullptr;
  if (mode == nullptr || (mode->mr_mode & ~attributes->mr_mode) != 0) return -FI_EINVAL;
  auto* domain = new Domain(fabric, *info, *mode, context);
  if (!domain->memory.create()) {
    delete domain;
    return -FI_ENOMEM;
  }
  domain->memory->number = unique_number();
  ++fabric.children;
  *opened = domain;
  return 0;
}

}  // namespace strict_provider
