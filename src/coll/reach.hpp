// Data for a member, wherever it is: by stores where it is mapped, else by messages. A team never mixes the two for one
// member, so a tick is always behind the data that were sent before it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coll/group.hpp"
#include "rma/strided.hpp"

namespace shmemx::coll {

// A member's copy of a symmetric object is named by this PE's own one.
struct Reach {
  const context::Context& route;
  const char* routine;

  void put(int pe, const std::byte* own_dest, const std::byte* source, std::size_t bytes) const noexcept;
  void put_strided(int pe, const std::byte* own_dest, const std::byte* source,
                   const rma::Strided& shape) const noexcept;
};

// And the tick behind it. What has been put so is no matter of quiet: who has seen the tick has the data.
void put_with_tick(const TeamGroup& group, int pe, const std::byte* own_dest, std::span<const std::byte> source,
                   std::uint64_t tick) noexcept;
void put_strided_with_tick(const TeamGroup& group, int pe, const std::byte* own_dest, const std::byte* source,
                           const rma::Strided& shape, std::uint64_t tick) noexcept;

}  // namespace shmemx::coll
