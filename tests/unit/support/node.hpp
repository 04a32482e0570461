// A whole node in one process: an arena as in a job, and the view that each PE has of it. Threads act as the PEs, each
// with its own Context and Team, since nothing here is process-wide.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "../../support/threads.hpp"
#include "coll/common/group.hpp"
#include "coll/common/team.hpp"
#include "context/context.hpp"
#include "windows/arena.hpp"

namespace shmemx::unit {

inline constexpr std::size_t kNodeHeapBytes = std::size_t{4} << 20;
inline constexpr std::size_t kNodeStaticBytes = 2 * kPageBytes;

inline windows::Arena make_arena(std::size_t n_pes, std::size_t heap_bytes = kNodeHeapBytes,
                                 std::size_t static_bytes = kNodeStaticBytes) {
  auto file = bootstrap::create_job_file(static_cast<std::uint32_t>(n_pes), bootstrap::random_id());
  auto arena = windows::Arena::open(std::move(file.value()));
  static_cast<void>(arena->map_blocks(windows::make_geometry(n_pes, static_bytes, heap_bytes)));
  return std::move(arena.value());
}

inline context::Context make_world(const windows::Arena& arena, int pe) {
  const windows::Geometry& geometry = arena.geometry();
  context::Context world{};
  world.heap_base = reinterpret_cast<std::uintptr_t>(arena.heap(NodeIndex{pe}));
  world.heap_bytes = world.window_bytes = geometry.heap_bytes;
  world.near_heap = arena.heap(NodeIndex{0});
  world.pe_step = static_cast<std::int64_t>(geometry.stride);
  world.n_pes = world.n_near = static_cast<std::uint32_t>(geometry.n_pes);
  world.static_base = reinterpret_cast<std::uintptr_t>(arena.statics(NodeIndex{pe}));
  world.static_bytes = geometry.static_bytes;
  world.near_statics = arena.statics(NodeIndex{0});
  world.handle = context::kDefaultContext;
  world.team_index = static_cast<std::uint32_t>(coll::kWorldTeam);
  world.my_pe = pe;
  world.set = team::PeSet(Pe{0}, 1, static_cast<int>(geometry.n_pes));
  return world;
}

class Node {
 public:
  explicit Node(int n_pes) : arena_(make_arena(static_cast<std::size_t>(n_pes))) {
    for (int pe = 0; pe < n_pes; ++pe) worlds_.push_back(make_world(arena_, pe));
  }

  int size() const { return static_cast<int>(worlds_.size()); }
  const windows::Arena& arena() const { return arena_; }
  const context::Context& world(int pe) const { return worlds_[static_cast<std::size_t>(pe)]; }

  // `pe`'s view of the team of `set` in slot `slot`. A team's members need the same slot and barrier.
  coll::Team team(int pe, std::size_t slot, team::PeSet set, bool counting) const {
    coll::Team team;
    team.handle = slot;
    // Not on the stack, where GCC 12 with AddressSanitizer does not keep to its alignment.
    const std::unique_ptr<const context::Context> route(
        new context::Context(coll::route_of(world(pe), set, set.find(Pe{pe})->value)));
    team.route = *route;
    team.near_slot = arena_.block(NodeIndex{set.start()}) + slot * arena_.geometry().slot_bytes;
    team.scratch_offset = arena_.geometry().slot_bytes - 2 * windows::kScratchBytes;
    team.counting = counting;
    team.direct = true;
    return team;
  }
  coll::Team world_team(int pe, bool counting) const { return team(pe, coll::kWorldTeam, world(pe).set, counting); }

  // An object of `pe`'s heap.
  template <class T>
  T* at(int pe, std::size_t offset) const {
    return reinterpret_cast<T*>(arena_.heap(NodeIndex{pe}) + offset);
  }

  // Calls program(pe) on a thread for each PE and waits until all have returned.
  template <class Program>
  void run(const Program& program) const {
    test_support::run_on_threads(size(), program);
  }

 private:
  windows::Arena arena_;
  std::vector<context::Context> worlds_;
};

}  // namespace shmemx::unit
