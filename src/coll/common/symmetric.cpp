#include "coll/common/symmetric.hpp"

namespace shmemx::coll {

context::Context route_of(const context::Context& world, team::PeSet set, int my_pe) noexcept {
  context::Context route = world;
  route.n_pes = static_cast<std::uint32_t>(set.size());
  route.my_pe = my_pe;
  route.set = set;
  const int first_near = context::world_pe(world, static_cast<int>(world.first_near));
  context::set_near(route, {context::node_index(first_near), world.near_heap, world.near_statics, world.pe_step});
  return route;
}

}  // namespace shmemx::coll
