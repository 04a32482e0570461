// The addresses of this machine.
#pragma once

#include "transport/tcp/address.hpp"

namespace shmemx::tcp {

// Returns the addresses of all interfaces, loopback included.
std::vector<LocalAddress> all_local_addresses();
// Returns those that are ready.
std::vector<LocalAddress> local_addresses();

// The addresses, remembered, since each look asks the kernel for all interfaces. One that has been seen stays in the
// list, and stays ready: whether it still leads anywhere is found out by trying.
class OwnAddresses {
 public:
  // Looks for addresses that are new, or have become ready. One look in kLookNs serves all callers. Returns whether
  // this call has looked.
  bool look(std::uint64_t now_ns);
  const std::vector<LocalAddress>& list() const noexcept { return list_; }
  // Returns the name of the interface that has the address; empty if none has.
  std::string interface_with(const Address& address) const;

  static constexpr std::uint64_t kLookNs = 1'000'000'000;

 private:
  std::vector<LocalAddress> list_;
  std::uint64_t next_look_ns_ = 0;
};

}  // namespace shmemx::tcp
