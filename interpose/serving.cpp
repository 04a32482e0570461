#include "interpose/serving.hpp"

#include <shmemx.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "interpose/below.hpp"
#include "interpose/job.hpp"

namespace shmemx::interpose {
namespace {

// Equal on all processes of the job, as they have to agree on barriers.
bool takes_waits = false;
bool takes_barriers = false;
bool may_agree = false;  // no process has several threads, so all know the same windows when they call a barrier
// Windows whose memory others reach by messages.
std::atomic<int> served_windows{0};
int served_windows_of_all = 0;        // those that all processes have; of one thread, as may_agree says
int within_job = MPI_KEYVAL_INVALID;  // attribute of a communicator: whether all of its processes belong to the job

// The address of a value of the attribute.
char yes = 1;
char no = 0;

bool find_within_job(MPI_Comm communicator) {
  int is_inter = 0;
  MPI_Group group = MPI_GROUP_NULL;
  std::vector<int> pes;
  if (below().Comm_test_inter(communicator, &is_inter) != MPI_SUCCESS || is_inter != 0) return false;
  below().Comm_group(communicator, &group);
  const bool found = pes_of_group(group, pes);
  below().Group_free(&group);
  return found;
}

// Open MPI's own waits give the core away where processes outnumber cores, MPICH's keep it.
bool own_waits_spin() {
#ifdef MPICH_VERSION
  return true;
#else
  return false;
#endif
}

// MPICH's own barrier connects one process of each node, its nonblocking one connects others, too. Over UCX's TCP such
// late connections may keep its MPI_Finalize waiting for ever, so several processes of several nodes use its own.
bool keeps_connections(int largest_node) {
#ifdef MPICH_VERSION
  return largest_node == 1 || largest_node == shmemx_n_pes();
#else
  return largest_node > 0;
#endif
}

}  // namespace

void choose_serving() {
  const int node_pes = shmemx_node_n_pes();
  const bool gains = node_pes < shmemx_n_pes() || (own_waits_spin() && yields_early());
  int most[3] = {gains ? 1 : 0, node_pes, many_threads ? 1 : 0};
  below().Allreduce(MPI_IN_PLACE, most, 3, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  takes_waits = most[0] != 0;
  takes_barriers = takes_waits && keeps_connections(most[1]);
  may_agree = most[2] == 0 && keeps_connections(most[1]);
  below().Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &within_job, nullptr);
}

void begin_serving(Window& window) {
  const Target* const targets = window.targets.get();
  const bool is_needed = std::any_of(targets, targets + window.size,
                                     [](const Target& target) { return target.offer.needs_messages != 0; });
  if (!is_needed) return;
  served_windows.fetch_add(1, std::memory_order_relaxed);
  window.own.served = Served::in_waits;
  if (!may_agree || window.size != shmemx_n_pes()) return;
  ++served_windows_of_all;
  window.own.served = Served::in_barriers;
}

void end_serving(Window& window) noexcept {
  const Served served = std::exchange(window.own.served, Served::no);
  if (served != Served::no) served_windows.fetch_sub(1, std::memory_order_relaxed);
  if (served == Served::in_barriers) --served_windows_of_all;
}

bool serves_in_waits() noexcept {
  const bool here = served_windows.load(std::memory_order_relaxed) != 0;  // a hint for other threads
  return (here || (takes_waits && has_windows())) && is_serving();
}

bool serves_in_barrier(MPI_Comm communicator) {
  if (!takes_barriers && served_windows_of_all == 0) return false;
  if (!is_serving() || communicator == MPI_COMM_NULL) return false;
  if (communicator == MPI_COMM_WORLD) return true;
  char* value = nullptr;
  int found = 0;
  if (below().Comm_get_attr(communicator, within_job, &value, &found) != MPI_SUCCESS) return false;
  if (found == 0) {
    value = find_within_job(communicator) ? &yes : &no;
    below().Comm_set_attr(communicator, within_job, value);
  }
  return *value != 0;
}

bool serve_messages() {
  constexpr int kPollsBetween = 16;  // about the time that an operation's reply and the next operation need
  constexpr int kMostPolls = 64;     // what is waited for may have come while long data arrive
  bool any = false;
  int idle = 0;
  for (int polls = 0; polls < kMostPolls && idle < (any ? kPollsBetween : 1); ++polls) {
    ++idle;
    if (shmemx_am_poll() == 0) continue;
    any = true;
    idle = 0;
  }
  return any;
}

}  // namespace shmemx::interpose
