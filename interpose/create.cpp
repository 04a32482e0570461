#include "interpose/create.hpp"

#include <sys/sysinfo.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>

#include "interpose/attributes.hpp"
#include "interpose/below.hpp"
#include "interpose/control.hpp"
#include "interpose/devices.hpp"
#include "interpose/errors.hpp"
#include "interpose/hints.hpp"
#include "interpose/job.hpp"
#include "interpose/operation.hpp"
#include "interpose/recent_targets.hpp"
#include "interpose/serving.hpp"
#include "interpose/shared_memory.hpp"
#include "interpose/waiting.hpp"

namespace shmemx::interpose {
namespace {

int check(const Wanted& wanted) {
  if (!wanted.has_place) return no_place();
  if (wanted.bytes < 0) return wrong(MPI_ERR_SIZE, "the size is negative");
  if (wanted.disp_unit <= 0) return wrong(MPI_ERR_DISP, "the displacement unit is not positive");
  if (wanted.flavor == MPI_WIN_FLAVOR_CREATE && wanted.base == nullptr && wanted.bytes > 0)
    return wrong(MPI_ERR_BASE, "the base is null, but the size is not 0");
  return MPI_SUCCESS;
}

// An empty window of the MPI over this process alone. It gives the handle, and keeps what does not concern memory.
// Windows over several processes may not be possible: Open MPI has none between nodes for programs with threads.
bool make_empty_window(MPI_Win* win) {
  void* unused = nullptr;
  return below().Win_allocate(0, 1, MPI_INFO_NULL, this_process(), &unused, win) == MPI_SUCCESS;
}

// Returns true if the machine does not have this much memory, so that the MPI below would not have it either.
bool exceeds_memory(std::size_t bytes) {
  struct sysinfo machine = {};
  if (::sysinfo(&machine) != 0) return false;
  return bytes / machine.mem_unit > machine.totalram + machine.totalswap;
}

bool make_control(Window& window, Offer& offer) {
  Own& own = window.own;
  void* memory = nullptr;
  const std::size_t bytes = control::bytes(window.size);
  if (shmemx_window_allocate(bytes, &memory, &own.control_window) != SHMEMX_SUCCESS) return false;
  std::memset(memory, 0, bytes);
  own.control = static_cast<std::byte*>(memory);
  offer.control_address = reinterpret_cast<std::uintptr_t>(memory);
  control::begin(window);
  return shmemx_window_describe(own.control_window, &offer.control) == SHMEMX_SUCCESS;
}

// Allocates memory with this alignment, a power of two. Returns a result of shmemx.
int allocate_aligned(std::size_t bytes, std::size_t alignment, Own& own) {
  constexpr std::size_t kAllocated = 64;  // the alignment of all memory
  const std::size_t padding = bytes == 0 || alignment <= kAllocated ? 0 : alignment - kAllocated;
  const int code = shmemx_window_allocate(bytes + padding, &own.base, &own.data);
  if (padding == 0 || code != SHMEMX_SUCCESS) return code;
  std::size_t room = bytes + padding;
  std::align(alignment, bytes, own.base, room);
  return code;
}

// Makes this process's memory accessible to the others. `bytes` is what it allocates, which may be for all.
bool make_data(Window& window, std::size_t bytes, Offer& offer) {
  Own& own = window.own;
  int code = SHMEMX_SUCCESS;
  if (window.flavor == MPI_WIN_FLAVOR_DYNAMIC) {
    code = shmemx_window_expose_ranges(&own.data);
  } else if (window.flavor == MPI_WIN_FLAVOR_CREATE) {
    if (bytes == 0) return true;
    if (is_device_memory(own.base)) return false;
    code = shmemx_window_expose(own.base, bytes, &own.data);
  } else {
    code = allocate_aligned(bytes, window.hints->alignment(), own);
    if (code == SHMEMX_SUCCESS && bytes != 0) offer.base = reinterpret_cast<std::uintptr_t>(own.base);
  }
  return code == SHMEMX_SUCCESS && shmemx_window_describe(own.data, &offer.data) == SHMEMX_SUCCESS;
}

// Returns true if other processes of the node cannot map this process's memory.
bool needs_messages(const Window& window) {
  if (window.flavor == MPI_WIN_FLAVOR_DYNAMIC) return true;
  const auto bytes = static_cast<std::size_t>(window.own.bytes);
  return window.flavor == MPI_WIN_FLAVOR_CREATE && bytes != 0 && !is_shared_memory(window.own.base, bytes);
}

void free_own(Window& window) {
  if (window.own.data != SHMEMX_WINDOW_INVALID) shmemx_window_free(window.own.data);
  if (window.own.control_window == SHMEMX_WINDOW_INVALID) return;
  control::end(window);
  shmemx_window_free(window.own.control_window);
}

// Returns an error class.
int detach_all(Window& window) {
  int result = SHMEMX_SUCCESS;
  for (int rank = 0; rank < window.size; ++rank) {
    Target& target = window.targets[static_cast<std::size_t>(rank)];
    if (!target.attached.exchange(false, std::memory_order_acquire)) continue;
    const bool has_data = target.data != SHMEMX_WINDOW_INVALID;
    if (const int code = has_data ? shmemx_window_detach(target.data) : SHMEMX_SUCCESS; result == SHMEMX_SUCCESS)
      result = code;
    shmemx_window_detach(target.control);
    target.data = target.control = SHMEMX_WINDOW_INVALID;
  }
  window.messaged.clear();
  return class_of(result);
}

// Exchanges the offers. Returns what all processes are able to.
Ability exchange(Window& window, const Offer& own, MPI_Comm communicator) {
  std::vector<Offer> offers(static_cast<std::size_t>(window.size));
  const int bytes = static_cast<int>(sizeof(Offer));
  below().Allgather(&own, bytes, MPI_BYTE, offers.data(), bytes, MPI_BYTE, communicator);
  Ability ability = Ability::full;
  window.has_array_locks = true;
  for (std::size_t i = 0; i < offers.size(); ++i) {
    window.has_array_locks = window.has_array_locks && offers[i].wants_array_locks != 0;
    window.targets[i].offer = offers[i];
    ability = std::min(ability, offers[i].ability);
  }
  return ability;
}

// The memory of a shared window is one block of process 0, in which the others have their parts one after the other, or
// a block of each process. Returns false if this process cannot load and store all of it. An empty part is at the place
// where its memory would begin.
bool map_shared(Window& window, bool one_block) {
  std::uint64_t next = window.targets[0].offer.base;
  const std::uint64_t first = next;
  std::byte* block = nullptr;
  for (int rank = 0; rank < window.size; ++rank) {
    Target& target = window.targets[static_cast<std::size_t>(rank)];
    if (one_block) {
      target.offer.data = window.targets[0].offer.data;
      target.offer.base = next;
      next += target.offer.bytes;
    }
    if (attach(window, target) != MPI_SUCCESS || (target.offer.bytes != 0 && target.mapped == nullptr)) return false;
    if (target.mapped != nullptr && block == nullptr) block = target.mapped - (target.offer.base - first);
  }
  for (int rank = 0; one_block && rank < window.size; ++rank) {
    Target& target = window.targets[static_cast<std::size_t>(rank)];
    if (target.mapped == nullptr) target.mapped = block + (target.offer.base - first);
  }
  Target& own = window.targets[static_cast<std::size_t>(window.own.rank)];
  if (own.mapped == nullptr) own.mapped = static_cast<std::byte*>(window.own.base);
  window.own.base = own.mapped;
  return true;
}

bool all_agree(bool here, MPI_Comm communicator) {
  int mine = here ? 1 : 0;
  int all = 0;
  below().Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, communicator);
  return all == 1;
}

// How the memory of a shared window is allocated, as all processes agree.
struct SharedMemory {
  bool is_one_block = false;
  std::size_t bytes = 0;  // that this process allocates
};

// The parts are one block unless no process needs that, or all are empty. No process is without memory then.
SharedMemory agree_on_memory(Window& window, MPI_Comm communicator) {
  const bool apart = window.hints->is_true("alloc_shared_noncontig");
  const std::uint64_t mine[2] = {static_cast<std::uint64_t>(window.own.bytes), apart ? 0U : 1U};
  std::uint64_t all[2] = {};
  below().Allreduce(mine, all, 2, MPI_UINT64_T, MPI_SUM, communicator);
  const bool is_one_block = all[1] != 0;
  window.hints->fix_noncontiguous(!is_one_block);
  if (!is_one_block || all[0] == 0) return {false, std::max<std::size_t>(mine[0], 1)};
  return {true, window.own.rank == 0 ? all[0] : 0};
}

// Makes what this process contributes: an empty window of the MPI, words for the others, memory.
Ability make_own(Window& window, std::size_t bytes, Offer& offer) {
  const bool allocates = window.flavor == MPI_WIN_FLAVOR_ALLOCATE || window.flavor == MPI_WIN_FLAVOR_SHARED;
  if (allocates && exceeds_memory(std::max(bytes, static_cast<std::size_t>(window.own.bytes))))
    return Ability::lacks_memory;
  if (!make_empty_window(&window.handle)) return Ability::none;
  return make_control(window, offer) && make_data(window, bytes, offer) ? Ability::full : Ability::none;
}

// If the result is not Ability::full, nothing is left of the window.
Ability open(Window& window, MPI_Info info, MPI_Comm communicator) {
  window.hints = std::make_unique<Hints>(info, window.flavor);
  const bool shared = window.flavor == MPI_WIN_FLAVOR_SHARED;
  SharedMemory memory{false, static_cast<std::size_t>(window.own.bytes)};
  if (shared) memory = agree_on_memory(window, communicator);
  Offer offer{};
  offer.base = reinterpret_cast<std::uintptr_t>(window.own.base);
  offer.bytes = static_cast<std::uint64_t>(window.own.bytes);
  offer.disp_unit = window.own.disp_unit;
  offer.wants_array_locks = window.hints->wants_array_locks() ? 1 : 0;
  offer.needs_messages = needs_messages(window) ? 1 : 0;
  offer.ability = make_own(window, memory.bytes, offer);
  Ability ability = exchange(window, offer, communicator);
  window.hints->fix_granularity(window.has_array_locks);
  if (ability == Ability::full && shared && !all_agree(map_shared(window, memory.is_one_block), communicator))
    ability = Ability::none;
  if (ability == Ability::full) return ability;
  detach_all(window);
  if (shared) below().Barrier(communicator);
  free_own(window);
  if (window.handle != MPI_WIN_NULL) below().Win_free(&window.handle);
  return ability;
}

void describe(Window& window, const Wanted& wanted, MPI_Comm communicator) {
  below().Comm_rank(communicator, &window.own.rank);
  below().Comm_size(communicator, &window.size);
  below().Comm_group(communicator, &window.group);
  window.flavor = wanted.flavor;
  window.own.base = wanted.base;
  window.own.bytes = wanted.bytes;
  window.own.disp_unit = wanted.disp_unit;
  window.own.disp_unit_attribute = small_disp_unit(wanted.disp_unit);
  window.targets = std::make_unique<Target[]>(static_cast<std::size_t>(window.size));
  window.messaged.reserve(window.size);
}

// Attaches the control memory, and the window's if there is any; both or none. Returns a result of shmemx.
int attach_both(const Window& window, Target& target) {
  if (const int code = shmemx_window_attach(&target.offer.control, &target.control); code != SHMEMX_SUCCESS)
    return code;
  if (window.flavor != MPI_WIN_FLAVOR_DYNAMIC && target.offer.bytes == 0) return SHMEMX_SUCCESS;
  const int code = shmemx_window_attach(&target.offer.data, &target.data);
  if (code == SHMEMX_SUCCESS) return code;
  shmemx_window_detach(target.control);
  target.control = SHMEMX_WINDOW_INVALID;
  return code;
}

// Returns false if the MPI, too, knows that not all processes can share memory. Collective.
bool can_share_memory(MPI_Comm communicator) {
  MPI_Comm node = MPI_COMM_NULL;
  int node_size = 0;
  int size = 0;
  if (below().Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) != MPI_SUCCESS) return true;
  below().Comm_size(node, &node_size);
  below().Comm_size(communicator, &size);
  below().Comm_free(&node);
  return all_agree(node_size == size, communicator);
}

