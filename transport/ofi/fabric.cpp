#include "transport/ofi/fabric.hpp"

#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>
#include <sys/mman.h>

#include <cstring>
#include <string_view>

namespace shmemx::ofi {
namespace {

constexpr std::size_t kCqEntries = 4096;

Status open_addresses(Fabric& fabric) {
  fi_av_attr attributes{};
  attributes.type = fabric.info->domain_attr->av_type;
  fid_av* av = nullptr;
  SHMEMX_OFI_TRY(fabric, fi_av_open, fabric.domain.get(), &attributes, &av, nullptr);
  fabric.av.reset(av);
  return {};
}

Status open_wait_set(Fabric& fabric) {
  fi_wait_attr attributes{};
  attributes.wait_obj = FI_WAIT_FD;
  fid_wait* set = nullptr;
  SHMEMX_OFI_TRY(fabric, fi_wait_open, fabric.fabric.get(), &attributes, &set);
  fabric.wait_set.reset(set);
  return {};
}

Status open_completions(Fabric& fabric, Waiting waiting) {
  if (waiting == Waiting::on_set) SHMEMX_TRY(open_wait_set(fabric));
  fi_cq_attr attributes{};
  attributes.size = kCqEntries;
  attributes.format = FI_CQ_FORMAT_DATA;
  attributes.wait_obj = waiting == Waiting::on_set     ? FI_WAIT_SET
                        : waiting == Waiting::on_queue ? FI_WAIT_FD
                                                       : FI_WAIT_NONE;
  attributes.wait_set = fabric.wait_set.get();
  fid_cq* cq = nullptr;
  SHMEMX_OFI_TRY(fabric, fi_cq_open, fabric.domain.get(), &attributes, &cq, nullptr);
  fabric.cq.reset(cq);
  if (waiting == Waiting::on_nothing) return {};
  struct fid* const waited_on = fabric.wait_set != nullptr ? &fabric.wait_set->fid : &cq->fid;
  SHMEMX_OFI_TRY(fabric, fi_control, waited_on, FI_GETWAIT, &fabric.wait_fd);
  return {};
}

Status open_endpoint(Fabric& fabric) {
  fid_ep* ep = nullptr;
  SHMEMX_OFI_TRY(fabric, fi_endpoint, fabric.domain.get(), fabric.info.get(), &ep, nullptr);
  fabric.ep.reset(ep);
  SHMEMX_OFI_TRY(fabric, fi_ep_bind, ep, &fabric.av->fid, 0);
  SHMEMX_OFI_TRY(fabric, fi_ep_bind, ep, &fabric.cq->fid, FI_TRANSMIT | FI_RECV);
  SHMEMX_OFI_TRY(fabric, fi_enable, ep);
  return {};
}

}  // namespace

bool Fabric::is_stream() const noexcept {
  const std::string_view name = info->fabric_attr->prov_name;
  return name.starts_with("net") || name.starts_with("tcp") || name.starts_with("sockets");
}

// What depends on the device (efa), on the system's permissions (shm) or on the release (psm3, opx) has to be probed.
Fabric::Rma Fabric::rma() const noexcept {
  const std::string_view name = info->fabric_attr->prov_name;
  if (is_stream()) return Rma::software;
  return name.starts_with("verbs") || name.starts_with("cxi") ? Rma::hardware : Rma::unproven;
}

// A wait with a timeout of 0 makes the set's descriptor unreadable if there is nothing to do.
bool Fabric::may_sleep() const noexcept {
  if (!set_aside.empty()) return false;
  if (wait_fd < 0) return true;
  if (wait_set != nullptr) return fi_wait(wait_set.get(), 0) == -FI_ETIMEDOUT;
  struct fid* queue = &cq->fid;
  return fi_trywait(fabric.get(), &queue, 1) == FI_SUCCESS;
}

std::string Fabric::name() const {
  std::string bytes(512, '\0');
  std::size_t length = bytes.size();
  if (fi_getname(&ep->fid, bytes.data(), &length) != 0) return {};
  bytes.resize(length);
  return bytes;
}

std::string Fabric::address_text(const std::string& name) const {
  std::string text(256, '\0');
  std::size_t length = text.size();
  fi_av_straddr(av.get(), name.data(), text.data(), &length);
  text.resize(std::strlen(text.c_str()));
  const std::size_t scheme = text.rfind("://");
  return scheme == std::string::npos ? text : text.substr(scheme + 3);
}

std::string Fabric::error_text(int error) const { return library->strerror(error); }

Error Fabric::failure(const char* what, std::int64_t result) const {
  return Error{Errc::unsupported, 0, std::string(what) + ": " + error_text(static_cast<int>(-result))};
}

namespace {

transport::FenceOrder order_of(const fi_info& info) {
  using transport::FenceOrder;
  const std::uint64_t granted = info.tx_attr->msg_order & info.rx_attr->msg_order;
  const bool orders_writes = (granted & (FI_ORDER_WAW | FI_ORDER_RMA_WAW)) != 0 &&
                             info.ep_attr->max_order_waw_size >= info.ep_attr->max_msg_size;
  if (!orders_writes) return FenceOrder::nothing;
  return (granted & FI_ORDER_SAW) != 0 ? FenceOrder::puts_and_messages : FenceOrder::puts;
}

}  // namespace

void unlink_segments(const Fabric& fabric) noexcept {
  std::vector<std::string> names = fabric.lanes;
  names.push_back(fabric.name());
  for (const std::string& name : names) {
    const std::size_t scheme = name.rfind("://");
    ::shm_unlink(name.c_str() + (scheme == std::string::npos ? 0 : scheme + 3));
  }
}

Result<Fabric> open_fabric(const Library& library, const fi_info& info, Waiting waiting) {
  Fabric fabric;
  fabric.library = &library;
  fabric.info = Info(library.dupinfo(&info), FreeInfo{&library});
  if (fabric.provider() == "shm") {
    // The initiator copies by the kernel, and only then: with virtual addresses, no order of RMA, and no delivery
    // complete, which would be a message to the target.
    fabric.info->domain_attr->mr_mode |= FI_MR_VIRT_ADDR;
    fabric.writes_.flags = FI_COMPLETION;
  }
  fabric.writes_.order = order_of(*fabric.info);
  fid_fabric* opened = nullptr;
  SHMEMX_OFI_TRY(fabric, library.fabric, fabric.info->fabric_attr, &opened, nullptr);
  fabric.fabric.reset(opened);
  fid_domain* domain = nullptr;
  SHMEMX_OFI_TRY(fabric, fi_domain, opened, fabric.info.get(), &domain, nullptr);
  fabric.domain.reset(domain);
  SHMEMX_TRY(open_addresses(fabric));
  SHMEMX_TRY(open_completions(fabric, waiting));
  SHMEMX_TRY(open_endpoint(fabric));
  return fabric;
}

}  // namespace shmemx::ofi
