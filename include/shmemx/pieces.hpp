// Part of requests.hpp: messages in several pieces, which are concatenated, and in blocks at equal distances.
#ifndef SHMEMX_PIECES_HPP
#define SHMEMX_PIECES_HPP

#include <cstddef>
#include <initializer_list>
#include <ranges>
#include <span>
#include <type_traits>

#include "messages.h"
#include "requests.hpp"

namespace shmemx {

class piece;
class const_piece;

namespace face_detail {

template <class R>
concept range_of_pieces = std::is_same_v<std::remove_const_t<element_of<R>>, piece> ||
    std::is_same_v<std::remove_const_t<element_of<R>>, const_piece>;

}  // namespace face_detail

// Memory that is written: the elements of a range.
class piece {
 public:
  template <face_detail::lasting_range R>
  requires(!face_detail::range_of_pieces<R>) piece(R&& memory)
  noexcept : place_{face_detail::memory_of(memory), face_detail::bytes_of(memory)} {}

  const shmemx_iov_t& place() const noexcept { return place_; }

 private:
  shmemx_iov_t place_;
};
// Memory that is only read.
class const_piece {
 public:
  template <face_detail::lasting_range R>
  requires(!face_detail::range_of_pieces<R>) const_piece(R&& data)
  noexcept : place_{const_cast<void*>(face_detail::data_of(data)), face_detail::bytes_of(data)} {}
  const_piece(const piece& memory) noexcept : place_(memory.place()) {}
  const shmemx_iov_t& place() const noexcept { return place_; }

 private:
  shmemx_iov_t place_;
};

namespace face_detail {

template <class Piece>
const shmemx_iov_t* list_of(const Piece* list) noexcept {
  static_assert(sizeof(Piece) == sizeof(shmemx_iov_t) && std::is_standard_layout_v<Piece>);
  return reinterpret_cast<const shmemx_iov_t*>(list);
}

}  // namespace face_detail

// A list is a range of pieces or is written in braces: sendv({head, data}, pe, tag). It may end before the operation.
inline void sendv(std::span<const const_piece> list, int pe, int tag) noexcept {
  shmemx_sendv(face_detail::list_of(list.data()), list.size(), pe, tag);
}
inline void sendv(std::initializer_list<const_piece> list, int pe, int tag) noexcept {
  sendv(std::span(list.begin(), list.size()), pe, tag);
}
inline message_status recvv(std::span<const piece> list, int pe = any_source, int tag = any_tag) noexcept {
  shmemx_status_t status = {};
  shmemx_recvv(face_detail::list_of(list.data()), list.size(), pe, tag, &status);
  return message_status(status);
}
inline message_status recvv(std::initializer_list<piece> list, int pe = any_source, int tag = any_tag) noexcept {
  return recvv(std::span(list.begin(), list.size()), pe, tag);
}
[[nodiscard]] inline request isendv(std::span<const const_piece> list, int pe, int tag) noexcept {
  return face_detail::begun(
      [&](shmemx_request_t* to) { shmemx_isendv(face_detail::list_of(list.data()), list.size(), pe, tag, to); });
}
[[nodiscard]] inline request isendv(std::initializer_list<const_piece> list, int pe, int tag) noexcept {
  return isendv(std::span(list.begin(), list.size()), pe, tag);
}
[[nodiscard]] inline request irecvv(std::span<const piece> list, int pe = any_source, int tag = any_tag) noexcept {
  return face_detail::begun(
      [&](shmemx_request_t* to) { shmemx_irecvv(face_detail::list_of(list.data()), list.size(), pe, tag, to); },
      request::kind::receive);
}
[[nodiscard]] inline request irecvv(std::initializer_list<piece> list, int pe = any_source,
                                    int tag = any_tag) noexcept {
  return irecvv(std::span(list.begin(), list.size()), pe, tag);
}

namespace face_detail {

// The blocks of `block` elements that a range holds, each `stride` elements behind the one before. The first one is at
// the beginning of the range, or at its end if the stride is negative. Without a stride there is one.
template <class T>
struct blocks_of_range {
  blocks_of_range(T* data, std::size_t size, std::size_t block, std::ptrdiff_t stride) noexcept
      : first(data), bytes(block * sizeof(T)) {
    if (block == 0 || block > size) {
      bytes = 0;
      return;
    }
    const auto forward = static_cast<std::size_t>(stride);
    const std::size_t distance = stride < 0 ? std::size_t{0} - forward : forward;
    count = distance == 0 ? 1 : (size - block) / distance + 1;
    if (count > 1) stride_bytes = stride * static_cast<std::ptrdiff_t>(sizeof(T));
    if (stride < 0) first += size - block;
  }

  T* first;
  std::size_t bytes;
  std::ptrdiff_t stride_bytes = 0;
  std::size_t count = 0;
};
template <class R>
auto read_blocks(const R& data, std::size_t block, std::ptrdiff_t stride) noexcept {
  data_of(data);
  return blocks_of_range(std::ranges::data(data), std::ranges::size(data), block, stride);
}
template <class R>
auto written_blocks(R&& memory, std::size_t block, std::ptrdiff_t stride) noexcept {
  memory_of(memory);
  return blocks_of_range(std::ranges::data(memory), std::ranges::size(memory), block, stride);
}

}  // namespace face_detail

// As many blocks of `block` elements as the range holds, `stride` elements from one to the next; a negative stride
// begins with the last elements of the range. Column c of a matrix: send_strided(std::span(matrix).subspan(c), 1,
// columns, pe, tag).
template <face_detail::range R>
void send_strided(const R& data, std::size_t block, std::ptrdiff_t stride, int pe, int tag) noexcept {
  const auto blocks = face_detail::read_blocks(data, block, stride);
  shmemx_send_strided(blocks.first, blocks.bytes, blocks.stride_bytes, blocks.count, pe, tag);
}
template <face_detail::lasting_range R>
message_status recv_strided(R&& memory, std::size_t block, std::ptrdiff_t stride, int pe = any_source,
                            int tag = any_tag) noexcept {
  const auto blocks = face_detail::written_blocks(memory, block, stride);
  shmemx_status_t status = {};
  shmemx_recv_strided(blocks.first, blocks.bytes, blocks.stride_bytes, blocks.count, pe, tag, &status);
  return message_status(status);
}
template <face_detail::lasting_range R>
[[nodiscard]] request isend_strided(R&& data, std::size_t block, std::ptrdiff_t stride, int pe, int tag) noexcept {
  return face_detail::begun([&](shmemx_request_t* to) {
    const auto blocks = face_detail::read_blocks(data, block, stride);
    shmemx_isend_strided(blocks.first, blocks.bytes, blocks.stride_bytes, blocks.count, pe, tag, to);
  });
}
template <face_detail::lasting_range R>
[[nodiscard]] request irecv_strided(R&& memory, std::size_t block, std::ptrdiff_t stride, int pe = any_source,
                                    int tag = any_tag) noexcept {
  return face_detail::begun(
      [&](shmemx_request_t* to) {
        const auto blocks = face_detail::written_blocks(memory, block, stride);
        shmemx_irecv_strided(blocks.first, blocks.bytes, blocks.stride_bytes, blocks.count, pe, tag, to);
      },
      request::kind::receive);
}

}  // namespace shmemx

#endif
