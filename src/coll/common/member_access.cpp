#include "coll/common/member_access.hpp"

#include "am/endpoint.hpp"
#include "coll/common/flags.hpp"
#include "onesided/rdma.hpp"
#include "rma/copy.hpp"

namespace shmemx::coll {

void MemberAccess::put(int pe, const std::byte* own_dest, const std::byte* source, std::size_t bytes) const noexcept {
  if (bytes == 0) return;
  if (context::is_mapped(route, pe)) {
    rma::copy(mapped_copy(route, own_dest, pe), source, bytes);
  } else {
    onesided::put(routine, context::place_of(route, own_dest, pe), source, bytes, options);
  }
}

void MemberAccess::put_strided(int pe, const std::byte* own_dest, const std::byte* source,
                               const rma::Strided& shape) const noexcept {
  if (shape.block_count == 0) return;
  if (context::is_mapped(route, pe)) {
    rma::copy_strided(mapped_copy(route, own_dest, pe), source, shape);
  } else {
    onesided::put_strided(routine, context::place_of(route, own_dest, pe), source, shape, options);
  }
}

void put_with_flag(const TeamGroup& group, int pe, const std::byte* own_dest, std::span<const std::byte> source,
                   std::uint64_t epoch) noexcept {
  const Team& team = group.team();
  if (!source.empty() && !context::is_mapped(team.route, pe)) {
    const context::Place dest = context::place_of(team.route, own_dest, pe);
    if (!onesided::goes_by_rdma(dest.pe, source.size(), onesided::Direction::put))
      return send_put(team, group.routine(), dest, epoch, source);
  }
  MemberAccess{team.route, group.routine(), am::kNotCounted}.put(pe, own_dest, source.data(), source.size());
  set_flag(team, group.routine(), pe, epoch);
}

void put_strided_with_flag(const TeamGroup& group, int pe, const std::byte* own_dest, const std::byte* source,
                           const rma::Strided& shape, std::uint64_t epoch) noexcept {
  MemberAccess{group.team().route, group.routine(), am::kNotCounted}.put_strided(pe, own_dest, source, shape);
  set_flag(group.team(), group.routine(), pe, epoch);
}

}  // namespace shmemx::coll
