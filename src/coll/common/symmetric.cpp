#include "coll/common/symmetric.hpp"

namespace shmemx::coll {

SymmetricName name_of_symmetric(const void* address) noexcept {
  const context::Context& world = context::default_context();
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (at - world.heap_base < world.window_bytes) return (at - world.heap_base + 1) << 1;
  return at - world.static_base < world.static_bytes ? (at - world.static_base + 1) << 1 | 1 : 0;
}

bool is_in_heap(SymmetricName name) noexcept { return (name & 1) == 0; }

std::uintptr_t address_of(SymmetricName name) noexcept {
  const context::Context& world = context::default_context();
  return (is_in_heap(name) ? world.heap_base : world.static_base) + (name >> 1) - 1;
}

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
