// Part of requests.hpp: alltoall of blocks of different lengths.
#ifndef SHMEMX_ALLTOALLV_HPP
#define SHMEMX_ALLTOALLV_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "collectives.h"
#include "requests.hpp"

namespace shmemx {

namespace face_detail {

class block_arrays;

}  // namespace face_detail

// The lengths of the blocks that go to the members of a team, or come from them, in elements of T, and where they lie
// in their range. Block i is of member i. As the ranges, it must outlive the request that uses it.
template <class T>
class block_lengths {
 public:
  // One block after the other.
  explicit block_lengths(std::span<const std::size_t> lengths) : lengths_(in_bytes(lengths)) {}
  // Block i begins at element places[i]; both have an element for each member.
  block_lengths(std::span<const std::size_t> lengths, std::span<const std::size_t> places)
      : lengths_(in_bytes(lengths)), places_(in_bytes(places)), has_places_(true) {}
  // Of blocks whose lengths only the senders know. The operation writes them here.
  static block_lengths to_be_received(std::size_t members) {
    block_lengths made;
    made.lengths_.resize(members);
    return made;
  }
  static block_lengths to_be_received_at(std::span<const std::size_t> places) {
    block_lengths made = to_be_received(places.size());
    made.places_ = in_bytes(places);
    made.has_places_ = true;
    return made;
  }

  std::size_t size() const noexcept { return lengths_.size(); }
  std::size_t operator[](std::size_t member) const noexcept { return lengths_[member] / sizeof(T); }

 private:
  friend class face_detail::block_arrays;
  block_lengths() noexcept : is_known_(false) {}

  // A number that is too large for bytes is too large for any range, and remains so.
  static std::vector<std::size_t> in_bytes(std::span<const std::size_t> elements) {
    std::vector<std::size_t> bytes;
    bytes.reserve(elements.size());
    for (const std::size_t each : elements) bytes.push_back(each > SIZE_MAX / sizeof(T) ? SIZE_MAX : each * sizeof(T));
    return bytes;
  }

  std::vector<std::size_t> lengths_;
  std::vector<std::size_t> places_;
  bool has_places_ = false;
  bool is_known_ = true;
};

namespace face_detail {

// The arrays of one side as the C routine takes them.
class block_arrays {
 public:
  // Of the memory.
  template <class T>
  block_arrays(block_lengths<T>& of, const char* side) noexcept : block_arrays(std::as_const(of), side) {
    if (of.is_known_) return;
    lengths_ = nullptr;
    received_ = of.lengths_.data();
  }
  // Of the source: lengths that were received in an earlier exchange are known.
  template <class T>
  block_arrays(const block_lengths<T>& of, const char* side) noexcept
      : lengths_(of.lengths_.data()),
        places_(of.has_places_ ? of.places_.data() : nullptr),
        members_(of.size()),
        side_(side) {
    if (of.has_places_ && of.places_.size() != members_) end_by_members(of.places_.size(), members_);
  }

  const std::size_t* lengths() const noexcept { return lengths_; }  // null: to be received
  const std::size_t* places() const noexcept { return places_; }    // null: one after the other
  std::size_t* received() const noexcept { return received_; }

  // End the job if there are not as many as members, or if a block lies outside of the range of a source. The C routine
  // cannot find either, since it takes addresses.
  void check_members(const team& of) const noexcept {
    const int members = of.n_pes();
    if (members >= 0 && members_ != static_cast<std::size_t>(members))
      end_by_members(members_, static_cast<std::size_t>(members));
  }
  void check_source(std::size_t bytes) const noexcept {
    std::size_t behind = 0;
    for (std::size_t i = 0; i < members_; ++i) {
      const std::size_t at = places_ == nullptr ? behind : places_[i];
      if (lengths_[i] != 0 && (at > bytes || lengths_[i] > bytes - at)) end_by_block(i, at, bytes);
      behind = at + lengths_[i];
    }
  }