// Leaves a window to the MPI, unless it is one that cannot be.
Created leave_to_mpi(const Window& window, Ability ability, const char* routine, MPI_Comm communicator) {
  if (ability == Ability::lacks_memory) {
    const int code = wrong(MPI_ERR_NO_MEM, "a process asks for more memory than its machine has");
    return {true, raise(communicator, routine, code), nullptr};
  }
  if (window.flavor == MPI_WIN_FLAVOR_SHARED && !can_share_memory(communicator)) {
    const int code = wrong(MPI_ERR_RMA_SHARED, "not all processes of the communicator can share memory");
    return {true, raise(communicator, routine, code), nullptr};
  }
  report(window.own.rank, std::string(routine) + ": left to the MPI, since not all memory can be shared or exposed");
  return {false, MPI_SUCCESS, nullptr};
}

}  // namespace

int attach_slow(Window& window, Target& target) {
  const std::lock_guard guard(window.mutex);
  if (target.attached.load(std::memory_order_relaxed)) return MPI_SUCCESS;
  look_for_devices();
  if (const int code = attach_both(window, target); code != SHMEMX_SUCCESS) return class_of(code);
  void* const words = reinterpret_cast<void*>(target.offer.control_address);
  target.control_mapped =
      static_cast<std::byte*>(shmemx_window_ptr(target.control, words, control::bytes(window.size)));
  if (target.data != SHMEMX_WINDOW_INVALID)
    target.mapped = static_cast<std::byte*>(
        shmemx_window_ptr(target.data, reinterpret_cast<void*>(target.offer.base), target.offer.bytes));
  if (target.mapped == nullptr || target.control_mapped == nullptr) {
    awaits_messages.store(true, std::memory_order_relaxed);
    window.messaged.add(static_cast<int>(&target - window.targets.get()));
  }
  target.attached.store(true, std::memory_order_release);  // attach
  return MPI_SUCCESS;
}

