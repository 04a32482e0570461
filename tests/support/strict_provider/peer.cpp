#include "peer.hpp"

#include <rdma/fi_errno.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "domain.hpp"
#include "no_ops.hpp"
#include "random.hpp"
#include "violation.hpp"

namespace strict_provider {
namespace {

Av& av_of(fid_av* av) noexcept { return *static_cast<Av*>(av); }

int insert_addresses(fid_av* object, const void* addresses, std::size_t count, fi_addr_t* places, std::uint64_t flags,
                     void*) {
  Av& av = av_of(object);
  const Entry entry("fi_av_insert", av.domain.serial_of_domain(), av.domain.lock);
  if (flags != 0) violation("fi_av_insert: the flags 0x%lx are not supported", flags);
  for (std::size_t i = 0; i < count; ++i) {
    Address address;
    std::memcpy(&address, static_cast<const std::byte*>(addresses) + i * sizeof address, sizeof address);
    if (!address.is_genuine()) violation("fi_av_insert: address %zu of %zu is not one of fi_getname", i, count);
    if (address.pid_namespace != own_pid_namespace())
      violation("fi_av_insert: address %zu of %zu is in another PID namespace, where this provider reaches nobody", i,
                count);
    const fi_addr_t place = av.insert(address);
    if (places != nullptr) places[i] = place;
    ++av.domain.av_inserts;
  }
  return static_cast<int>(count);
}

int remove_addresses(fid_av* object, fi_addr_t* places, std::size_t count, std::uint64_t) {
  Av& av = av_of(object);
  const Entry entry("fi_av_remove", av.domain.serial_of_domain(), av.domain.lock);
  for (std::size_t i = 0; i < count; ++i) {
    Peer* peer = av.find(places[i]);
    if (peer == nullptr) violation("fi_av_remove: 0x%lx is no address of this address vector", places[i]);
    peer->remove();
  }
  return 0;
}

int lookup(fid_av* object, fi_addr_t place, void* address, std::size_t* bytes) {
  Av& av = av_of(object);
  const Entry entry("fi_av_lookup", av.domain.serial_of_domain(), av.domain.lock);
  Peer* peer = av.find(place);
  if (peer == nullptr) return -FI_EINVAL;
  std::memcpy(address, &peer->address(), std::min(*bytes, sizeof(Address)));
  *bytes = sizeof(Address);
  return 0;
}

const char* describe(fid_av*, const void* from, char* text, std::size_t* bytes) {
  Address address;
  std::memcpy(&address, from, sizeof address);
  const int needed =
      std::snprintf(text, *bytes, "shmemxtest://%d:%lx", address.pid, static_cast<unsigned long>(address.number));
  *bytes = static_cast<std::size_t>(needed) + 1;
  return text;
}

int close_av(fid* object) {
  Av& av = av_of(reinterpret_cast<fid_av*>(object));
  Domain& domain = av.domain;
  const Entry entry("fi_close", domain.serial_of_domain(), domain.lock);
  if (const int bound = av.endpoints.load(); bound != 0)
    violation("fi_close: %d endpoints of the address vector are open", bound);
  --domain.children;
  delete &av;
  return 0;
}

fi_ops av_fid_ops = {sizeof(fi_ops), close_av, kNo, kNo, kNo, kNo, kNo};
fi_ops_av av_ops = {sizeof(fi_ops_av), insert_addresses, kNo, kNo, remove_addresses, lookup, describe, kNo};

}  // namespace

bool Peer::connect() noexcept {
  if (is_gone_) return false;
  if (!is_connected_) {
    const std::unique_lock guard(lock_);
    if (is_connected_) return true;
    is_gone_ = !is_alive(address_.pid, address_.identity_at, address_.number) ||
               !endpoint_.open(address_.pid, address_.file) || endpoint_->number != address_.number ||
               !domain_.open(address_.pid, endpoint_->domain_file);
    if (is_gone_) return false;
    is_connected_ = true;
  }
  if (endpoint_->is_closed.load() != 0) is_gone_ = true;
  return !is_gone_;
}

bool Peer::check_life() noexcept {
  if (!is_alive(address_.pid, address_.identity_at, address_.number)) is_gone_ = true;
  return !is_gone_;
}

void Peer::wake() noexcept {
  if (endpoint_->is_armed.load() != 0) Waker{address_.pid, endpoint_->wake_file.load()}.wake();
}

Av::Av(Domain& owner, const fi_av_attr& attributes, void* user_context)
    : fid_av{{FI_CLASS_AV, user_context, &av_fid_ops}, &av_ops},
      domain(owner),
      mask_(attributes.type == FI_AV_MAP ? (unique_number() >> 2) << 32 : 0) {}

Peer* Av::find(fi_addr_t address) noexcept {
  const std::unique_lock guard(lock_);
  const fi_addr_t index = address ^ mask_;
  return index < peers_.size() ? &peers_[index] : nullptr;
}

fi_addr_t Av::find_number(std::uint64_t number) noexcept {
  const std::unique_lock guard(lock_);
  const auto found = std::ranges::find_if(peers_, [&](const Peer& peer) { return peer.address().number == number; });
  return found == peers_.end() ? FI_ADDR_NOTAVAIL : static_cast<fi_addr_t>(found - peers_.begin()) ^ mask_;
}

fi_addr_t Av::insert(const Address& address) {
  const std::unique_lock guard(lock_);
  peers_.emplace_back(address);
  return (peers_.size() - 1) ^ mask_;
}

int open_av(fid_domain* object, fi_av_attr* attributes, fid_av** opened, void* context) {
  auto& domain = *static_cast<Domain*>(object);
  const Entry entry("fi_av_open", domain.serial_of_domain(), domain.lock);
  if (attributes->type == FI_AV_MAP && !domain.mode.has(kAvMap)) return -FI_ENOSYS;
  if (attributes->name != nullptr || attributes->flags != 0) return -FI_ENOSYS;
  ++domain.children;
  *opened = new Av(domain, *attributes, context);
  return 0;
}

}  // namespace strict_provider
