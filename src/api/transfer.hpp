// The symmetric side of a put or get, and with SHMEM_CHECK its local side, too: only the cold half looks at that.
#pragma once

#include <cstddef>
#include <cstdint>

#include "api/arg_check.hpp"
#include "check/transfers.hpp"
#include "context/route.hpp"

namespace shmemx::api {

// `symmetric` is on another PE, `local` on this one.
struct Sides {
  check::Blocks symmetric;
  check::Blocks local;
  check::Use use;
};
check::Initiator initiator(const Context& context, std::uint32_t near) noexcept;
[[gnu::noinline, gnu::cold]] context::Location resolve_transfer_cold(const Context& context, context::Site site,
                                                                     const Sides& sides, std::uint32_t near) noexcept;

[[gnu::always_inline]] inline context::Location resolve_transfer(const Context& context, context::Site site,
                                                                 const void* symmetric, const void* local,
                                                                 std::uint64_t bytes, check::Use use,
                                                                 std::uint32_t near) noexcept {
  if (context::is_near(context, symmetric, bytes, near)) [[likely]]
    return context::locate_near(context, symmetric, near);
  return resolve_transfer_cold(context, site, {{symmetric, bytes}, {local, bytes}, use}, near);
}

// One side of a strided transfer, and what both have in common. `span` is that of the symmetric side.
struct StridedSide {
  const void* at;
  std::size_t step;
};
struct StridedBlocks {
  std::size_t bytes;
  std::size_t count;
  std::uint64_t span;
};
[[gnu::always_inline]] inline context::Location resolve_strided(const Context& context, context::Site site,
                                                                const StridedSide& symmetric, const StridedSide& local,
                                                                const StridedBlocks& blocks, check::Use use,
                                                                int pe) noexcept {
  const std::uint32_t near = context::near_index(context, pe);
  if (context::is_near(context, symmetric.at, blocks.span, near)) [[likely]]
    return context::locate_near(context, symmetric.at, near);
  const Sides sides{{symmetric.at, blocks.bytes, blocks.count, symmetric.step},
                    {local.at, blocks.bytes, blocks.count, local.step},
                    use};
  return resolve_transfer_cold(context, site, sides, near);
}

}  // namespace shmemx::api
