// What the collectives need of a set of PEs: size, own number, addresses in the others' memory, a barrier, an exchange
// of small contributions. Two kinds: a team with its slot, and an active set with the caller's pSync array.
#pragma once

#include <cstdint>
#include <cstring>

#include "coll/barrier.hpp"
#include "coll/flags.hpp"
#include "coll/team.hpp"
#include "context/route.hpp"

namespace shmemx::coll {

// A symmetric object on all PEs of a group. Where some member's memory is not mapped the step is 0: every copy is the
// own one, from which mapped_copy() finds those of mapped members, and rma::place_of() those that only messages reach.
struct Symmetric {
  std::byte* pe0 = nullptr;
  std::int64_t step = 0;
  std::byte* at(int pe) const noexcept { return pe0 + static_cast<std::int64_t>(pe) * step; }
};

// Where `pe`, which is mapped, has its copy of a checked symmetric object.
inline std::byte* mapped_copy(const context::Context& route, const std::byte* own_copy, int pe) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(own_copy);
  const std::int64_t block = static_cast<std::int64_t>(pe) * route.pe_step;
  const std::uint64_t static_offset = address - route.static_base;
  if (static_offset < route.static_bytes) return route.static0 + block + static_offset;
  return route.heap0 + block + (address - route.heap_base);
}

// Checked; 0 bytes may come with any address. `direct`: all members are mapped.
inline Symmetric symmetric(const context::Context& route, context::Site site, const void* address, std::uint64_t bytes,
                           bool direct) noexcept {
  if (context::all_mapped) [[likely]]
    return {context::resolve(route, site, address, bytes, 0).address, route.pe_step};
  std::byte* const own = context::resolve(route, site, address, bytes, route.my_pe).address;
  if (direct) return {mapped_copy(route, own, 0), route.pe_step};
  return {own, 0};
}

class TeamGroup {
 public:
  static constexpr bool kHasScratch = true;

  TeamGroup(Team& team, const char* routine) : team_(team), routine_(routine) {}
  int size() const noexcept { return team_.size(); }
  int me() const noexcept { return team_.me(); }
  const char* routine() const noexcept { return routine_; }
  Team& team() const noexcept { return team_; }
  const context::Context& route() const noexcept { return team_.route; }
  bool is_direct() const noexcept { return team_.direct; }

  void sync() noexcept { barrier(team_, routine_); }

  // publish(), sync(), then published() of all. The areas alternate: who publishes again has passed a barrier
  // that everybody enters after reading, so no second barrier is needed. At most contribution_bytes() of the team's
  // size.
  void publish(const void* data, std::size_t bytes) noexcept {
    if (!is_direct()) [[unlikely]]
      return publish_remote(data, bytes);
    std::memcpy(team_.scratch(team_.me(), ++team_.exchanges & 1), data, bytes);
  }
  const std::byte* published(int pe) const noexcept {
    if (!context::is_mapped(team_.route, pe)) [[unlikely]]
      return inbox(team_, pe, team_.exchanges & 1);
    return team_.scratch(pe, team_.exchanges & 1);
  }
  void publish_word(std::uint64_t word) noexcept { publish(&word, sizeof word); }
  std::uint64_t published_word(int pe) const noexcept {
    std::uint64_t word;
    std::memcpy(&word, published(pe), sizeof word);
    return word;
  }
  void retract_word() noexcept {}

 private:
  void publish_remote(const void* data, std::size_t bytes) noexcept;

  Team& team_;
  const char* routine_;
};

// Uses three elements of pSync and leaves them as it found them: [0] on the first PE counts arrivals, [1] is set by the
// last one to arrive, [2] carries a word. Sets with different pSync arrays do not disturb each other.
//
// By messages the first PE waits until [0] has counted the others, and releases them itself.
//
// Edge:  arrive  add to [0] -> the last one's add; its store to [1] -> the others' load    all stores of those who
//                arrive
class ActiveGroup {
 public:
  static constexpr bool kHasScratch = false;

  ActiveGroup(const context::Context& world, const char* routine, team::PeSet set, long* psync);
  int size() const noexcept { return static_cast<int>(route_.n_pes); }
  int me() const noexcept { return route_.my_pe; }
  const char* routine() const noexcept { return routine_; }
  const context::Context& route() const noexcept { return route_; }
  bool is_direct() const noexcept { return direct_; }

  // By messages: what was put before has to be flushed.
  void sync() noexcept;
  // Half of it, for collectives in which data flow one way; all members are mapped. The sender waits until `pe` has
  // left the collective before, writes its data, and releases `pe`.
  void await_departure(int pe) noexcept;
  void release(int pe) noexcept;
  void await_release() noexcept;
  void publish_word(std::uint64_t word) noexcept {
    __atomic_store_n(word_of(me(), 2), static_cast<long>(word), __ATOMIC_RELEASE);
  }
  std::uint64_t published_word(int pe) const noexcept {
    return static_cast<std::uint64_t>(__atomic_load_n(word_of(pe, 2), __ATOMIC_ACQUIRE));
  }
  void retract_word() noexcept { __atomic_store_n(word_of(me(), 2), 0L, __ATOMIC_RELEASE); }
  // Where the word of `pe` is, for messages.
  rma::RemotePlace word_place(int pe, int index) const noexcept {
    return rma::place_of(route_, psync_.pe0 + static_cast<std::size_t>(index) * sizeof(long), pe);
  }

 private:
  void sync_remote() noexcept;
  // `pe` is mapped.
  long* word_of(int pe, int index) const noexcept {
    std::byte* const words = direct_ ? psync_.at(pe) : mapped_copy(route_, psync_.pe0, pe);
    return reinterpret_cast<long*>(words) + index;
  }

  context::Context route_;
  const char* routine_;
  bool direct_ = true;
  Symmetric psync_;
};

// Are all PEs of the route mapped?
bool all_mapped(const context::Context& route) noexcept;

// The route of a subset of the PEs of `world`.
context::Context route_of(const context::Context& world, team::PeSet set, int my_pe) noexcept;

}  // namespace shmemx::coll
