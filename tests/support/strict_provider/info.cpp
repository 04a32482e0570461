// fi_getinfo: compares the hints with what the mode offers and requires.
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "fabric.hpp"
#include "settings.hpp"
#include "shared.hpp"

namespace strict_provider {
namespace {

constexpr std::uint32_t kOldestApi = FI_VERSION(1, 5);
constexpr std::uint64_t kDirections = FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
constexpr std::uint64_t kSecondary = FI_SOURCE | FI_LOCAL_COMM | FI_REMOTE_COMM;
constexpr std::uint64_t kSendFlags =
    FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE;
constexpr std::uint64_t kReceiveFlags = FI_COMPLETION | FI_MULTI_RECV;

std::uint64_t offered_caps(const Mode& mode) noexcept {
  const std::uint64_t primary = FI_MSG | FI_RMA | FI_MULTI_RECV | (mode.has(kFence) ? FI_FENCE : 0);
  return primary | kDirections | kSecondary;
}

// A capability of messages or RMA without a direction means all of its directions.
std::uint64_t granted_caps(std::uint64_t asked, const Mode& mode) noexcept {
  if (asked == 0) asked = offered_caps(mode);
  constexpr std::uint64_t kMessages = FI_SEND | FI_RECV;
  constexpr std::uint64_t kRma = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
  if ((asked & FI_MSG) != 0 && (asked & kMessages) == 0) asked |= kMessages;
  if ((asked & FI_RMA) != 0 && (asked & kRma) == 0) asked |= kRma;
  return asked | FI_LOCAL_COMM | FI_REMOTE_COMM;
}

// These return why the hints cannot be granted, or null.
const char* refuse_sending(const fi_tx_attr& wanted, const Mode& mode) {
  const Limits& most = mode.limits;
  if ((wanted.caps & ~offered_caps(mode)) != 0) return "caps of tx_attr";
  if ((wanted.op_flags & ~kSendFlags) != 0) return "op_flags of tx_attr";
  if ((wanted.msg_order & ~mode.order) != 0) return "msg_order of tx_attr";
  if (wanted.comp_order != 0) return "comp_order of tx_attr";
  if (wanted.inject_size > most.inject_bytes) return "inject_size";
  if (wanted.size > most.sends) return "size of tx_attr";
  if (wanted.iov_limit > most.parts) return "iov_limit of tx_attr";
  return wanted.rma_iov_limit > most.remote_parts ? "rma_iov_limit" : nullptr;
}

const char* refuse_receiving(const fi_rx_attr& wanted, const Mode& mode) {
  if ((wanted.caps & ~offered_caps(mode)) != 0) return "caps of rx_attr";
  if ((wanted.op_flags & ~kReceiveFlags) != 0) return "op_flags of rx_attr";
  if ((wanted.msg_order & ~mode.order) != 0) return "msg_order of rx_attr";
  if (wanted.comp_order != 0) return "comp_order of rx_attr";
  if (wanted.size > mode.limits.receives) return "size of rx_attr";
  return wanted.iov_limit > mode.limits.parts ? "iov_limit of rx_attr" : nullptr;
}

const char* refuse_endpoint(const fi_ep_attr& wanted, const Mode& mode) {
  if (wanted.type != FI_EP_UNSPEC && wanted.type != FI_EP_RDM) return "the endpoint's type";
  if (wanted.protocol != FI_PROTO_UNSPEC) return "protocol";
  if (wanted.max_msg_size > mode.limits.message_bytes) return "max_msg_size";
  const std::size_t waw = (mode.order & FI_ORDER_WAW) != 0 ? mode.limits.message_bytes : 0;
  if (wanted.max_order_waw_size > waw) return "max_order_waw_size";
  if (wanted.tx_ctx_cnt > 1 || wanted.rx_ctx_cnt > 1) return "the number of contexts";
  return wanted.auth_key_size != 0 || wanted.msg_prefix_size != 0 ? "auth_key_size or msg_prefix_size" : nullptr;
}

const char* refuse_domain(const fi_domain_attr& wanted, const Mode& mode) {
  if (wanted.name != nullptr && std::strcmp(wanted.name, mode.name) != 0) return "the domain's name";
  if (wanted.data_progress == FI_PROGRESS_AUTO) return "data_progress";
  if (wanted.control_progress == FI_PROGRESS_AUTO && !mode.has(kAutoControl)) return "control_progress";
  if (wanted.av_type == FI_AV_MAP && !mode.has(kAvMap)) return "av_type";
  const int modes = wanted.mr_mode == FI_MR_BASIC ? FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY : wanted.mr_mode;
  if ((mode.mr_mode & ~modes) != 0) return "mr_mode";
  if (wanted.mr_key_size > mode.key_bytes) return "mr_key_size";
  if (wanted.cq_data_size > sizeof(std::uint64_t)) return "cq_data_size";
  return wanted.mr_iov_limit > 1 ? "mr_iov_limit" : nullptr;
}

const char* refuse(const fi_info& hints, const Mode& mode) {
  if ((hints.caps & ~offered_caps(mode)) != 0) return "caps";
  if ((mode.mode & ~hints.mode) != 0) return "mode";
  if (hints.addr_format != FI_FORMAT_UNSPEC) return "addr_format";
  const char* reason = nullptr;
  if (hints.tx_attr != nullptr) reason = refuse_sending(*hints.tx_attr, mode);
  if (reason == nullptr && hints.rx_attr != nullptr) reason = refuse_receiving(*hints.rx_attr, mode);
  if (reason == nullptr && hints.ep_attr != nullptr) reason = refuse_endpoint(*hints.ep_attr, mode);
  if (reason == nullptr && hints.domain_attr != nullptr) reason = refuse_domain(*hints.domain_attr, mode);
  if (reason == nullptr && hints.domain_attr == nullptr && mode.mr_mode != 0) reason = "mr_mode";
  return reason;
}

template <class Value>
Value wanted_or(Value wanted, Value offered) noexcept {
  return wanted != 0 ? wanted : offered;
}

void fill_queues(fi_info& info, const fi_info* hints, const Mode& mode) {
  const fi_tx_attr none_sent{};
  const fi_rx_attr none_received{};
  const fi_tx_attr& sent = hints != nullptr && hints->tx_attr != nullptr ? *hints->tx_attr : none_sent;
  const fi_rx_attr& received = hints != nullptr && hints->rx_attr != nullptr ? *hints->rx_attr : none_received;
  fi_tx_attr& tx = *info.tx_attr;
  tx.caps = info.caps & (FI_MSG | FI_RMA | FI_SEND | FI_READ | FI_WRITE | FI_FENCE);
  tx.mode = mode.mode;
  tx.op_flags = sent.op_flags;
  tx.msg_order = mode.order;
  tx.inject_size = wanted_or(sent.inject_size, mode.limits.inject_bytes);
  tx.size = wanted_or(sent.size, mode.limits.sends);
  tx.iov_limit = wanted_or(sent.iov_limit, mode.limits.parts);
  tx.rma_iov_limit = wanted_or(sent.rma_iov_limit, mode.limits.remote_parts);
  fi_rx_attr& rx = *info.rx_attr;
  rx.caps = info.caps & (FI_MSG | FI_RMA | FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_MULTI_RECV | FI_SOURCE);
  rx.mode = mode.mode;
  rx.op_flags = received.op_flags;
  rx.msg_order = mode.order;
  rx.size = wanted_or(received.size, mode.limits.receives);
  rx.iov_limit = wanted_or(received.iov_limit, mode.limits.parts);
}

void fill_domain(fi_domain_attr& domain, const fi_domain_attr* wanted, const Mode& mode) {
  const fi_domain_attr none{};
  if (wanted == nullptr) wanted = &none;
  domain.name = ::strdup(mode.name);
  domain.threading = wanted->threading != FI_THREAD_UNSPEC ? wanted->threading : FI_THREAD_SAFE;
  domain.control_progress = mode.has(kAutoControl) ? FI_PROGRESS_AUTO : FI_PROGRESS_MANUAL;
  domain.data_progress = FI_PROGRESS_MANUAL;
  domain.resource_mgmt = wanted->resource_mgmt != FI_RM_UNSPEC ? wanted->resource_mgmt : FI_RM_ENABLED;
  domain.av_type = wanted->av_type != FI_AV_UNSPEC ? wanted->av_type : FI_AV_TABLE;
  if (wanted->av_type == FI_AV_UNSPEC && mode.has(kAvMap)) domain.av_type = FI_AV_MAP;
  domain.mr_mode = mode.mr_mode;
  domain.mr_key_size = mode.key_bytes;
  domain.cq_data_size = sizeof(std::uint64_t);
  domain.cq_cnt = domain.ep_cnt = domain.tx_ctx_cnt = domain.rx_ctx_cnt = 1024;
  domain.max_ep_tx_ctx = domain.max_ep_rx_ctx = 1;
  domain.mr_iov_limit = 1;
  domain.mr_cnt = kSlots;
  domain.caps = FI_LOCAL_COMM | FI_REMOTE_COMM;
}

fi_info* make_info(const fi_info* hints, const Mode& mode) {
  fi_info* info = ::fi_allocinfo();
  if (info == nullptr) return nullptr;
  info->caps = granted_caps(hints != nullptr ? hints->caps : 0, mode);
  info->mode = mode.mode;
  info->addr_format = FI_FORMAT_UNSPEC;
  fill_queues(*info, hints, mode);
  fi_ep_attr& endpoint = *info->ep_attr;
  endpoint.type = FI_EP_RDM;
  endpoint.protocol_version = 1;
  endpoint.max_msg_size = mode.limits.message_bytes;
  if ((mode.order & FI_ORDER_WAW) != 0) endpoint.max_order_waw_size = mode.limits.message_bytes;
  endpoint.tx_ctx_cnt = endpoint.rx_ctx_cnt = 1;
  fill_domain(*info->domain_attr, hints != nullptr ? hints->domain_attr : nullptr, mode);
  info->fabric_attr->name = ::strdup("shmemxtest");
  return info;
}

}  // namespace

int get_info(std::uint32_t version, const char* node, const char*, std::uint64_t, const fi_info* hints,
             fi_info** info) {
  if (node != nullptr || FI_VERSION_LT(version, kOldestApi)) return -FI_ENODATA;
  if (const char* reason = why_no_access(); reason != nullptr) {
    FI_WARN(&provider, FI_LOG_CORE, "%s\n", reason);
    return -FI_ENODATA;
  }
  const Mode& mode = chosen_mode();
  if (const char* reason = hints != nullptr ? refuse(*hints, mode) : nullptr; reason != nullptr) {
    FI_INFO(&provider, FI_LOG_CORE, "mode %s does not grant %s\n", mode.name, reason);
    return -FI_ENODATA;
  }
  *info = make_info(hints, mode);
  return *info != nullptr ? 0 : -FI_ENOMEM;
}

}  // namespace strict_provider