 private:
  [[noreturn]] void end_by_members(std::size_t entries, std::size_t allowed) const noexcept {
    std::fprintf(stderr,
                 "[pe %d/%d] shmemx::alltoallv: the block_lengths of the %s are for %zu members, allowed are %zu. Job "
                 "ended.\n",
                 shmem_my_pe(), shmem_n_pes(), side_, entries, allowed);
    shmem_global_exit(1);
  }
  [[noreturn]] void end_by_block(std::size_t member, std::size_t at, std::size_t allowed) const noexcept {
    std::fprintf(stderr,
                 "[pe %d/%d] shmemx::alltoallv: the block for member %zu has %zu bytes from byte %zu of the source on, "
                 "allowed are 0..%zu. Job ended.\n",
                 shmem_my_pe(), shmem_n_pes(), member, lengths_[member], at, allowed);
    shmem_global_exit(1);
  }

  const std::size_t* lengths_;
  const std::size_t* places_;
  std::size_t* received_ = nullptr;
  std::size_t members_;
  const char* side_;
};

template <class R>
using lengths_of = block_lengths<std::remove_const_t<element_of<R>>>;

// Calls `begin` with the arguments of the C routine.
template <class M, class R, class Begin>
void with_blocks(const team& of, M& memory, lengths_of<M>& blocks, const R& source, const lengths_of<R>& source_blocks,
                 Begin begin) noexcept {
  static_assert(std::is_same_v<lengths_of<M>, lengths_of<R>>, "shmemx: source and memory have one type");
  const block_arrays in(blocks, "memory"), out(source_blocks, "source");
  in.check_members(of);
  out.check_members(of);
  out.check_source(bytes_of(source));
  begin(memory_of(memory), bytes_of(memory), in.lengths(), in.places(), data_of(source), out.lengths(), out.places(),
        in.received());
}

}  // namespace face_detail

// Block i of the source goes to member i of the team; block i of the memory comes from it. `blocks` has the lengths
// that the senders send, or is to_be_received, on all members alike.
template <face_detail::lasting_range M, face_detail::lasting_range R>
void alltoallv(const team& of, M&& memory, face_detail::lengths_of<M>& blocks, R&& source,
               const face_detail::lengths_of<R>& source_blocks) noexcept {
  face_detail::with_blocks(of, memory, blocks, source, source_blocks,
                           [&](auto... arguments) { shmemx_alltoallv(of.handle(), arguments...); });
}
// Exchanges blocks that lie one after the other, where their receivers do not know their lengths. Returns the lengths
// of those that were received.
template <face_detail::lasting_range M, face_detail::lasting_range R>
std::vector<std::size_t> alltoallv(const team& of, M&& memory, R&& source, std::span<const std::size_t> lengths) {
  const face_detail::lengths_of<R> source_blocks(lengths);
  auto blocks = face_detail::lengths_of<M>::to_be_received(lengths.size());
  alltoallv(of, memory, blocks, source, source_blocks);
  std::vector<std::size_t> received(blocks.size());
  for (std::size_t i = 0; i < received.size(); ++i) received[i] = blocks[i];
  return received;
}

template <face_detail::lasting_range M, face_detail::lasting_range R>
[[nodiscard]] request alltoallv_nb(const team& of, M&& memory, face_detail::lengths_of<M>& blocks, R&& source,
                                   const face_detail::lengths_of<R>& source_blocks) noexcept {
  return face_detail::begun([&](shmemx_request_t* to) {
    face_detail::with_blocks(of, memory, blocks, source, source_blocks,
                             [&](auto... arguments) { shmemx_alltoallv_nb(of.handle(), arguments..., to); });
  });
}
template <face_detail::lasting_range M, face_detail::lasting_range R>
request alltoallv_nb(const team& of, M&& memory, face_detail::lengths_of<M>& blocks, R&& source,
                     const face_detail::lengths_of<R>&& source_blocks) = delete;  // they would be gone too early

}  // namespace shmemx

#endif
