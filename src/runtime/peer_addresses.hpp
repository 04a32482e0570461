// The endpoint addresses of PEs, as networks read them. Those of this arena's PEs are in the arena. What the lowest PE
// of another arena has published for all of its PEs is read through the launcher at the first contact with one of them,
// and then lies in this arena for all who share it. By any thread.
#pragma once

#include <string>

#include "bootstrap/bootstrap.hpp"
#include "transport/transport.hpp"
#include "windows/arena.hpp"

namespace shmemx::runtime {

// "Node" is one of the launcher's here, that is an arena: nodes that are pretended on a machine share one.
class PeerAddresses {
 public:
  PeerAddresses(const windows::Arena& arena, bootstrap::Bootstrap& launcher) : arena_(arena), launcher_(launcher) {}

  // Returns the address of a PE on a network; empty if it has none. Ends the job if the launcher does not tell it; a
  // process that has ended its session with the launcher gets nothing.
  transport::Bytes of(int pe, const std::string& network) const;
  // Returns true if a PE has an address on a network that this PE has opened. Reads nothing where all PEs of the job
  // have the same networks.
  bool has(int pe, const std::string& network) const;
  // Reads what a node, or that of a PE, has published, unless it is known.
  Status read_node(int node) const;
  Status read_node_of(int pe) const;
  // Reads what all nodes have published.
  Status read_all() const;

 private:
  bootstrap::ForeignAddresses& of_node(int node) const;
  bool is_read(int pe) const;
  transport::Bytes find(int pe) const;  // empty: unknown

  const windows::Arena& arena_;
  bootstrap::Bootstrap& launcher_;
};

// Appends an address to those of a PE. Returns false if there is no room.
bool add_address(bootstrap::PeAddresses& addresses, const std::string& network, const std::string& address);
// The PE's addresses are complete.
void close_addresses(bootstrap::PeAddresses& addresses) noexcept;
// Returns the networks that have an address among these, in their order, each followed by a space.
std::string networks_in(const bootstrap::PeAddresses& addresses);
// Returns the addresses of the PEs that share the arena, for publishing.
std::string addresses_of_node(const windows::Arena& arena);

}  // namespace shmemx::runtime
