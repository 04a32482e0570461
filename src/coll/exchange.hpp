// An exchange of small contributions of which a member usually needs to know only that all are equal.
#pragma once

#include "coll/common/group.hpp"

namespace shmemx::coll {

// Publishes a contribution and synchronises. Returns true if the contributions of all members are the same bytes. If
// not, or if some member is in another collective, the caller looks at published(). At most kMaxAlikeBytes.
//
// Over several nodes the leaders find out, and a member that is no leader talks to no other node. Only where members
// differ do all send their contributions to all.
inline constexpr std::size_t kMaxAlikeBytes = windows::kScratchBytes / 2;
bool exchange_alike(TeamGroup& group, const void* data, std::size_t bytes) noexcept;

}  // namespace shmemx::coll
