// IP addresses of this machine and of others, and the endpoint address that tells others where a PE listens.
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
  bool is_link_local() const noexcept;  // has a meaning only together with an interface
  bool same_host_as(const Address& other) const noexcept { return is_v6 == other.is_v6 && bytes == other.bytes; }
  // Returns true if the first `bits` bits are the same.
  bool matches(const Address& other, unsigned bits) const noexcept;
  std::string text() const;
};

// One address of one interface of this machine.
struct LocalAddress {
  Address address;
  std::string interface;
  unsigned index = 0;    // of the interface
  bool is_ready = true;  // the interface is up and has a carrier
};

// Returns a number that is the same in all processes that reach each other by 127.0.0.1.
std::uint64_t machine_id();

struct EndpointAddress {
  std::uint64_t machine = 0;
  std::uint16_t port = 0;
  std::vector<Address> addresses;  // without loopback; as many as fit into kMaxAddressBytes
};
// Returns the addresses to publish, without loopback. IPv4 and IPv6 alternate, so that some of each family remain if
// not all fit. Behind them come those of interfaces that are not ready, with a prefix of 0 bits: they may become ready
// while the job runs, and lead only to machines with an interface in the same subnet.
std::vector<Address> addresses_to_publish(const std::vector<LocalAddress>& own);
std::string pack_address(const EndpointAddress& endpoint);
// Returns false if the bytes are no endpoint address.
bool unpack_address(transport::Bytes bytes, EndpointAddress& endpoint);

// An address to try: for a link-local one also the interface to send by.
struct Candidate {
  Address address;
  unsigned interface_index = 0;
  std::string interface;  // of this machine, in the same subnet; empty if the routing table decides
  bool is_own = false;    // this machine has the address, too, so it is itself that would answer
};

// The two ends of a connection.
struct Path {
  Address near;
  Address far;
  std::string interface;  // of this machine; empty if it is not known
};

// Returns the addresses of `peer` to try, the most promising first. Those that this machine has itself come last, but
// on the machine of `peer`.
std::vector<Candidate> candidates_for(const EndpointAddress& peer, const std::vector<LocalAddress>& own,
                                      std::uint64_t own_machine);

// Returns the interfaces of this machine that share a subnet with `peer`.
std::vector<std::string> links_to(const EndpointAddress& peer, const std::vector<LocalAddress>& own,
                                  std::uint64_t own_machine);

// Returns whether several interfaces could lead to other machines.
bool has_several_links(const std::vector<LocalAddress>& own) noexcept;

socklen_t to_sockaddr(const Candidate& candidate, std::uint16_t port, sockaddr_storage& out) noexcept;
Address from_sockaddr(const sockaddr* address) noexcept;
// "10.0.0.1:4711", "[fd00::1]:4711"
std::string endpoint_text(const sockaddr_storage& address);

}  // namespace shmemx::tcp