Created create(const char* routine, const Wanted& wanted, MPI_Info info, MPI_Comm communicator, MPI_Win* win) {
  if (!is_serving() || communicator == MPI_COMM_NULL) return {false, MPI_SUCCESS, nullptr};
  int is_inter = 0;
  if (below().Comm_test_inter(communicator, &is_inter) != MPI_SUCCESS) return {false, MPI_SUCCESS, nullptr};
  if (is_inter != 0) {
    const int code = wrong(MPI_ERR_COMM, "the communicator connects two groups");
    return {true, raise(communicator, routine, code), nullptr};
  }
  look_for_devices();
  if (const int code = check(wanted); code != MPI_SUCCESS) return {true, raise(communicator, routine, code), nullptr};
  auto window = std::make_unique<Window>();
  describe(*window, wanted, communicator);
  std::vector<int> pes;
  const bool known = pes_of_group(window->group, pes);
  if (!known)
    report(window->own.rank, std::string(routine) + ": left to the MPI, since not all processes are of MPI_COMM_WORLD");
  for (std::size_t i = 0; known && i < pes.size(); ++i) window->targets[i].pe = pes[i];
  window->is_on_node = std::all_of(pes.begin(), pes.end(), [](int pe) { return shmemx_node_pe(pe) >= 0; });
  const Ability ability = known ? open(*window, info, communicator) : Ability::none;
  if (ability != Ability::full) {
    below().Group_free(&window->group);
    return known ? leave_to_mpi(*window, ability, routine, communicator) : Created{false, MPI_SUCCESS, nullptr};
  }
  *win = window->handle;
  Window* const made = window.release();
  windows.map.insert(made->handle, made);
  begin_serving(*made);
  count_window();
  return {true, MPI_SUCCESS, made->own.base};
}

