#include "api/observed.hpp"

namespace shmemx::api {

stats::Path path_to(int world_pe) noexcept {
  const Context& world = default_context();
  if (world_pe == world.my_pe) return stats::Path::self;
  if (context::node_of(world_pe) != context::places.my_node) return stats::Path::network;
  return context::is_mapped(world, world_pe) ? stats::Path::mapped : stats::Path::queue;
}

// Wrong handles and PEs end the job in what follows.
void Observed::begin(const Context& context, const ObservedCall& call, const Rest& rest) noexcept {
  if (!context::pe_in_range(context, rest.pe)) return;
  const int pe = context::world_pe(context, rest.pe);
  const std::ptrdiff_t index = &context - context::context_table;
  const bool is_in_table = index > 0 && index < static_cast<std::ptrdiff_t>(context::kMaxContexts);
  span_.begin(
      {call.routine, call.family, path_to(pe), pe, is_in_table ? static_cast<std::uint32_t>(index) : 0, rest.bytes},
      rest.caller);
}

}  // namespace shmemx::api
