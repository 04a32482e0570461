// Public windows: arguments are checked here, the rest is done in window/.
#include <shmemx/start.h>
#include <shmemx/windows.h>

#include <cstring>

#include "api/observed_window.hpp"
#include "api/window_handles.hpp"
#include "public_windows/attached.hpp"
#include "public_windows/error_detail.hpp"
#include "public_windows/owned.hpp"
#include "public_windows/transfer.hpp"
#include "runtime/public_windows.hpp"

namespace runtime = shmemx::runtime;
namespace stats = shmemx::stats;

namespace {

using namespace shmemx::api::windows;
using window_ops::Direction;

stats::Family family_of(Direction direction) {
  return direction == Direction::put ? stats::Family::put : stats::Family::get;
}

int transfer(const char* routine, shmemx_window_t window, Direction direction, const Shape& target, const Shape& local,
             Mode mode) {
  context::require_initialized(routine);
  if (!window_ops::is_started()) return SHMEMX_ERR_WINDOW;
  return observe({routine, family_of(direction), window, local.bytes},
                 [&] { return window_ops::transfer(routine, number_of(window), direction, target, local, mode); });
}

int transfer_range(const char* routine, shmemx_window_t window, Direction direction, const void* target,
                   window_ops::LocalRange local, Mode mode) {
  context::require_initialized(routine);
  if (!window_ops::is_started()) return SHMEMX_ERR_WINDOW;
  return observe({routine, family_of(direction), window, local.bytes}, [&] {
    return window_ops::transfer_range(routine, number_of(window), direction, target, local, mode);
  });
}

struct Lists {
  const shmemx_iov_t* targets;
  std::size_t target_count;
  const shmemx_iov_t* locals;
  std::size_t local_count;
};

int transfer_lists(const char* routine, shmemx_window_t window, Direction direction, const Lists& lists, Mode mode) {
  if ((lists.targets == nullptr && lists.target_count != 0) || (lists.locals == nullptr && lists.local_count != 0))
    return SHMEMX_ERR_ARGUMENT;
  return transfer(routine, window, direction, shape_of(lists.targets, lists.target_count),
                  local_shape_of(lists.locals, lists.local_count), mode);
}

}  // namespace

