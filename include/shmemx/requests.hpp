// Two-sided messages and collectives in the background for C++20, on messages.h and collectives.h; not included by
// shmemx.hpp.
//
//     #include <shmemx/requests.hpp>
//     std::vector<double> halo(100), mine(100);
//     shmemx::request left = shmemx::irecv(halo, my_left, kTag);
//     shmemx::send(mine, my_right, kTag);
//     left.wait();                                   // its destructor would wait, too
//
// Data are contiguous ranges: a vector, an array, a span, a symmetric_array. Their elements are transferable
// (symmetric.hpp). A range that a request uses must outlive it: temporaries that own their elements do not compile.
// Messages in several pieces are in pieces.hpp, alltoall with lengths that differ in alltoallv.hpp; both are included.
#ifndef SHMEMX_REQUESTS_HPP
#define SHMEMX_REQUESTS_HPP

#include <cstddef>
#include <optional>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "collectives.h"
#include "library.hpp"
#include "messages.h"
#include "symmetric.hpp"
#include "windows.hpp"

namespace shmemx {

inline constexpr int any_source = SHMEMX_ANY_SOURCE;
inline constexpr int any_tag = SHMEMX_ANY_TAG;

// A message that was received, found or sent; empty of a collective.
struct message_status {
  message_status() noexcept = default;
  explicit message_status(const shmemx_status_t& of) noexcept
      : source(of.source_pe),
        tag(of.tag),
        bytes(of.bytes),
        is_truncated(of.error == SHMEMX_ERR_TRUNCATE),
        is_cancelled(of.cancelled != 0) {}
  // The number of elements.
  template <class T>
  std::size_t count() const noexcept {
    return bytes / sizeof(T);
  }

  int source = any_source;
  int tag = any_tag;
  std::size_t bytes = 0;
  bool is_truncated = false;  // it was longer than the memory of the receive
  bool is_cancelled = false;  // the receive took no message; the other members are undefined
};

// An operation that has begun. The destructor cancels a receive that has no message yet, and waits for the end of all
// others, since the library uses their memory.
class request {
 public:
  enum class kind { receive, other };

  request() noexcept = default;
  // Takes over a handle of the C interface.
  explicit request(shmemx_request_t handle, kind of = kind::other) noexcept : handle_(handle), kind_(of) {}
  request(request&& other) noexcept : handle_(other.release()), kind_(other.kind_) {}
  request& operator=(request&& other) noexcept {
    request gone(std::move(*this));
    handle_ = other.release();
    kind_ = other.kind_;
    return *this;
  }
  ~request() {
    if (!is_open()) return;
    cancel();
    wait();
  }

  // Is there an operation whose end has not been seen?
  bool is_open() const noexcept { return handle_ != SHMEMX_REQUEST_NULL; }
  shmemx_request_t handle() const noexcept { return handle_; }
  shmemx_request_t release() noexcept { return std::exchange(handle_, SHMEMX_REQUEST_NULL); }

  message_status wait() noexcept {
    shmemx_status_t status = {};
    shmemx_wait(&handle_, &status);
    return message_status(status);
  }
  // Returns nothing as long as it is not complete.
  std::optional<message_status> test() noexcept {
    shmemx_status_t status = {};
    int is_complete = 0;
    shmemx_test(&handle_, &is_complete, &status);
    if (is_complete == 0) return std::nullopt;
    return message_status(status);
  }
  // Has an effect on receives only that have no message yet. The request is completed afterwards, as any other.
  void cancel() noexcept {
    if (is_open() && kind_ == kind::receive) shmemx_cancel(&handle_);
  }

