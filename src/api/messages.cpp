// Entry points of two-sided messages: argument checks and handles of requests.
#include <shmemx/messages.h>

#include <cstdint>

#include "api/arg_check.hpp"
#include "api/observed.hpp"
#include "api/request_handles.hpp"
#include "base/fatal.hpp"
#include "progress/test_loop.hpp"
#include "pt2pt/messages.hpp"

namespace api = shmemx::api;
namespace context = shmemx::context;
namespace pt2pt = shmemx::pt2pt;

namespace {

using api::check_memory;
using api::handle_of;
using api::id_of;
using pt2pt::Call;
using pt2pt::RequestId;
using pt2pt::Result;
using shmemx::rma::Shape;

static_assert(pt2pt::kAny == SHMEMX_ANY_SOURCE && pt2pt::kAny == SHMEMX_ANY_TAG);
static_assert(sizeof(shmemx_iov_t) == sizeof(pt2pt::Place) &&
              offsetof(shmemx_iov_t, bytes) == offsetof(pt2pt::Place, bytes));

[[noreturn, gnu::cold, gnu::noinline]] void bad_pe(const char* routine, const char* argument, int pe,
                                                   bool any) noexcept {
  context::require_initialized(routine);
  shmemx::fatal(routine, "argument '%s' is %d, allowed are 0..%u (team WORLD)%s", argument, pe,
                api::default_context().n_pes - 1, any ? " and SHMEMX_ANY_SOURCE" : "");
}

[[noreturn, gnu::cold, gnu::noinline]] void bad_tag(const char* routine, int tag, bool any) noexcept {
  context::require_initialized(routine);
  shmemx::fatal(routine, "argument 'tag' is %d, allowed are 0..%d%s", tag, SHMEMX_TAG_MAX,
                any ? " and SHMEMX_ANY_TAG" : "");
}

[[noreturn, gnu::cold, gnu::noinline]] void bad_request(const char* routine, std::uintptr_t value) noexcept {
  context::require_initialized(routine);
  shmemx::fatal(
      routine,
      "argument 'request' is %#zx, which is not an open request, allowed are SHMEMX_REQUEST_NULL and requests "
      "that were started and not yet completed",
      value);
}

[[gnu::always_inline]] inline void check_send(const Call& call, const char* argument = "pe") noexcept {
  if (!context::pe_in_range(api::default_context(), call.pe)) [[unlikely]]
    bad_pe(call.routine, argument, call.pe, false);
  if (call.tag < 0) [[unlikely]]
    bad_tag(call.routine, call.tag, false);
}

// Returns whether the call names a source.
[[gnu::always_inline]] inline bool check_receive(const Call& call, const char* argument = "pe") noexcept {
  if (call.tag < SHMEMX_ANY_TAG) [[unlikely]]
    bad_tag(call.routine, call.tag, true);
  if (context::pe_in_range(api::default_context(), call.pe)) [[likely]]
    return true;
  context::require_initialized(call.routine);
  if (call.pe != SHMEMX_ANY_SOURCE) bad_pe(call.routine, argument, call.pe, true);
  return false;
}

Shape list_shape(const char* routine, const shmemx_iov_t* list, size_t count) noexcept {
  if (count != 0) api::check_array(routine, "list", list);
  for (size_t i = 0; i < count; ++i) {
    if (list[i].base != nullptr || list[i].bytes == 0) continue;
    context::require_initialized(routine);
    shmemx::fatal(routine, "argument 'list[%zu].base' is null for %zu bytes, allowed are pointers to that many bytes",
                  i, list[i].bytes);
  }
  const Shape shape = Shape::of_local_list(reinterpret_cast<const pt2pt::Place*>(list), count);
  if (shape.fit != Shape::Fit::fits) {
    context::require_initialized(routine);
    shmemx::fatal(routine, "argument 'list' has %zu pieces of more than %zu bytes in all, allowed is at most that",
                  count, SIZE_MAX);
  }
  return shape;
}

struct Strides {
  size_t block_bytes;
  ptrdiff_t stride_bytes;
  size_t blocks;
};

Shape strided_shape(const char* routine, const char* argument, const void* base, const Strides& strides) noexcept {
  const Shape shape = Shape::strided(base, strides.block_bytes, strides.stride_bytes, strides.blocks);
  if (shape.fit != Shape::Fit::fits) {
    context::require_initialized(routine);
    shmemx::fatal(routine,
                  "argument 'blocks' is %zu, allowed are numbers of blocks (of %zu bytes, %td apart) that fit "
                  "into memory",
                  strides.blocks, strides.block_bytes, strides.stride_bytes);
  }
  check_memory(routine, argument, base, shape.bytes);
  return shape;
}

// ---- results and handles ----

int give_result(const Result& result, shmemx_status_t* status) noexcept {
  const int error = result.truncated ? SHMEMX_ERR_TRUNCATE : 0;
  if (status != nullptr) *status = {result.source, result.tag, result.bytes, error, result.cancelled ? 1 : 0};
  return error;
}

constexpr Result kNothing{SHMEMX_ANY_SOURCE, SHMEMX_ANY_TAG, 0, false, false};

[[noreturn]] void reject(const char* routine, shmemx_request_t request) noexcept {
  bad_request(routine, reinterpret_cast<std::uintptr_t>(request));
}

void check_request(const char* routine, const shmemx_request_t* request) noexcept {
  context::require_initialized(routine);
  api::check_result(routine, "request", request);
}

void check_requests(const char* routine, const shmemx_request_t* requests, size_t count) noexcept {
  context::require_initialized(routine);
  if (count != 0) api::check_array(routine, "requests", requests);
}

api::ObservedCall sending(const Call& call) noexcept { return {call.routine, shmemx::stats::Family::message}; }

void send_shape(const Call& call, const Shape& shape, bool synchronous) noexcept {
  const api::Observed span(api::default_context(), sending(call), call.pe, shape.bytes);
  pt2pt::send(call, shape, synchronous);
}

int start_send(const Call& call, const Shape& shape, bool synchronous, shmemx_request_t* request) noexcept {
  api::check_result(call.routine, "request", request);
  const api::Observed span(api::default_context(), sending(call), call.pe, shape.bytes);
  *request = handle_of(pt2pt::start_send(call, shape, synchronous));
  return 0;
}

[[gnu::noinline]] RequestId start_observed(Call call, const void* source, size_t bytes) noexcept {
  const api::Observed span(api::default_context(), sending(call), call.pe, bytes);
  return pt2pt::start_send_contiguous(call, source, bytes);
}
[[gnu::always_inline]] inline RequestId start_send(Call call, const void* source, size_t bytes) noexcept {
  if (shmemx::stats::is_on()) [[unlikely]]
    return start_observed(call, source, bytes);
  return pt2pt::start_send_contiguous(call, source, bytes);
}

int start_receive(const Call& call, const Shape& shape, shmemx_request_t* request) noexcept {
  api::check_result(call.routine, "request", request);
  *request = handle_of(pt2pt::start_receive(call, shape));
  return 0;
}

// Apart from the shortest paths, which keep nothing in memory then. The parameters stand in the order of the entry
// points', whose jumps to here move none of them.
[[gnu::noinline]] int send_slowly(const void* source, size_t bytes, int pe, int tag) noexcept {
  const Call call{"shmemx_send", pe, tag};
  const api::Observed span(api::default_context(), sending(call), pe, bytes);
  pt2pt::send_contiguous(call, source, bytes);
  return 0;
}
[[gnu::noinline]] int send_block(const void* source, size_t bytes, int pe, int tag) noexcept {
  if (!shmemx::stats::is_on() && pt2pt::send_at_once(pe, tag, source, bytes)) [[likely]]
    return 0;
  return send_slowly(source, bytes, pe, tag);
}
[[gnu::noinline]] int receive_slowly(void* dest, size_t bytes, int pe, int tag, shmemx_status_t* status) noexcept {
  const Call call{"shmemx_recv", pe, tag};
  shmemx::stats::Span span;
  const bool is_observed = shmemx::stats::is_on();
  if (is_observed) span.begin({call.routine, shmemx::stats::Family::receive, {}, -1, 0, 0}, nullptr);
  const Result result = pt2pt::receive_contiguous(call, {static_cast<std::byte*>(dest), bytes});
  if (is_observed) span.set_message(result.source, api::path_to(result.source), result.bytes);
  return give_result(result, status);
}
[[gnu::noinline]] int receive_block(void* dest, size_t bytes, int pe, int tag, shmemx_status_t* status) noexcept {
  Result result;
  if (!shmemx::stats::is_on() && pt2pt::receive_at_once({pe, tag}, {static_cast<std::byte*>(dest), bytes}, result))
      [[likely]]
    return give_result(result, status);
  return receive_slowly(dest, bytes, pe, tag, status);
}
[[gnu::noinline, gnu::cold]] int succeed_and_wake(shmemx::Doorbell& doorbell) noexcept {
  shmemx::wake_sleepers(doorbell);
  return 0;
}

// Lets other PEs run while a program polls in a loop.
void look_again_later() noexcept { shmemx::progress::repeated_test(nullptr, 0); }

}  // namespace