extern "C" {

const char* shmemx_error_text(int error) noexcept {
  switch (error) {
    case SHMEMX_SUCCESS:
      return "success";
    case SHMEMX_ERR_TRUNCATE:
      return "the message was longer than the receive";
    case SHMEMX_ERR_ARGUMENT:
      return "wrong argument";
    case SHMEMX_ERR_WINDOW:
      return "not a live window of the kind that is wanted";
    case SHMEMX_ERR_DESCRIPTION:
      return "not a description of a window of this job";
    case SHMEMX_ERR_STALE:
      return "the owner has freed the window";
    case SHMEMX_ERR_RANGE:
      return "outside the window";
    case SHMEMX_ERR_LIST:
      return "the sides of the list differ in length";
    case SHMEMX_ERR_ALIGNMENT:
      return "the address is not aligned to the element's size";
    case SHMEMX_ERR_MEMORY:
      return "no memory or address space";
    case SHMEMX_ERR_LIMIT:
      return "too many windows";
    case SHMEMX_ERR_FAULT:
      return "the system refused an address";
    case SHMEMX_ERR_VERSION:
      return "attributes of another version of the library";
    case SHMEMX_ERR_STARTED:
      return "the library has been started already";
    case SHMEMX_ERR_START:
      return "the library could not start";
    case SHMEMX_ERR_LOCK:
      return "the lock is not held, or held already";
    case SHMEMX_ERR_BUSY:
      return "the lock is held by others";
    case SHMEMX_ERR_OVERLAP:
      return "the range overlaps another one";
    default:
      return "unknown error";
  }
}

const char* shmemx_error_detail(void) noexcept { return window_ops::error_detail(); }

// ---- the owner's side ----

int shmemx_window_allocate(size_t bytes, void** address, shmemx_window_t* window) noexcept {
  const bool ready = runtime::start_windows("shmemx_window_allocate");
  if (address == nullptr || window == nullptr) return SHMEMX_ERR_ARGUMENT;
  *address = nullptr;
  *window = SHMEMX_WINDOW_INVALID;
  if (!ready) return SHMEMX_ERR_MEMORY;
  std::uint64_t handle = 0;
  const int code = window_ops::allocate_window(bytes, address, handle);
  *window = handle_of(handle);
  return code;
}

int shmemx_window_expose(void* address, size_t bytes, shmemx_window_t* window) noexcept {
  const bool ready = runtime::start_windows("shmemx_window_expose");
  if (window == nullptr) return SHMEMX_ERR_ARGUMENT;
  *window = SHMEMX_WINDOW_INVALID;
  if (!ready) return SHMEMX_ERR_MEMORY;
  std::uint64_t handle = 0;
  const int code = window_ops::expose_window(address, bytes, handle);
  *window = handle_of(handle);
  return code;
}

int shmemx_window_expose_ranges(shmemx_window_t* window) noexcept {
  const bool ready = runtime::start_windows("shmemx_window_expose_ranges");
  if (window == nullptr) return SHMEMX_ERR_ARGUMENT;
  *window = SHMEMX_WINDOW_INVALID;
  if (!ready) return SHMEMX_ERR_MEMORY;
  std::uint64_t handle = 0;
  const int code = window_ops::expose_ranges(handle);
  *window = handle_of(handle);
  return code;
}

int shmemx_window_add_range(shmemx_window_t window, void* address, size_t bytes) noexcept {
  context::require_initialized("shmemx_window_add_range");
  return window_ops::add_range(number_of(window), address, bytes);
}

int shmemx_window_remove_range(shmemx_window_t window, void* address) noexcept {
  const char* const routine = "shmemx_window_remove_range";
  context::require_initialized(routine);
  return window_ops::remove_range(routine, number_of(window), address);
}

int shmemx_window_describe(shmemx_window_t window, shmemx_window_description_t* description) noexcept {
  static_assert(sizeof(shmemx_window_description_t) == sizeof(shmemx::windows::Description));
  context::require_initialized("shmemx_window_describe");
  if (description == nullptr) return SHMEMX_ERR_ARGUMENT;
  shmemx::windows::Description made{};
  const int code = window_ops::is_started() ? window_ops::describe_window(number_of(window), made) : SHMEMX_ERR_WINDOW;
  if (code == SHMEMX_SUCCESS) std::memcpy(description, &made, sizeof made);
  return code;
}

int shmemx_window_free(shmemx_window_t window) noexcept {
  context::require_initialized("shmemx_window_free");
  return window_ops::is_started() ? window_ops::free_window("shmemx_window_free", number_of(window))
                                  : SHMEMX_ERR_WINDOW;
}

// ---- the user's side ----

int shmemx_window_attach(const shmemx_window_description_t* description, shmemx_window_t* window) noexcept {
  const bool ready = runtime::start_windows("shmemx_window_attach");
  if (description == nullptr || window == nullptr) return SHMEMX_ERR_ARGUMENT;
  *window = SHMEMX_WINDOW_INVALID;
  if (!ready) return SHMEMX_ERR_MEMORY;
  shmemx::windows::Description read{};
  std::memcpy(&read, description, sizeof read);
  std::uint64_t handle = 0;
  const int code = window_ops::attach_window("shmemx_window_attach", read, handle);
  *window = handle_of(handle);
  return code;
}

int shmemx_window_attach_all(const shmemx_window_description_t* descriptions, size_t count,
                             shmemx_window_t* windows) noexcept {
  const char* const routine = "shmemx_window_attach_all";
  const bool ready = runtime::start_windows(routine);
  if (count != 0 && (descriptions == nullptr || windows == nullptr)) return SHMEMX_ERR_ARGUMENT;
  int code = ready ? SHMEMX_SUCCESS : SHMEMX_ERR_MEMORY;
  size_t attached = 0;
  for (; attached < count && code == SHMEMX_SUCCESS; ++attached) {
    shmemx::windows::Description read{};
    std::memcpy(&read, descriptions + attached, sizeof read);
    std::uint64_t handle = 0;
    code = window_ops::attach_window(routine, read, handle, window_ops::Check::later);
    windows[attached] = handle_of(handle);
  }
  if (code == SHMEMX_SUCCESS) return code;
  for (size_t i = 0; i < count; ++i) {
    if (i < attached) window_ops::detach_window(routine, number_of(windows[i]));
    windows[i] = SHMEMX_WINDOW_INVALID;
  }
  return code;
}

int shmemx_window_detach(shmemx_window_t window) noexcept {
  context::require_initialized("shmemx_window_detach");
  return window_ops::is_started() ? window_ops::detach_window("shmemx_window_detach", number_of(window))
                                  : SHMEMX_ERR_WINDOW;
}

void* shmemx_window_base(shmemx_window_t window) noexcept {
  if (!window_ops::is_started()) return nullptr;
  if (const window_ops::Owned* const own = window_ops::find_owned(number_of(window))) return own->base;
  const window_ops::Attached* const attached = window_ops::find_attached(number_of(window));
  return attached == nullptr ? nullptr : reinterpret_cast<void*>(static_cast<std::uintptr_t>(attached->base));
}

size_t shmemx_window_bytes(shmemx_window_t window) noexcept {
  if (!window_ops::is_started()) return 0;
  if (const window_ops::Owned* const own = window_ops::find_owned(number_of(window))) return own->bytes;
  const window_ops::Attached* const attached = window_ops::find_attached(number_of(window));
  return attached == nullptr ? 0 : attached->bytes;
}

int shmemx_window_owner(shmemx_window_t window) noexcept {
  if (!window_ops::is_started()) return -1;
  if (window_ops::find_owned(number_of(window)) != nullptr) return window_ops::node().me;
  const window_ops::Attached* const attached = window_ops::find_attached(number_of(window));
  return attached == nullptr ? -1 : attached->owner;
}

int shmemx_window_path(shmemx_window_t window) noexcept {
  if (!window_ops::is_started()) return 0;
  if (window_ops::find_owned(number_of(window)) != nullptr) return SHMEMX_WINDOW_MAPPED;
  const window_ops::Attached* const attached = window_ops::find_attached(number_of(window));
  return attached == nullptr ? 0 : static_cast<int>(window_ops::path_of(*attached));
}

void* shmemx_window_ptr(shmemx_window_t window, const void* target, size_t bytes) noexcept {
  if (!window_ops::is_started()) return nullptr;
  const window_ops::Attached* const attached = window_ops::find_attached(number_of(window));
  const std::uint64_t address = window_ops::number_of(target);
  if (attached == nullptr || attached->mapped == nullptr || !window_ops::in_window(*attached, address, bytes) ||
      !window_ops::is_alive(*attached))
    return nullptr;
  return attached->mapped + (address - attached->base);
}

// ---- put and get ----

int shmemx_window_put(shmemx_window_t window, void* target, const void* source, size_t bytes) noexcept {
  return transfer_range("shmemx_window_put", window, Direction::put, target, {source, bytes}, kBlocking);
}

int shmemx_window_get(shmemx_window_t window, void* dest, const void* target, size_t bytes) noexcept {
  return transfer_range("shmemx_window_get", window, Direction::get, target, {dest, bytes}, kBlocking);
}

int shmemx_window_put_nbi(shmemx_window_t window, void* target, const void* source, size_t bytes,
                          long* counter) noexcept {
  return transfer_range("shmemx_window_put_nbi", window, Direction::put, target, {source, bytes}, {false, counter});
}

int shmemx_window_get_nbi(shmemx_window_t window, void* dest, const void* target, size_t bytes,
                          long* counter) noexcept {
  return transfer_range("shmemx_window_get_nbi", window, Direction::get, target, {dest, bytes}, {false, counter});
}

int shmemx_window_putv(shmemx_window_t window, const shmemx_iov_t* targets, size_t target_count,
                       const shmemx_iov_t* sources, size_t source_count) noexcept {
  return transfer_lists("shmemx_window_putv", window, Direction::put, {targets, target_count, sources, source_count},
                        kBlocking);
}

int shmemx_window_getv(shmemx_window_t window, const shmemx_iov_t* dests, size_t dest_count,
                       const shmemx_iov_t* targets, size_t target_count) noexcept {
  return transfer_lists("shmemx_window_getv", window, Direction::get, {targets, target_count, dests, dest_count},
                        kBlocking);
}

int shmemx_window_putv_nbi(shmemx_window_t window, const shmemx_iov_t* targets, size_t target_count,
                           const shmemx_iov_t* sources, size_t source_count, long* counter) noexcept {
  return transfer_lists("shmemx_window_putv_nbi", window, Direction::put,
                        {targets, target_count, sources, source_count}, {false, counter});
}

int shmemx_window_getv_nbi(shmemx_window_t window, const shmemx_iov_t* dests, size_t dest_count,
                           const shmemx_iov_t* targets, size_t target_count, long* counter) noexcept {
  return transfer_lists("shmemx_window_getv_nbi", window, Direction::get, {targets, target_count, dests, dest_count},
                        {false, counter});
}

int shmemx_window_put_strided(shmemx_window_t window, void* target, ptrdiff_t target_stride, const void* source,
                              ptrdiff_t source_stride, size_t block_bytes, size_t blocks) noexcept {
  return transfer("shmemx_window_put_strided", window, Direction::put,
                  Shape::strided(target, block_bytes, target_stride, blocks),
                  Shape::strided(source, block_bytes, source_stride, blocks), kBlocking);
}

int shmemx_window_get_strided(shmemx_window_t window, void* dest, ptrdiff_t dest_stride, const void* target,
                              ptrdiff_t target_stride, size_t block_bytes, size_t blocks) noexcept {
  return transfer("shmemx_window_get_strided", window, Direction::get,
                  Shape::strided(target, block_bytes, target_stride, blocks),
                  Shape::strided(dest, block_bytes, dest_stride, blocks), kBlocking);
}

int shmemx_window_put_strided_nbi(shmemx_window_t window, void* target, ptrdiff_t target_stride, const void* source,
                                  ptrdiff_t source_stride, size_t block_bytes, size_t blocks, long* counter) noexcept {
  return transfer("shmemx_window_put_strided_nbi", window, Direction::put,
                  Shape::strided(target, block_bytes, target_stride, blocks),
                  Shape::strided(source, block_bytes, source_stride, blocks), {false, counter});
}

int shmemx_window_get_strided_nbi(shmemx_window_t window, void* dest, ptrdiff_t dest_stride, const void* target,
                                  ptrdiff_t target_stride, size_t block_bytes, size_t blocks, long* counter) noexcept {
  return transfer("shmemx_window_get_strided_nbi", window, Direction::get,
                  Shape::strided(target, block_bytes, target_stride, blocks),
                  Shape::strided(dest, block_bytes, dest_stride, blocks), {false, counter});
}

}  // extern "C"
