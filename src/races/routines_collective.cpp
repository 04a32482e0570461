// Collectives that move data: of teams, and of active sets.

#include <algorithm>

#include "races/team.hpp"
#include "races/wrap.hpp"

namespace shmemx::races {
namespace {

// The buffers of this PE.
struct Buffers {
  Blocks dest;
  Blocks source;
};

template <class T>
const void* element(const void* at, std::size_t index) noexcept {
  return static_cast<const char*>(at) + index * sizeof(T);
}

template <class Real>
auto collective(Routine& routine, const TeamPlace& team, const Buffers& buffers, Waits waits, Real real,
                std::uint32_t root = 0) noexcept {
  Collective call(routine, team);
  note_local(routine, buffers.source, Kind::load);
  return call_then(real, [&] {
    call.leave(waits, root);
    note_local(routine, buffers.dest, Kind::result);
  });
}

// What collect writes is known when all have come.
template <class Real>
auto collecting(Routine& routine, const TeamPlace& team, const Buffers& buffers, Real real) noexcept {
  Collective call(routine, team, buffers.source.block_bytes);
  note_local(routine, buffers.source, Kind::load);
  return call_then(real, [&] {
    const std::uint64_t bytes = call.leave(Waits::for_all);
    note_local(routine, {buffers.dest.at, bytes}, Kind::result);
  });
}

// What the members' arguments come to.
template <class T, class Real>
auto all_to_all(Routine& routine, const TeamPlace& team, const void* dest, const void* source, std::size_t n,
                Real real) noexcept {
  const std::size_t all = n * team.members;
  note_contribution(routine, team, elements<T>(element<T>(dest, n * team.member), n));
  return collective(routine, team, {elements<T>(dest, all), elements<T>(source, all)}, Waits::for_all, real);
}
struct Strides {
  std::ptrdiff_t dest;
  std::ptrdiff_t source;
};
template <class T, class Real>
auto all_to_all_strided(Routine& routine, const TeamPlace& team, const void* dest, const void* source,
                        const Strides& strides, std::size_t n, Real real) noexcept {
  const std::size_t all = n * team.members;
  const std::size_t mine = n * team.member * static_cast<std::size_t>(strides.dest);
  note_contribution(routine, team, strided<T>(element<T>(dest, mine), strides.dest, 1, n));
  return collective(routine, team, {strided<T>(dest, strides.dest, 1, all), strided<T>(source, strides.source, 1, all)},
                    Waits::for_all, real);
}
template <class T, class Real>
auto broadcast_from(Routine& routine, const TeamPlace& team, const Buffers& buffers, const Blocks& elements_of_all,
                    std::uint32_t root, Real real) noexcept {
  const bool is_root = team.member == root;
  if (is_root) note_contribution(routine, team, elements_of_all);
  return collective(routine, team, {buffers.dest, is_root ? buffers.source : Blocks{nullptr, 0}},
                    is_root ? Waits::for_none : Waits::for_root, real, root);
}

// ---- Rows of teams ----
template <class T, class Real>
int alltoall(Routine& routine, Real real, shmem_team_t team, void* dest, const void* source, std::size_t n) noexcept {
  return all_to_all<T>(routine, place_in(team), dest, source, n, real);
}
template <class T, class Real>
int alltoalls(Routine& routine, Real real, shmem_team_t team, void* dest, const void* source,
              std::ptrdiff_t dest_stride, std::ptrdiff_t source_stride, std::size_t n) noexcept {
  return all_to_all_strided<T>(routine, place_in(team), dest, source, {dest_stride, source_stride}, n, real);
}
template <class T, class Real>
int broadcast(Routine& routine, Real real, shmem_team_t team, void* dest, const void* source, std::size_t n,
              int root) noexcept {
  return broadcast_from<T>(routine, place_in(team), {elements<T>(dest, n), elements<T>(source, n)},
                           elements<T>(dest, n), static_cast<std::uint32_t>(root), real);
}
template <class T, class Real>
int collect(Routine& routine, Real real, shmem_team_t team, void* dest, const void* source, std::size_t n) noexcept {
  return collecting(routine, place_in(team), {{dest, 0}, elements<T>(source, n)}, real);
}
template <class T, class Real>
int fcollect(Routine& routine, Real real, shmem_team_t team, void* dest, const void* source, std::size_t n) noexcept {
  const TeamPlace place = place_in(team);
  note_contribution(routine, place, elements<T>(element<T>(dest, n * place.member), n));
  return collective(routine, place, {elements<T>(dest, n * place.members), elements<T>(source, n)}, Waits::for_all,
                    real);
}
template <class T, class Real>
int reduce(Routine& routine, Real real, shmem_team_t team, void* dest, const void* source, std::size_t n) noexcept {
  return collective(routine, place_in(team), {elements<T>(dest, n), elements<T>(source, n)}, Waits::for_all, real);
}
template <class T, class Real>
int scan(Routine& routine, Real real, shmem_team_t team, void* dest, const void* source, std::size_t n) noexcept {
  return collective(routine, place_in(team), {elements<T>(dest, n), elements<T>(source, n)}, Waits::for_lower, real);
}

// clang-format off
#define SHMEMX_SAME(OP, AS)                                                                                   \
  template <class T, class... Arguments>                                                                      \
  auto OP(Routine& routine, Arguments... arguments) noexcept { return AS<T>(routine, arguments...); }
SHMEMX_SAME(and_reduce, reduce)
SHMEMX_SAME(or_reduce, reduce)
SHMEMX_SAME(xor_reduce, reduce)
SHMEMX_SAME(max_reduce, reduce)
SHMEMX_SAME(min_reduce, reduce)
SHMEMX_SAME(sum_reduce, reduce)
SHMEMX_SAME(prod_reduce, reduce)
SHMEMX_SAME(sum_inscan, scan)
SHMEMX_SAME(sum_exscan, scan)
// clang-format on

}  // namespace

namespace old {
namespace {

// Calls real(), which uses the work arrays of the members.
template <class Real>
void with_work(Routine& routine, const TeamPlace& set, const Blocks& work, bool contributes, Real real) noexcept {
  if (contributes) note_contribution(routine, set, work);
  real();
  note_local(routine, work, Kind::work);
}
Blocks sync_array(const long* work, std::size_t size) noexcept { return {work, size * sizeof(long)}; }

template <class T, class Real>
void alltoall(Routine& routine, Real real, void* dest, const void* source, std::size_t n, int first, int log_stride,
              int size, long* work) noexcept {
  const TeamPlace set = place_in(ActiveSet{first, log_stride, size, work});
  with_work(routine, set, sync_array(work, SHMEM_ALLTOALL_SYNC_SIZE), true,
            [&] { all_to_all<T>(routine, set, dest, source, n, real); });
}
template <class T, class Real>
void alltoalls(Routine& routine, Real real, void* dest, const void* source, std::ptrdiff_t dest_stride,
               std::ptrdiff_t source_stride, std::size_t n, int first, int log_stride, int size, long* work) noexcept {
  const TeamPlace set = place_in(ActiveSet{first, log_stride, size, work});
  with_work(routine, set, sync_array(work, SHMEM_ALLTOALLS_SYNC_SIZE), true, [&] {
    all_to_all_strided<T>(routine, set, dest, source, {dest_stride, source_stride}, n, real);
  });
}
// The root's own dest is not written.
template <class T, class Real>
void broadcast(Routine& routine, Real real, void* dest, const void* source, std::size_t n, int root, int first,
               int log_stride, int size, long* work) noexcept {
  const TeamPlace place = place_in(ActiveSet{first, log_stride, size, work});
  const bool is_root = place.member == static_cast<std::uint32_t>(root);
  const Buffers buffers{is_root ? Blocks{nullptr, 0} : elements<T>(dest, n), elements<T>(source, n)};
  with_work(routine, place, sync_array(work, SHMEM_BCAST_SYNC_SIZE), is_root, [&] {
    broadcast_from<T>(routine, place, buffers, elements<T>(dest, n), static_cast<std::uint32_t>(root), real);
  });
}
template <class T, class Real>
void collect(Routine& routine, Real real, void* dest, const void* source, std::size_t n, int first, int log_stride,
             int size, long* work) noexcept {
  const TeamPlace set = place_in(ActiveSet{first, log_stride, size, work});
  with_work(routine, set, sync_array(work, SHMEM_COLLECT_SYNC_SIZE), true, [&] {
    collecting(routine, set, {{dest, 0}, elements<T>(source, n)}, real);
  });
}
template <class T, class Real>
void fcollect(Routine& routine, Real real, void* dest, const void* source, std::size_t n, int first, int log_stride,
              int size, long* work) noexcept {
  const TeamPlace place = place_in(ActiveSet{first, log_stride, size, work});
  note_contribution(routine, place, elements<T>(element<T>(dest, n * place.member), n));
  with_work(routine, place, sync_array(work, SHMEM_COLLECT_SYNC_SIZE), true, [&] {
    collective(routine, place, {elements<T>(dest, n * place.members), elements<T>(source, n)}, Waits::for_all, real);
  });
}
template <class T, class Real>
void to_all(Routine& routine, Real real, void* dest, const void* source, int n, int first, int log_stride, int size,
            const T* numbers, long* work) noexcept {
  const auto count = static_cast<std::size_t>(n);
  const TeamPlace set = place_in(ActiveSet{first, log_stride, size, work});
  const Blocks partial = elements<T>(numbers, std::max<std::size_t>(count / 2 + 1, SHMEM_REDUCE_MIN_WRKDATA_SIZE));
  with_work(routine, set, partial, true, [&] {
    with_work(routine, set, sync_array(work, SHMEM_REDUCE_SYNC_SIZE), true, [&] {
      collective(routine, set, {elements<T>(dest, count), elements<T>(source, count)}, Waits::for_all, real);
    });
  });
}
SHMEMX_SAME(and_to_all, to_all)
SHMEMX_SAME(or_to_all, to_all)
SHMEMX_SAME(xor_to_all, to_all)
SHMEMX_SAME(max_to_all, to_all)
SHMEMX_SAME(min_to_all, to_all)
SHMEMX_SAME(sum_to_all, to_all)
SHMEMX_SAME(prod_to_all, to_all)

}  // namespace
}  // namespace old
}  // namespace shmemx::races