extern "C" {

// ---- blocking ----

int shmemx_send(const void* source, size_t bytes, int pe, int tag) noexcept {
  const Call call{"shmemx_send", pe, tag};
  check_send(call);
  check_memory(call.routine, "source", source, bytes);
  if (bytes != pt2pt::kWordBytes) return send_block(source, bytes, pe, tag);
  shmemx::Doorbell* const doorbell = shmemx::stats::is_on() ? nullptr : pt2pt::send_word_at_once(pe, tag, source);
  if (doorbell == nullptr) [[unlikely]]
    return send_slowly(source, bytes, pe, tag);
  if (shmemx::has_sleepers(*doorbell)) [[unlikely]]
    return succeed_and_wake(*doorbell);
  return 0;
}

int shmemx_ssend(const void* source, size_t bytes, int pe, int tag) noexcept {
  const Call call{"shmemx_ssend", pe, tag};
  check_send(call);
  check_memory(call.routine, "source", source, bytes);
  send_shape(call, Shape::contiguous(source, bytes), true);
  return 0;
}

int shmemx_recv(void* dest, size_t bytes, int pe, int tag, shmemx_status_t* status) noexcept {
  const Call call{"shmemx_recv", pe, tag};
  check_memory(call.routine, "dest", dest, bytes);
  if (!check_receive(call)) return receive_slowly(dest, bytes, pe, tag, status);
  if (bytes != pt2pt::kWordBytes) return receive_block(dest, bytes, pe, tag, status);
  std::int32_t its_tag = 0;
  shmemx::Doorbell* const doorbell =
      shmemx::stats::is_on() ? nullptr : pt2pt::receive_word_at_once({pe, tag}, dest, its_tag);
  if (doorbell == nullptr) [[unlikely]]
    return receive_slowly(dest, bytes, pe, tag, status);
  give_result({pe, its_tag, bytes, false, false}, status);
  if (shmemx::has_sleepers(*doorbell)) [[unlikely]]
    return succeed_and_wake(*doorbell);
  return 0;
}

int shmemx_sendrecv(const void* source, size_t source_bytes, int dest_pe, int send_tag, void* dest, size_t dest_bytes,
                    int source_pe, int recv_tag, shmemx_status_t* status) noexcept {
  const Call send{"shmemx_sendrecv", dest_pe, send_tag};
  const Call receive{"shmemx_sendrecv", source_pe, recv_tag};
  check_send(send, "dest_pe");
  check_receive(receive, "source_pe");
  check_memory(send.routine, "source", source, source_bytes);
  check_memory(send.routine, "dest", dest, dest_bytes);
  const RequestId sent = start_send(send, source, source_bytes);
  const Result result = pt2pt::receive_contiguous(receive, {static_cast<std::byte*>(dest), dest_bytes});
  Result ignored;
  pt2pt::wait(send.routine, sent, ignored);
  return give_result(result, status);
}

// ---- started ----

int shmemx_isend(const void* source, size_t bytes, int pe, int tag, shmemx_request_t* request) noexcept {
  const Call call{"shmemx_isend", pe, tag};
  check_send(call);
  check_memory(call.routine, "source", source, bytes);
  api::check_result(call.routine, "request", request);
  *request = handle_of(start_send(call, source, bytes));
  return 0;
}

int shmemx_issend(const void* source, size_t bytes, int pe, int tag, shmemx_request_t* request) noexcept {
  const Call call{"shmemx_issend", pe, tag};
  check_send(call);
  check_memory(call.routine, "source", source, bytes);
  return start_send(call, Shape::contiguous(source, bytes), true, request);
}

int shmemx_irecv(void* dest, size_t bytes, int pe, int tag, shmemx_request_t* request) noexcept {
  const Call call{"shmemx_irecv", pe, tag};
  check_receive(call);
  check_memory(call.routine, "dest", dest, bytes);
  api::check_result(call.routine, "request", request);
  *request = handle_of(pt2pt::start_receive_contiguous(call, {static_cast<std::byte*>(dest), bytes}));
  return 0;
}

// ---- lists and blocks ----

int shmemx_sendv(const shmemx_iov_t* list, size_t count, int pe, int tag) noexcept {
  const Call call{"shmemx_sendv", pe, tag};
  check_send(call);
  send_shape(call, list_shape(call.routine, list, count), false);
  return 0;
}

int shmemx_recvv(const shmemx_iov_t* list, size_t count, int pe, int tag, shmemx_status_t* status) noexcept {
  const Call call{"shmemx_recvv", pe, tag};
  check_receive(call);
  return give_result(pt2pt::receive(call, list_shape(call.routine, list, count)), status);
}

int shmemx_isendv(const shmemx_iov_t* list, size_t count, int pe, int tag, shmemx_request_t* request) noexcept {
  const Call call{"shmemx_isendv", pe, tag};
  check_send(call);
  return start_send(call, list_shape(call.routine, list, count), false, request);
}

int shmemx_irecvv(const shmemx_iov_t* list, size_t count, int pe, int tag, shmemx_request_t* request) noexcept {
  const Call call{"shmemx_irecvv", pe, tag};
  check_receive(call);
  return start_receive(call, list_shape(call.routine, list, count), request);
}

int shmemx_send_strided(const void* source, size_t block_bytes, ptrdiff_t stride_bytes, size_t blocks, int pe,
                        int tag) noexcept {
  const Call call{"shmemx_send_strided", pe, tag};
  check_send(call);
  send_shape(call, strided_shape(call.routine, "source", source, {block_bytes, stride_bytes, blocks}), false);
  return 0;
}

int shmemx_recv_strided(void* dest, size_t block_bytes, ptrdiff_t stride_bytes, size_t blocks, int pe, int tag,
                        shmemx_status_t* status) noexcept {
  const Call call{"shmemx_recv_strided", pe, tag};
  check_receive(call);
  const Shape shape = strided_shape(call.routine, "dest", dest, {block_bytes, stride_bytes, blocks});
  return give_result(pt2pt::receive(call, shape), status);
}

int shmemx_isend_strided(const void* source, size_t block_bytes, ptrdiff_t stride_bytes, size_t blocks, int pe, int tag,
                         shmemx_request_t* request) noexcept {
  const Call call{"shmemx_isend_strided", pe, tag};
  check_send(call);
  const Shape shape = strided_shape(call.routine, "source", source, {block_bytes, stride_bytes, blocks});
  return start_send(call, shape, false, request);
}

int shmemx_irecv_strided(void* dest, size_t block_bytes, ptrdiff_t stride_bytes, size_t blocks, int pe, int tag,
                         shmemx_request_t* request) noexcept {
  const Call call{"shmemx_irecv_strided", pe, tag};
  check_receive(call);
  const Shape shape = strided_shape(call.routine, "dest", dest, {block_bytes, stride_bytes, blocks});
  return start_receive(call, shape, request);
}

// ---- looking ----

int shmemx_probe(int pe, int tag, shmemx_status_t* status) noexcept {
  const Call call{"shmemx_probe", pe, tag};
  check_receive(call);
  Result result;
  pt2pt::await_message(call, result);
  return give_result(result, status);
}

int shmemx_iprobe(int pe, int tag, int* flag, shmemx_status_t* status) noexcept {
  const Call call{"shmemx_iprobe", pe, tag};
  check_receive(call);
  api::check_result(call.routine, "flag", flag);
  Result result;
  *flag = pt2pt::find_message(call, result) ? 1 : 0;
  if (*flag != 0) return give_result(result, status);
  look_again_later();
  return 0;
}

// ---- completing ----

int shmemx_wait(shmemx_request_t* request, shmemx_status_t* status) noexcept {
  const char* const routine = "shmemx_wait";
  check_request(routine, request);
  Result result = kNothing;
  if (*request != SHMEMX_REQUEST_NULL && !pt2pt::wait(routine, id_of(*request), result)) reject(routine, *request);
  *request = SHMEMX_REQUEST_NULL;
  return give_result(result, status);
}

int shmemx_test(shmemx_request_t* request, int* flag, shmemx_status_t* status) noexcept {
  const char* const routine = "shmemx_test";
  check_request(routine, request);
  api::check_result(routine, "flag", flag);
  Result result = kNothing;
  *flag = 1;
  if (*request != SHMEMX_REQUEST_NULL) {
    const pt2pt::TestAnswer answer = pt2pt::test(id_of(*request), result);
    if (answer == pt2pt::TestAnswer::unknown) reject(routine, *request);
    *flag = answer == pt2pt::TestAnswer::complete ? 1 : 0;
  }
  if (*flag == 0) {
    look_again_later();
    return 0;
  }
  *request = SHMEMX_REQUEST_NULL;
  return give_result(result, status);
}

int shmemx_waitall(size_t count, shmemx_request_t* requests, shmemx_status_t* statuses) noexcept {
  const char* const routine = "shmemx_waitall";
  check_requests(routine, requests, count);
  int worst = 0;
  const auto give = [&](size_t i, const Result& result) {
    requests[i] = SHMEMX_REQUEST_NULL;
    if (give_result(result, statuses == nullptr ? nullptr : statuses + i) != 0) worst = SHMEMX_ERR_TRUNCATE;
  };
  for (size_t i = 0; i < count; ++i) {
    const auto id = [&](size_t k) { return id_of(requests[i + k]); };
    i += pt2pt::take_complete(count - i, id, [&](size_t k, const Result& result) { give(i + k, result); });
    if (i == count) break;
    Result result = kNothing;
    if (requests[i] != SHMEMX_REQUEST_NULL && !pt2pt::wait(routine, id_of(requests[i]), result))
      reject(routine, requests[i]);
    give(i, result);
  }
  return worst;
}

int shmemx_waitany(size_t count, shmemx_request_t* requests, size_t* index, shmemx_status_t* status) noexcept {
  const char* const routine = "shmemx_waitany";
  check_requests(routine, requests, count);
  api::check_result(routine, "index", index);
  const auto next = [](const void* handles, size_t i) {
    return id_of(static_cast<const shmemx_request_t*>(handles)[i]);
  };
  for (size_t i = 0; i < count; ++i) {
    if (requests[i] != SHMEMX_REQUEST_NULL && !pt2pt::is_open(id_of(requests[i]))) reject(routine, requests[i]);
  }
  *index = pt2pt::wait_any(routine, count, next, requests);
  Result result = kNothing;
  if (*index == count) return give_result(result, status);
  pt2pt::wait(routine, id_of(requests[*index]), result);
  requests[*index] = SHMEMX_REQUEST_NULL;
  return give_result(result, status);
}

int shmemx_cancel(shmemx_request_t* request) noexcept {
  const char* const routine = "shmemx_cancel";
  check_request(routine, request);
  if (*request == SHMEMX_REQUEST_NULL) return 0;
  switch (pt2pt::cancel(id_of(*request))) {
    case pt2pt::CancelAnswer::unknown:
      reject(routine, *request);
    case pt2pt::CancelAnswer::a_send:
      shmemx::fatal(routine, "argument 'request' is a send, allowed are receives");
    case pt2pt::CancelAnswer::an_operation:
      shmemx::fatal(routine, "argument 'request' is a collective, allowed are receives");
    case pt2pt::CancelAnswer::done:
      break;
  }
  return 0;
}

}  // extern "C"
