// Data for a member, wherever it is: by stores where it is mapped, else by messages. A team never mixes the two for one
// member, so a flag is always behind the data that were sent before it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coll/group.hpp"
#include "rma/strided.hpp"

namespace shmemx::coll {

// A member's copy of a symmetric object is named by this PE's own one.
struct MemberAccess {
  const context::Context& route;
  const char* routine;

  void put(int pe, const std::byte* own_dest, const std::byte* source, std::size_t bytes) const noexcept;
  void put_strided(int pe, const std::byte* own_dest, const std::byte* source,
                   const rma::Strided& shape) const noexcept;
};

// And the flag behind it. Quiet does not count these puts: the flag shows that the data are there.
void put_with_flag(const TeamGroup& group, int pe, const std::byte* own_dest, std::span<const std::byte> source,
                   std::uint64_t epoch) noexcept;
void put_strided_with_flag(const TeamGroup& group, int pe, const std::byte* own_dest, const std::byte* source,
                           const rma::Strided& shape, std::uint64_t epoch) noexcept;

}  // namespace shmemx::coll
