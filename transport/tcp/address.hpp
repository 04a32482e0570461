// Addresses of this machine and of others, and the address that tells others where a PE listens.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "transport/transport.hpp"

namespace shmemx::tcp {

struct Address {
  bool is_v6 = false;
  std::uint8_t prefix_bits = 0;          // of its subnet
  std::array<std::uint8_t, 16> bytes{};  // the first four for IPv4

  unsigned bits() const noexcept { return is_v6 ? 128 : 32; }
  bool is_loopback() const noexcept;
  bool is_link_local() const noexcept;  // means something together with an interface only
  bool same_host_as(const Address& other) const noexcept { return is_v6 == other.is_v6 && bytes == other.bytes; }
  // The first `bits` bits are the same.
  bool matches(const Address& other, unsigned bits) const noexcept;
  std::string text() const;
};

// One address of one interface of this machine.
struct LocalAddress {
  Address address;
  std::string interface;
  unsigned index = 0;  // of the interface
};

// Those of all interfaces that are up and have a carrier, loopback included.
std::vector<LocalAddress> local_addresses();

// The same number in all processes between which 127.0.0.1 is one machine.
std::uint64_t machine_id();

struct EndpointAddress {
  std::uint64_t machine = 0;
  std::uint16_t port = 0;
  std::vector<Address> addresses;  // without loopback; as many as a address holds
};
// Of all interfaces, in an order that leaves something of each family when a address does not hold all.
std::vector<Address> addresses_to_tell(const std::vector<LocalAddress>& own);
std::string pack_address(const EndpointAddress& endpoint);
// False for what is no address.
bool unpack_address(transport::Bytes bytes, EndpointAddress& endpoint);

// One way to try: a remote address, and for link-local ones the interface to leave by.
struct Candidate {
  Address address;
  unsigned interface_index = 0;
  std::string interface;  // of this machine, by its subnet; empty when the routing decides
};

// The ways to `peer`, the most promising first.
std::vector<Candidate> candidates_for(const EndpointAddress& peer, const std::vector<LocalAddress>& own,
                                      std::uint64_t own_machine);

// The interfaces of this machine that share a subnet with `peer`.
std::vector<std::string> links_to(const EndpointAddress& peer, const std::vector<LocalAddress>& own,
                                  std::uint64_t own_machine);

socklen_t to_sockaddr(const Candidate& candidate, std::uint16_t port, sockaddr_storage& out) noexcept;
Address from_sockaddr(const sockaddr* address) noexcept;
// "10.0.0.1:4711", "[fd00::1]:4711"
std::string endpoint_text(const sockaddr_storage& address);

}  // namespace shmemx::tcp
