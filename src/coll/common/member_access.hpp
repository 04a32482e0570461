// Puts to a member wherever it is: stores where its memory is mapped, else messages. A team never mixes the two for one
// member, so a flag always follows the data that were sent before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "am/handlers.hpp"
#include "coll/common/group.hpp"
#include "rma/strided.hpp"

namespace shmemx::coll {

// A member's copy of a symmetric object is named by this PE's own copy.
struct MemberAccess {
  const context::Context& route;
  const char* routine;
  am::SendOptions options = {};  // of the messages where a member is not mapped

  void put(int pe, const std::byte* own_dest, const std::byte* source, std::size_t bytes) const noexcept;
  void put_strided(int pe, const std::byte* own_dest, const std::byte* source,
                   const rma::Strided& shape) const noexcept;
};

// These put data and then set the flag. Quiet does not count such puts: a PE that sees the flag has the data.
void put_with_flag(const TeamGroup& group, int pe, const std::byte* own_dest, std::span<const std::byte> source,
                   std::uint64_t epoch) noexcept;
void put_strided_with_flag(const TeamGroup& group, int pe, const std::byte* own_dest, const std::byte* source,
                           const rma::Strided& shape, std::uint64_t epoch) noexcept;

}  // namespace shmemx::coll
