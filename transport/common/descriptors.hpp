// How many descriptors this process may open. Each connection takes one, and the program needs some, too. A network
// that makes its connections itself calls has_descriptor() before each one, which raises the soft limit where that
// helps. It cannot close them one by one, so where another network can take its place it uses half of the descriptors
// only: others connect to it, too.
#pragma once

#include <cstddef>
#include <string>

namespace shmemx::transport {

// Returns whether the limit on descriptors is near: `fd`, which has just been opened, was the lowest free one, so those
// below are in use. Raises the soft limit towards the hard one first if that helps.
bool is_limit_near(int fd) noexcept;

// Returns whether `fd` is one of the last descriptors, which are the program's; the second one, whether another one can
// be opened that is not.
bool is_one_of_the_last(int fd) noexcept;
bool has_descriptor() noexcept;
// Returns whether half of the descriptors are in use, after raising the soft limit if that helps.
bool is_half_used() noexcept;
// Returns why a network that closes none of its connections is to make no more, one clause; empty if it may.
std::string why_no_more_connections(const std::string& network, bool has_reserve);
// With fewer connections a PE takes the last descriptors, too.
inline constexpr std::size_t kFewestConnections = 4;

// Raises the soft limit towards the hard one. Returns false if that is not possible, or not any more.
bool raise_limit() noexcept;

// Returns true for the errors of a call that found no descriptor, or no memory for one.
bool lacks_descriptors(int error) noexcept;

}  // namespace shmemx::transport
