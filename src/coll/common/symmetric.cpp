#include "coll/common/symmetric.hpp"

namespace shmemx::coll {

bool all_mapped(const context::Context& route) noexcept {
  if (context::all_mapped) return true;
  for (int pe = 0; pe < static_cast<int>(route.n_pes); ++pe) {
    if (!context::is_mapped(route, pe)) return false;
  }
  return true;
}

context::Context route_of(const context::Context& world, team::PeSet set, int my_pe) noexcept {
  context::Context route = world;
  const std::int64_t start = set.start() - world.set.start();
  route.heap0 = world.heap0 + start * world.pe_step;
  route.static0 = world.static0 + start * world.pe_step;
  route.pe_step = world.pe_step * set.stride();
  route.n_pes = static_cast<std::uint32_t>(set.size());
  route.my_pe = my_pe;
  route.set = set;
  return route;
}

}  // namespace shmemx::coll
