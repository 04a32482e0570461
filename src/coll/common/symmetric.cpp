#include "coll/common/symmetric.hpp"

namespace shmemx::coll {

context::Context route_of(const context::Context& world, team::PeSet set, int my_pe) noexcept {
  context::Context route = world;
  route.pe_step = world.pe_step * set.stride();
  route.n_pes = static_cast<std::uint32_t>(set.size());
  route.my_pe = my_pe;
  route.set = set;
  context::set_near(route, context::block_distance(world, set.start() - world.set.start()));
  return route;
}

}  // namespace shmemx::coll
