// One wait for different things: counters, requests, messages, values and functions of the program.
#include <shmemx/window_sync.h>

#include "am/endpoint.hpp"
#include "api/arg_check.hpp"
#include "api/request_handles.hpp"
#include "api/waitable.hpp"
#include "base/fatal.hpp"
#include "progress/test_loop.hpp"
#include "progress/wait.hpp"
#include "public_windows/completion.hpp"

namespace api = shmemx::api;
namespace context = shmemx::context;
namespace pt2pt = shmemx::pt2pt;

namespace {

[[noreturn, gnu::cold, gnu::noinline]] void bad_event(const char* routine, size_t i, const char* allowed) noexcept {
  shmemx::fatal(routine, "argument 'events[%zu]' is wrong, allowed %s", i, allowed);
}

void check_request(const char* routine, const shmemx_event_t& event, size_t i) noexcept {
  if (event.object == nullptr) bad_event(routine, i, "are pointers to requests");
  const shmemx_request_t request = *static_cast<const shmemx_request_t*>(event.object);
  if (request != SHMEMX_REQUEST_NULL && !pt2pt::is_open(api::id_of(request)))
    bad_event(routine, i, "are requests that were started and not yet completed, and SHMEMX_REQUEST_NULL");
}

void check_message(const char* routine, const shmemx_event_t& event, size_t i) noexcept {
  if (event.source_pe != SHMEMX_ANY_SOURCE && !context::pe_in_range(api::default_context(), event.source_pe))
    bad_event(routine, i, "is a source_pe that exists, or SHMEMX_ANY_SOURCE");
  if (event.tag < SHMEMX_ANY_TAG) bad_event(routine, i, "is a tag from 0 on, or SHMEMX_ANY_TAG");
}

void check_event(const char* routine, const shmemx_event_t& event, size_t i) noexcept {
  switch (event.kind) {
    case SHMEMX_EVENT_NONE:
      return;
    case SHMEMX_EVENT_COUNTER:
      if (event.object == nullptr) bad_event(routine, i, "are pointers to counters");
      return;
    case SHMEMX_EVENT_REQUEST:
      return check_request(routine, event, i);
    case SHMEMX_EVENT_MESSAGE:
      return check_message(routine, event, i);
    case SHMEMX_EVENT_VALUE:
      if (api::Waitable::check(event.object, event.type, event.comparison) != SHMEMX_SUCCESS)
        bad_event(routine, i, "are aligned integers and comparisons of the standard");
      return;
    case SHMEMX_EVENT_FUNCTION:
      if (event.function == nullptr) bad_event(routine, i, "are functions");
      return;
    default:
      bad_event(routine, i, "are the kinds SHMEMX_EVENT_NONE to SHMEMX_EVENT_FUNCTION");
  }
}

bool is_complete(shmemx_request_t request) noexcept {
  return request == SHMEMX_REQUEST_NULL || pt2pt::look_at(api::id_of(request)) != pt2pt::TestAnswer::open;
}

bool has_happened(const char* routine, const shmemx_event_t& event) noexcept {
  switch (event.kind) {
    case SHMEMX_EVENT_COUNTER:
      return shmemx::public_windows::is_complete(static_cast<const long*>(event.object));
    case SHMEMX_EVENT_REQUEST:
      return is_complete(*static_cast<const shmemx_request_t*>(event.object));
    case SHMEMX_EVENT_MESSAGE: {
      pt2pt::Result ignored;
      return pt2pt::find_message({routine, event.source_pe, event.tag}, ignored);
    }
    case SHMEMX_EVENT_VALUE:
      return api::Waitable(event.object, event.type, event.comparison, event.reference).holds();
    case SHMEMX_EVENT_FUNCTION:
      return event.function(const_cast<void*>(event.object)) != 0;
    default:
      return false;
  }
}

// The events of one call.
struct Events {
  const char* routine;
  const shmemx_event_t* all;
  size_t count;

  // Returns whether there is something to wait for.
  bool check() const noexcept {
    context::require_initialized(routine);
    if (count != 0) api::check_array(routine, "events", all);
    bool any = false;
    for (size_t i = 0; i < count; ++i) {
      check_event(routine, all[i], i);
      any |= all[i].kind != SHMEMX_EVENT_NONE;
    }
    return any;
  }
  // Returns the first that has happened, `count` if none has.
  size_t find() const noexcept {
    size_t i = 0;
    while (i < count && !has_happened(routine, all[i])) ++i;
    return i;
  }
};

}  // namespace

extern "C" {

size_t shmemx_event_wait(const shmemx_event_t* events, size_t count) noexcept {
  const Events set{"shmemx_event_wait", events, count};
  if (!set.check()) return count;
  size_t found = count;
  const auto look = [&] { return (found = set.find()) != count; };
  if (look()) return found;
  if (shmemx::progress::is_open()) {
    shmemx::progress::wait_until(set.routine, -1, look);
  } else {
    shmemx::progress::wait_for(set.routine, look);
  }
  return found;
}

size_t shmemx_event_test(const shmemx_event_t* events, size_t count) noexcept {
  const Events set{"shmemx_event_test", events, count};
  if (!set.check()) return count;
  size_t found = set.find();
  if (found != count) return found;
  if (shmemx::progress::is_open()) {
    shmemx::am::poll();
    found = set.find();
  }
  if (found == count) shmemx::progress::test_failed();
  return found;
}

}  // extern "C"
