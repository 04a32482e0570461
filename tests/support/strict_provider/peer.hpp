// Other endpoints: their addresses, and what of their memory is mapped.
#pragma once

#include <rdma/fi_domain.h>

#include <atomic>
#include <deque>
#include <mutex>

#include "shared.hpp"

namespace strict_provider {

struct Domain;

class Peer {
 public:
  explicit Peer(const Address& address) noexcept : address_(address) {}

  const Address& address() const noexcept { return address_; }
  // Maps what the peer shares, at the first call. Returns false if the peer's endpoint is gone.
  bool connect() noexcept;
  bool is_gone() const noexcept { return is_gone_; }
  // Notes that the peer's process has ended. Returns whether it has.
  bool check_life() noexcept;
  EndpointMemory& endpoint() noexcept { return *endpoint_.get(); }
  const DomainMemory& domain() const noexcept { return *domain_.get(); }
  void wake() noexcept;

  void remove() noexcept { is_removed_ = true; }
  bool is_removed() const noexcept { return is_removed_; }
  // Returns true for the first posts to the peer.
  bool is_connecting() noexcept { return posts_ < kSlowPosts && ++posts_ != 0; }

 private:
  static constexpr int kSlowPosts = 3;

  const Address address_;
  std::mutex lock_;
  std::atomic<bool> is_connected_{false};
  std::atomic<bool> is_gone_{false};
  std::atomic<bool> is_removed_{false};
  std::atomic<int> posts_{0};
  SharedMemory<EndpointMemory> endpoint_;
  SharedMemory<DomainMemory> domain_;
};

struct Av : fid_av {
  Av(Domain& owner, const fi_av_attr& attributes, void* user_context);

  // Returns the peer; null if the address is none of this address vector's.
  Peer* find(fi_addr_t address) noexcept;
  // Returns the address of an endpoint; FI_ADDR_NOTAVAIL if it has not been inserted.
  fi_addr_t find_number(std::uint64_t number) noexcept;
  fi_addr_t insert(const Address& address);

  Domain& domain;
  std::atomic<int> endpoints{0};  // that are bound to it

 private:
  const fi_addr_t mask_;  // FI_AV_MAP: addresses are no indices
  std::mutex lock_;
  std::deque<Peer> peers_;
};

int open_av(fid_domain* domain, fi_av_attr* attributes, fid_av** opened, void* context);

}  // namespace strict_provider
