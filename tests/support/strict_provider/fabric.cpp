#include "fabric.hpp"

#include <poll.h>
#include <rdma/fi_errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "cq.hpp"
#include "domain.hpp"
#include "no_ops.hpp"
#include "violation.hpp"

namespace strict_provider {
namespace {

WaitSet& set_of(fid* object) noexcept { return *static_cast<WaitSet*>(reinterpret_cast<fid_wait*>(object)); }

int close_fabric(fid* object) {
  auto& fabric = *static_cast<Fabric*>(reinterpret_cast<fid_fabric*>(object));
  if (const int open = fabric.children.load(); open != 0)
    violation("fi_close: %d objects of the fabric are open", open);
  delete &fabric;
  return 0;
}

// Returns 0 if threads may sleep on all queues of the set, otherwise -FI_EAGAIN.
int try_set(WaitSet& set) {
  const std::unique_lock guard(set.lock);
  int result = 0;
  for (Cq* cq : set.queues) {
    if (try_wait(*cq) != 0) result = -FI_EAGAIN;
  }
  return result;
}

int try_objects(fid_fabric*, fid** objects, int count) {
  for (int i = 0; i < count; ++i) {
    fid* object = objects[i];
    if (object->fclass != FI_CLASS_CQ && object->fclass != FI_CLASS_WAIT) return -FI_EINVAL;
    const int result = object->fclass == FI_CLASS_WAIT ? try_set(set_of(object))
                                                       : try_wait(*static_cast<Cq*>(reinterpret_cast<fid_cq*>(object)));
    if (result != 0) return result;
  }
  return 0;
}

int wait_for_set(fid_wait* object, int timeout) {
  WaitSet& set = *static_cast<WaitSet*>(object);
  if (try_set(set) != 0) return 0;
  pollfd descriptor{set.epoll, POLLIN, 0};
  return ::poll(&descriptor, 1, timeout) == 0 ? -FI_ETIMEDOUT : 0;
}

int close_set(fid* object) {
  WaitSet& set = set_of(object);
  if (!set.queues.empty()) violation("fi_close: %zu completion queues of the wait set are open", set.queues.size());
  --set.fabric.children;
  delete &set;
  return 0;
}

int control_set(fid* object, int command, void* argument) {
  if (command != FI_GETWAIT) return -FI_ENOSYS;
  *static_cast<int*>(argument) = set_of(object).epoll;
  return 0;
}

int open_set(fid_fabric* object, fi_wait_attr* attributes, fid_wait** opened) {
  const bool is_descriptor = attributes->wait_obj == FI_WAIT_FD || attributes->wait_obj == FI_WAIT_UNSPEC;
  if (!chosen_mode().has(kWaitSet) || !is_descriptor) return -FI_ENOSYS;
  auto* set = new WaitSet(*static_cast<Fabric*>(object));
  ++set->fabric.children;
  *opened = set;
  return 0;
}

fi_ops fabric_fid_ops = {sizeof(fi_ops), close_fabric, kNo, kNo, kNo, kNo, kNo};
fi_ops_fabric fabric_ops = {sizeof(fi_ops_fabric), open_domain, kNo, kNo, open_set, try_objects, kNo};
fi_ops set_fid_ops = {sizeof(fi_ops), close_set, kNo, control_set, kNo, kNo, kNo};
fi_ops_wait set_ops = {sizeof(fi_ops_wait), wait_for_set};

}  // namespace

Fabric::Fabric(const fi_fabric_attr& attributes, void* user_context)
    : fid_fabric{{FI_CLASS_FABRIC, user_context, &fabric_fid_ops}, &fabric_ops, attributes.api_version} {}

WaitSet::WaitSet(Fabric& owner)
    : fid_wait{{FI_CLASS_WAIT, nullptr, &set_fid_ops}, &set_ops},
      fabric(owner),
      epoll(::epoll_create1(EPOLL_CLOEXEC)) {}

WaitSet::~WaitSet() { ::close(epoll); }

int open_fabric(fi_fabric_attr* attributes, fid_fabric** opened, void* context) {
  *opened = new Fabric(*attributes, context);
  return 0;
}

}  // namespace strict_provider
