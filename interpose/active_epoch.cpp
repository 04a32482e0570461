// Active target: fence, and post, start, complete, wait.
#include <numeric>

#include "interpose/below.hpp"
#include "interpose/control.hpp"
#include "interpose/epoch.hpp"
#include "interpose/errors.hpp"
#include "interpose/job.hpp"
#include "interpose/operation.hpp"

namespace shmemx::interpose {
namespace {

void begin_access(Window& window, Access access) {
  window.epochs.access = access;
  window.epochs.has_fenced.store(false, std::memory_order_relaxed);
  next_epoch(window.epochs);
}

bool holds_own_lock(const Window& window) {
  return window.epochs.access == Access::lock_all ||
         window.targets[static_cast<std::size_t>(window.own.rank)].lock != Lock::none;
}

// Sets `ranks` to the ranks of the group's processes in the window. Returns an error class.
int ranks_of(const Window& window, MPI_Group group, std::vector<int>& ranks) {
  if (group == MPI_GROUP_NULL) return wrong(MPI_ERR_GROUP, "the group is null");
  int size = 0;
  below().Group_size(group, &size);
  std::vector<int> numbers(static_cast<std::size_t>(size));
  std::iota(numbers.begin(), numbers.end(), 0);
  ranks.resize(static_cast<std::size_t>(size));
  below().Group_translate_ranks(group, size, numbers.data(), window.group, ranks.data());
  for (const int rank : ranks)
    if (rank == MPI_UNDEFINED) return wrong(MPI_ERR_GROUP, "the group is not part of the window's group");
  return MPI_SUCCESS;
}

// Notes that the memory is exposed, unless another process holds its lock: that process sees the note, or this one the
// lock. The release of a lock by a process of another node may still be under way, so there nothing is looked up.
// Exposed to no process, the memory may be locked.
int expose(Window& window) {
  Target& own = window.targets[static_cast<std::size_t>(window.own.rank)];
  if (const int code = attach(window, own); code != MPI_SUCCESS) return code;
  control::set_exposed(window, true);
  if (!window.is_on_node) return MPI_SUCCESS;
  const int code = shmemx_window_trylock(own.control, SHMEMX_LOCK_EXCLUSIVE);
  if (code == SHMEMX_SUCCESS) return class_of(shmemx_window_unlock(own.control));
  control::set_exposed(window, false);
  if (code != SHMEMX_ERR_BUSY) return class_of(code);
  return wrong(MPI_ERR_RMA_CONFLICT, "another process has locked the memory of this one");
}

constexpr int kFenceAsserts = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
constexpr int kPostAsserts = MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT;

int check_assert(int assert, int allowed) {
  return (assert & ~allowed) == 0 ? MPI_SUCCESS : wrong(MPI_ERR_ASSERT, "an assertion is not one of this routine's");
}

}  // namespace

int check_no_access(const Window& window) {
  const Epochs& epochs = window.epochs;
  if (epochs.access == Access::none) return MPI_SUCCESS;
  if (epochs.access != Access::fence) return wrong(MPI_ERR_RMA_SYNC, "an access epoch of another kind is open");
  if (!epochs.has_fenced.load(std::memory_order_relaxed)) return MPI_SUCCESS;
  return wrong(MPI_ERR_RMA_SYNC, "the operations behind a fence have to be followed by another one");
}

int fence(Window& window, int assert) {
  if (const int code = check_assert(assert, kFenceAsserts); code != MPI_SUCCESS) return code;
  if (window.epochs.access != Access::none && window.epochs.access != Access::fence)
    return wrong(MPI_ERR_RMA_SYNC, "an access epoch is open that this call cannot end");
  if (window.epochs.is_exposed) return wrong(MPI_ERR_RMA_SYNC, "an exposure epoch is open");
  const int result = flush_all(window);
  const int code = control::barrier(window);
  begin_access(window, (assert& MPI_MODE_NOSUCCEED) != 0 ? Access::none : Access::fence);
  return result != MPI_SUCCESS ? result : code;
}

int start(Window& window, MPI_Group group, int assert) {
  Epochs& epochs = window.epochs;
  if (const int code = check_assert(assert, MPI_MODE_NOCHECK); code != MPI_SUCCESS) return code;
  if (const int code = check_no_access(window); code != MPI_SUCCESS) return code;
  if (const int code = ranks_of(window, group, epochs.started); code != MPI_SUCCESS) return code;
  begin_access(window, Access::start);
  for (const int rank : epochs.started) {
    const std::size_t word = control::posts(window.size, rank);
    if ((assert& MPI_MODE_NOCHECK) == 0) {
      control::await(window, word, 1);
      control::take(window, word, 1);
    }
    window.targets[static_cast<std::size_t>(rank)].open.store(epochs.number.load(std::memory_order_relaxed),
                                                              std::memory_order_relaxed);
  }
  return MPI_SUCCESS;
}

int complete(Window& window) {
  if (window.epochs.access != Access::start) return wrong(MPI_ERR_RMA_SYNC, "no access epoch of MPI_Win_start is open");
  int result = MPI_SUCCESS;
  for (const int rank : window.epochs.started) {
    // The target waits for the notice, whatever has become of the operations.
    Target& target = window.targets[static_cast<std::size_t>(rank)];
    const int completed = complete_before_notice(window, rank);
    const int code = control::notify_behind_puts(window, target, control::completions());
    if (result == MPI_SUCCESS) result = completed != MPI_SUCCESS ? completed : code;
  }
  begin_access(window, Access::none);
  return result;
}

int post(Window& window, MPI_Group group, int assert) {
  std::vector<int> ranks;
  if (const int code = check_assert(assert, kPostAsserts); code != MPI_SUCCESS) return code;
  if (window.epochs.is_exposed) return wrong(MPI_ERR_RMA_SYNC, "an exposure epoch is open");
  if (holds_own_lock(window)) return wrong(MPI_ERR_RMA_SYNC, "this process has locked its own memory");
  if (const int code = ranks_of(window, group, ranks); code != MPI_SUCCESS) return code;
  if (!ranks.empty())
    if (const int code = expose(window); code != MPI_SUCCESS) return code;
  window.epochs.is_exposed = true;
  window.epochs.awaited = ranks.size();
  if ((assert& MPI_MODE_NOCHECK) != 0) return MPI_SUCCESS;
  int result = MPI_SUCCESS;
  for (const int rank : ranks) {
    const std::size_t word = control::posts(window.size, window.own.rank);
    const int code = control::notify(window, window.targets[static_cast<std::size_t>(rank)], word);
    if (result == MPI_SUCCESS) result = code;
  }
  return result;
}

int wait(Window& window) {
  if (!window.epochs.is_exposed) return wrong(MPI_ERR_RMA_SYNC, "no exposure epoch is open");
  control::set_exposed(window, false);  // MPI allows locks as soon as this has been called
  control::await(window, control::completions(), window.epochs.awaited);
  control::take(window, control::completions(), window.epochs.awaited);
  window.epochs.is_exposed = false;
  return MPI_SUCCESS;
}

int test(Window& window, int* flag) {
  if (flag == nullptr) return no_place();
  if (!window.epochs.is_exposed) return wrong(MPI_ERR_RMA_SYNC, "no exposure epoch is open");
  if (!control::has(window, control::completions(), window.epochs.awaited)) {
    shmemx_am_poll();
    poll_mpi();
  }
  *flag = control::has(window, control::completions(), window.epochs.awaited) ? 1 : 0;
  return *flag != 0 ? wait(window) : MPI_SUCCESS;
}

}  // namespace shmemx::interpose
