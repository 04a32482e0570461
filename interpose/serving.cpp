#include "interpose/serving.hpp"

#include <shmemx.h>

#include "interpose/job.hpp"

namespace shmemx::interpose {
namespace {

// The same on all processes of the job, as they have to agree on barriers.
bool takes_waits = false;
int within_job = MPI_KEYVAL_INVALID;  // attribute of a communicator: whether all of its processes belong to the job

// The address of a value of the attribute.
char yes = 1;
char no = 0;

bool find_within_job(MPI_Comm comm) {
  int is_inter = 0;
  MPI_Group group = MPI_GROUP_NULL;
  std::vector<int> pes;
  if (PMPI_Comm_test_inter(comm, &is_inter) != MPI_SUCCESS || is_inter != 0) return false;
  PMPI_Comm_group(comm, &group);
  const bool found = pes_of_group(group, pes);
  PMPI_Group_free(&group);
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

}  // namespace

void choose_serving() {
  const bool has_other_nodes = shmem_team_n_pes(SHMEM_TEAM_SHARED) < shmem_n_pes();
  int gains = has_other_nodes || (own_waits_spin() && yields_early()) ? 1 : 0;
  PMPI_Allreduce(MPI_IN_PLACE, &gains, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  takes_waits = gains != 0;
  if (takes_waits)
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &within_job, nullptr);
}

bool serves_in_waits() noexcept { return takes_waits && has_windows() && is_serving(); }

bool serves_in_barrier(MPI_Comm comm) {
  if (!takes_waits || !is_serving() || comm == MPI_COMM_NULL) return false;
  if (comm == MPI_COMM_WORLD) return true;
  char* value = nullptr;
  int found = 0;
  if (PMPI_Comm_get_attr(comm, within_job, &value, &found) != MPI_SUCCESS) return false;
  if (found == 0) {
    value = find_within_job(comm) ? &yes : &no;
    PMPI_Comm_set_attr(comm, within_job, value);
  }
  return *value != 0;
}

bool serve_messages() {
  constexpr int kPollsBetween = 16;  // about the time that an operation's reply and the next operation need
  bool any = false;
  for (int idle = 0; idle < (any ? kPollsBetween : 1); ++idle) {
    if (shmemx_am_poll() == 0) continue;
    any = true;
    idle = -1;
  }
  return any;
}

}  // namespace shmemx::interpose