int check_free(const Window& window) {
  const Epochs& epochs = window.epochs;
  if (epochs.access != Access::none && epochs.access != Access::fence)
    return wrong(MPI_ERR_RMA_SYNC, "an access epoch is open");
  if (epochs.is_exposed) return wrong(MPI_ERR_RMA_SYNC, "an exposure epoch is open");
  return MPI_SUCCESS;
}

namespace {

// Completes all operations of all processes. Returns an error class.
int end_epochs(Window& window) {
  const int flushed = flush_all(window);
  const int met = control::barrier(window);
  window.epochs.are_over = true;
  end_serving(window);
  // The memory of the others in a shared window is needed a little longer.
  const int detached = window.flavor == MPI_WIN_FLAVOR_SHARED ? MPI_SUCCESS : detach_all(window);
  return flushed != MPI_SUCCESS ? flushed : met != MPI_SUCCESS ? met : detached;
}

}  // namespace

int free_window(Window& window, MPI_Win* win) {
  const MPI_Win handle = window.handle;
  const int result = window.epochs.are_over ? MPI_SUCCESS : end_epochs(window);
  finish(window, "MPI_Win_free", result);
  // The program's functions for attributes still find the window and its memory. If one of them fails, the window lives
  // on.
  if (const int code = below().Win_free(win); code != MPI_SUCCESS) return code;
  windows.map.remove(handle, &window);
  forget_recent_targets();
  if (window.flavor == MPI_WIN_FLAVOR_SHARED) {
    control::barrier(window);
    detach_all(window);
  }
  free_own(window);
  below().Group_free(&window.group);
  delete &window;
  return result;
}

}  // namespace shmemx::interpose