// clang-format off
#define SHMEMX_WRAP_COLLECTIVE_AS(FUNCTION, TAIL, T, R, ARGS, ...)                                      \
  extern "C" [[gnu::visibility("default")]] R shmem##TAIL(__VA_ARGS__) {                                \
    shmemx::races::Routine routine({"shmem" #TAIL, __builtin_return_address(0)});                       \
    return FUNCTION<T>(routine, [&] { return pshmem##TAIL ARGS; }, SHMEMX_UNWRAP ARGS);                 \
  }
#define SHMEMX_WRAP_COLLECTIVE(TAIL, T, R, OP, ARGS, ...) \
  SHMEMX_WRAP_COLLECTIVE_AS(shmemx::races::OP, TAIL, T, R, ARGS, __VA_ARGS__)
#define SHMEMX_WRAP_OLD_COLLECTIVE(TAIL, T, R, OP, ARGS, ...) \
  SHMEMX_WRAP_COLLECTIVE_AS(shmemx::races::old::OP, TAIL, T, R, ARGS, __VA_ARGS__)
// clang-format on

SHMEMX_COLLECTIVE_TABLE(SHMEMX_WRAP_COLLECTIVE)
SHMEMX_REDUCE_TABLE(SHMEMX_WRAP_COLLECTIVE)
SHMEMX_OLD_COLLECTIVE_TABLE(SHMEMX_WRAP_OLD_COLLECTIVE)
SHMEMX_TO_ALL_TABLE(SHMEMX_WRAP_OLD_COLLECTIVE)
