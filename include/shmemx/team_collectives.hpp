// Part of shmemx.hpp: collectives of a team. All its PEs call, in the same order. Source and target are symmetric; they
// return 0, or another number on failure, as the routines of the standard do.
#ifndef SHMEMX_TEAM_COLLECTIVES_HPP
#define SHMEMX_TEAM_COLLECTIVES_HPP

#include <concepts>
#include <cstddef>
#include <type_traits>

#include "library.hpp"
#include "symmetric.hpp"
#include "transfers.hpp"

namespace shmemx {

// barrier: quiet on the default context, then a synchronisation; sync has no quiet.
inline void barrier_all() noexcept { shmem_barrier_all(); }
inline void sync_all() noexcept { shmem_sync_all(); }
inline int sync(const team& of) noexcept { return shmem_team_sync(of.handle()); }
inline int barrier(const team& of) noexcept {
  shmem_quiet();
  return shmem_team_sync(of.handle());
}

namespace face_detail {

// The source of a collective with the target S. Its length is the number of elements.
template <symmetric S>
using symmetric_source = symmetric_span<const value_of<S>>;

}  // namespace face_detail

// The source of PE `root` of the team goes to the target of all, the root's too.
template <symmetric S>
int broadcast(const team& of, const S& dest, face_detail::symmetric_source<S> source, int root) noexcept {
  return shmem_broadcast(of.handle(), face_detail::target(dest), face_detail::source(source),
                         source.size() * face_detail::units<value_of<S>>, root);
}
// All sources one after the other, in PE order; lengths may differ from PE to PE, for fcollect not.
template <symmetric S>
int collect(const team& of, const S& dest, face_detail::symmetric_source<S> source) noexcept {
  return shmem_collect(of.handle(), face_detail::target(dest), face_detail::source(source),
                       source.size() * face_detail::units<value_of<S>>);
}
template <symmetric S>
int fcollect(const team& of, const S& dest, face_detail::symmetric_source<S> source) noexcept {
  return shmem_fcollect(of.handle(), face_detail::target(dest), face_detail::source(source),
                        source.size() * face_detail::units<value_of<S>>);
}
// Block k of PE l becomes block l of PE k; `block` is the length of a block.
template <symmetric S>
int alltoall(const team& of, const S& dest, face_detail::symmetric_source<S> source, std::size_t block) noexcept {
  return shmem_alltoall(of.handle(), face_detail::target(dest), face_detail::source(source),
                        block * face_detail::units<value_of<S>>);
}
// Element j of block l stands at index (l * block + j) * stride.
template <symmetric S>
int alltoalls(const team& of, const S& dest, face_detail::symmetric_source<S> source, std::ptrdiff_t dest_stride,
              std::ptrdiff_t source_stride, std::size_t block) noexcept {
  static_assert(named_type<value_of<S>>, "shmemx: the standard has alltoalls for its own types only");
  return shmem_alltoalls(of.handle(), face_detail::target(dest), face_detail::source(source), dest_stride,
                         source_stride, block);
}

// ---- Reductions: element i of the target combines element i of all sources ----

// What combines, as an argument of reduce.
namespace ops {
struct sum_t {
  static int reduce(shmem_team_t team, auto* to, const auto* from, std::size_t n) noexcept requires requires {
    shmem_sum_reduce(team, to, from, n);
  }
  { return shmem_sum_reduce(team, to, from, n); }
};
struct prod_t {
  static int reduce(shmem_team_t team, auto* to, const auto* from, std::size_t n) noexcept requires requires {
    shmem_prod_reduce(team, to, from, n);
  }
  { return shmem_prod_reduce(team, to, from, n); }
};
struct min_t {
  static int reduce(shmem_team_t team, auto* to, const auto* from, std::size_t n) noexcept requires requires {
    shmem_min_reduce(team, to, from, n);
  }
  { return shmem_min_reduce(team, to, from, n); }
};
struct max_t {
  static int reduce(shmem_team_t team, auto* to, const auto* from, std::size_t n) noexcept requires requires {
    shmem_max_reduce(team, to, from, n);
  }
  { return shmem_max_reduce(team, to, from, n); }
};
struct bit_and_t {
  static int reduce(shmem_team_t team, auto* to, const auto* from, std::size_t n) noexcept requires requires {
    shmem_and_reduce(team, to, from, n);
  }
  { return shmem_and_reduce(team, to, from, n); }
};
struct bit_or_t {
  static int reduce(shmem_team_t team, auto* to, const auto* from, std::size_t n) noexcept requires requires {
    shmem_or_reduce(team, to, from, n);
  }
  { return shmem_or_reduce(team, to, from, n); }
};
struct bit_xor_t {
  static int reduce(shmem_team_t team, auto* to, const auto* from, std::size_t n) noexcept requires requires {
    shmem_xor_reduce(team, to, from, n);
  }
  { return shmem_xor_reduce(team, to, from, n); }
};
inline constexpr sum_t sum{};
inline constexpr prod_t prod{};
inline constexpr min_t min{};
inline constexpr max_t max{};
inline constexpr bit_and_t bit_and{};
inline constexpr bit_or_t bit_or{};
inline constexpr bit_xor_t bit_xor{};
}  // namespace ops

template <class T, class Op>
concept reducible = requires(shmem_team_t team, T* to, const T* from) {
  { Op::reduce(team, to, from, std::size_t{}) } -> std::same_as<int>;
};

// The target is the source, or does not overlap it.
template <class Op, symmetric S>
int reduce(const team& of, const S& dest, face_detail::symmetric_source<S> source, Op) noexcept {
  static_assert(reducible<value_of<S>, Op>, "shmemx: the standard has no reduction of this type by this operation");
  face_detail::require_variable<typename S::element_type>();
  return Op::reduce(of.handle(), face_detail::address(dest), source.data(), source.size());
}

// The target of PE k sums the sources of PEs 0 to k (inscan), or 0 to k - 1 (exscan; zero on PE 0).
template <symmetric S>
int sum_inscan(const team& of, const S& dest, face_detail::symmetric_source<S> source) noexcept {
  static_assert(reducible<value_of<S>, ops::sum_t>, "shmemx: the standard has no scan of this type");
  face_detail::require_variable<typename S::element_type>();
  return shmem_sum_inscan(of.handle(), face_detail::address(dest), source.data(), source.size());
}
template <symmetric S>
int sum_exscan(const team& of, const S& dest, face_detail::symmetric_source<S> source) noexcept {
  static_assert(reducible<value_of<S>, ops::sum_t>, "shmemx: the standard has no scan of this type");
  face_detail::require_variable<typename S::element_type>();
  return shmem_sum_exscan(of.handle(), face_detail::address(dest), source.data(), source.size());
}

}  // namespace shmemx

#endif
