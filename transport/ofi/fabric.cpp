#include "transport/ofi/fabric.hpp"

#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>

#include <cstring>
#include <string_view>

namespace shmemx::transport::ofi {
namespace {

constexpr std::size_t kCqEntries = 4096;

Status open_queues(Fabric& fabric) {
  fi_av_attr av_attr{};
  av_attr.type = fabric.info->domain_attr->av_type;
  fid_av* av = nullptr;
  SHMEMX_OFI_TRY(fabric, fi_av_open, fabric.domain.get(), &av_attr, &av, nullptr);
  fabric.av.reset(av);
  fi_cq_attr cq_attr{};
  cq_attr.size = kCqEntries;
  cq_attr.format = FI_CQ_FORMAT_DATA;
  cq_attr.wait_obj = FI_WAIT_FD;
  fid_cq* cq = nullptr;
  SHMEMX_OFI_TRY(fabric, fi_cq_open, fabric.domain.get(), &cq_attr, &cq, nullptr);
  fabric.cq.reset(cq);
  SHMEMX_OFI_TRY(fabric, fi_control, &cq->fid, FI_GETWAIT, &fabric.wait_fd);
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

bool Fabric::may_sleep() const noexcept {
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

Result<Fabric> open_fabric(const Library& library, const fi_info& info) {
  Fabric fabric;
  fabric.library = &library;
  fabric.info = Info(library.dupinfo(&info), FreeInfo{&library});
  fid_fabric* opened = nullptr;
  SHMEMX_OFI_TRY(fabric, library.fabric, fabric.info->fabric_attr, &opened, nullptr);
  fabric.fabric.reset(opened);
  fid_domain* domain = nullptr;
  SHMEMX_OFI_TRY(fabric, fi_domain, opened, fabric.info.get(), &domain, nullptr);
  fabric.domain.reset(domain);
  SHMEMX_TRY(open_queues(fabric));
  SHMEMX_TRY(open_endpoint(fabric));
  return fabric;
}

}  // namespace shmemx::transport::ofi