 private:
  shmemx_request_t handle_ = SHMEMX_REQUEST_NULL;
  kind kind_ = kind::other;
};

inline void wait_all(std::span<request> requests) noexcept {
  for (request& each : requests)
    if (each.is_open()) each.wait();
}
// Completes one request and returns its index, or nothing if none is open.
inline std::optional<std::size_t> wait_any(std::span<request> requests, message_status* of = nullptr) {
  std::vector<shmemx_request_t> handles;
  for (const request& each : requests) handles.push_back(each.handle());
  shmemx_status_t status = {};
  std::size_t index = handles.size();
  shmemx_waitany(handles.size(), handles.data(), &index, &status);
  if (index == handles.size()) return std::nullopt;
  requests[index].release();
  if (of != nullptr) *of = message_status(status);
  return index;
}

namespace face_detail {

template <class R>
concept range = std::ranges::contiguous_range<R> && std::ranges::sized_range<R>;
// The range still has its elements when the function returns.
template <class R>
concept lasting_range = range<R> && std::ranges::borrowed_range<R>;

template <class R>
using element_of = std::remove_reference_t<std::ranges::range_reference_t<R>>;

template <class R>
const void* data_of(const R& range) noexcept {
  require_transferable<std::remove_const_t<element_of<const R>>>();
  return std::ranges::data(range);
}
template <class R>
void* memory_of(R&& range) noexcept {
  require_transferable<std::remove_const_t<element_of<R>>>();
  require_variable<element_of<R>>();
  return std::ranges::data(range);
}
template <class R>
std::size_t bytes_of(const R& range) noexcept {
  return static_cast<std::size_t>(std::ranges::size(range)) * sizeof(element_of<const R>);
}

// Returns the request that `begin` makes.
template <class Begin>
request begun(Begin begin, request::kind of = request::kind::other) noexcept {
  shmemx_request_t handle = SHMEMX_REQUEST_NULL;
  begin(&handle);
  return request(handle, of);
}

}  // namespace face_detail

// ---- Messages ----

// Returns when the data may be changed; ssend when a receive has taken the message.
template <face_detail::range R>
void send(const R& data, int pe, int tag) noexcept {
  shmemx_send(face_detail::data_of(data), face_detail::bytes_of(data), pe, tag);
}
template <face_detail::range R>
void ssend(const R& data, int pe, int tag) noexcept {
  shmemx_ssend(face_detail::data_of(data), face_detail::bytes_of(data), pe, tag);
}
template <face_detail::lasting_range R>
message_status recv(R&& memory, int pe = any_source, int tag = any_tag) noexcept {
  shmemx_status_t status = {};
  shmemx_recv(face_detail::memory_of(memory), face_detail::bytes_of(memory), pe, tag, &status);
  return message_status(status);
}
// Sends to one PE and receives from another one at once.
template <face_detail::range R, face_detail::lasting_range M>
message_status sendrecv(const R& data, int to, int send_tag, M&& memory, int from = any_source,
                        int recv_tag = any_tag) noexcept {
  shmemx_status_t status = {};
  shmemx_sendrecv(face_detail::data_of(data), face_detail::bytes_of(data), to, send_tag, face_detail::memory_of(memory),
                  face_detail::bytes_of(memory), from, recv_tag, &status);
  return message_status(status);
}

template <face_detail::lasting_range R>
[[nodiscard]] request isend(R&& data, int pe, int tag) noexcept {
  return face_detail::begun([&](shmemx_request_t* to) {
    shmemx_isend(face_detail::data_of(data), face_detail::bytes_of(data), pe, tag, to);
  });
}
template <face_detail::lasting_range R>
[[nodiscard]] request issend(R&& data, int pe, int tag) noexcept {
  return face_detail::begun([&](shmemx_request_t* to) {
    shmemx_issend(face_detail::data_of(data), face_detail::bytes_of(data), pe, tag, to);
  });
}
template <face_detail::lasting_range R>
[[nodiscard]] request irecv(R&& memory, int pe = any_source, int tag = any_tag) noexcept {
  return face_detail::begun(
      [&](shmemx_request_t* to) {
        shmemx_irecv(face_detail::memory_of(memory), face_detail::bytes_of(memory), pe, tag, to);
      },
      request::kind::receive);
}

// Find a message and do not receive it; iprobe does not wait.
inline message_status probe(int pe = any_source, int tag = any_tag) noexcept {
  shmemx_status_t status = {};
  shmemx_probe(pe, tag, &status);
  return message_status(status);
}
inline std::optional<message_status> iprobe(int pe = any_source, int tag = any_tag) noexcept {
  shmemx_status_t status = {};
  int is_there = 0;
  shmemx_iprobe(pe, tag, &is_there, &status);
  if (is_there == 0) return std::nullopt;
  return message_status(status);
}

// ---- Collectives in the background: memory may be private ----

[[nodiscard]] inline request barrier_nb(const team& of) noexcept {
  return face_detail::begun([&](shmemx_request_t* to) { shmemx_barrier_nb(of.handle(), to); });
}
// From the source of PE `root` of the team to the memory of all. Its length is that of the memory.
template <face_detail::lasting_range M, face_detail::lasting_range R>
[[nodiscard]] request broadcast_nb(const team& of, M&& memory, R&& source, int root) noexcept {
  return face_detail::begun([&](shmemx_request_t* to) {
    shmemx_broadcast_nb(of.handle(), face_detail::memory_of(memory), face_detail::data_of(source),
                        face_detail::bytes_of(memory), root, to);
  });
}
// All sources, of equal length, one after the other.
template <face_detail::lasting_range M, face_detail::lasting_range R>
[[nodiscard]] request fcollect_nb(const team& of, M&& memory, R&& source) noexcept {
  return face_detail::begun([&](shmemx_request_t* to) {
    shmemx_fcollect_nb(of.handle(), face_detail::memory_of(memory), face_detail::data_of(source),
                       face_detail::bytes_of(source), to);
  });
}
// Block k of PE l becomes block l of PE k; `block` is the number of elements of a block.
template <face_detail::lasting_range M, face_detail::lasting_range R>
[[nodiscard]] request alltoall_nb(const team& of, M&& memory, R&& source, std::size_t block) noexcept {
  return face_detail::begun([&](shmemx_request_t* to) {
    shmemx_alltoall_nb(of.handle(), face_detail::memory_of(memory), face_detail::data_of(source),
                       block * sizeof(face_detail::element_of<R>), to);
  });
}
// Element i of the memory combines element i of all sources: op::sum and the like, without replace and no_op.
template <face_detail::lasting_range M, face_detail::lasting_range R>
requires detail::word<std::remove_const_t<face_detail::element_of<R>>>
[[nodiscard]] request reduce_nb(const team& of, M&& memory, R&& source, op operation) noexcept {
  using value = std::remove_const_t<face_detail::element_of<R>>;
  static_assert(std::is_same_v<value, face_detail::element_of<M>>, "shmemx: source and memory have one type");
  return face_detail::begun([&](shmemx_request_t* to) {
    shmemx_reduce_nb(of.handle(), face_detail::memory_of(memory), face_detail::data_of(source),
                     static_cast<std::size_t>(std::ranges::size(source)), detail::type_of<value>(),
                     static_cast<int>(operation), to);
  });
}

}  // namespace shmemx

#include "alltoallv.hpp"
#include "pieces.hpp"

#endif
