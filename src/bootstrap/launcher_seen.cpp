#include "bootstrap/launcher_seen.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace shmemx::bootstrap {
namespace {

using Lookup = const char* (*)(const char*);

long number(Lookup get, const char* variable) {
  const char* text = get(variable);
  if (text == nullptr || *text == '\0') return -1;
  char* end = nullptr;
  errno = 0;
  const long value = std::strtol(text, &end, 10);
  return errno == 0 && *end == '\0' ? value : -1;
}

LauncherSeen seen(Lookup get, const char* launcher, const char* variable, long n_pes) {
  return {launcher, std::string(variable) + "=" + get(variable), n_pes, false};
}

constexpr long kFirstReservedStep = 0xfffffff0L;  // of Slurm

// Slurm sets SLURM_NTASKS in the shells of salloc and sbatch, too, where a program that is started directly is a job of
// one PE. A task of a step has a SLURM_PROCID. The shell of sbatch has one as well, but no step, and ENVIRONMENT is
// BATCH there. The shells of interactive and batch steps have reserved step numbers.
LauncherSeen find_slurm(Lookup get) {
  if (number(get, "SLURM_PROCID") < 0) return {};
  if (const long step_tasks = number(get, "SLURM_STEP_NUM_TASKS"); step_tasks >= 0) {
    if (step_tasks > 1) return seen(get, "Slurm's srun", "SLURM_STEP_NUM_TASKS", step_tasks);
    return {};
  }
  const long step = number(get, "SLURM_STEP_ID");
  if (step >= kFirstReservedStep) return {};
  const char* environment = get("ENVIRONMENT");
  if (step < 0 && environment != nullptr && std::strcmp(environment, "BATCH") == 0) return {};
  const long tasks = number(get, "SLURM_NTASKS");
  if (tasks > 1) return seen(get, "Slurm's srun", "SLURM_NTASKS", tasks);
  return {};
}

}  // namespace

LauncherSeen find_launcher(Lookup get) {
  struct Row {
    const char* variable;
    const char* launcher;
  };
  static constexpr Row kSizes[] = {
      {"OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun"},
      {"FLUX_JOB_SIZE", "Flux"},
      {"PMI_SIZE", "a PMI launcher such as mpiexec.hydra"},
      {"MPI_LOCALNRANKS", "MPICH's mpiexec.hydra"},
  };
  bool size_is_known = false;
  for (const Row& row : kSizes) {
    const long size = number(get, row.variable);
    if (size > 1) return seen(get, row.launcher, row.variable, size);
    size_is_known = size_is_known || size == 1;
  }
  if (LauncherSeen slurm = find_slurm(get); slurm.launcher != nullptr) {
    slurm.is_slurm_step = true;
    return slurm;
  }
  // PMIx gives the size only over its own interface. Without a size from another variable, PMIX_RANK means several PEs.
  const long rank = number(get, "PMIX_RANK");
  if (rank > 0 || (rank == 0 && !size_is_known)) return seen(get, "a PMIx launcher", "PMIX_RANK", 0);
  return {};
}

std::string describe_allocation(Lookup get) {
  const long tasks = number(get, "SLURM_NTASKS");
  const bool is_task = number(get, "SLURM_STEP_NUM_TASKS") >= 0 && number(get, "SLURM_STEP_ID") < kFirstReservedStep;
  if (tasks < 2 || is_task) return {};
  const std::string n = std::to_string(tasks);
  return "SLURM_NTASKS is " + n + ", but no launcher started this process: it is a job of one PE; for " + n +
         " PEs start it with 'srun -n " + n + "' or 'oshrun -n " + n + "'";
}

}  // namespace shmemx::bootstrap
