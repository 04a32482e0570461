#include <fcntl.h>

#include <cstdlib>

#include "bootstrap/ancestors.hpp"
#include "bootstrap/backends.hpp"
#include "bootstrap/launcher_seen.hpp"

namespace shmemx::bootstrap {
namespace {

struct Interface {
  const char* name;
  const char* variable;  // set if the interface may reply
  Result<KvsPtr> (*open)();
};
constexpr Interface kPmix = {"PMIx", "PMIX_NAMESPACE", connect_pmix};
constexpr Interface kPmi1 = {"PMI-1", "PMI_FD", connect_pmi1};
constexpr Interface kPmi2 = {"PMI-2", "PMI_FD", connect_pmi2};
constexpr Interface kSlurmStep = {"sockets", "SLURM_STEP_NUM_TASKS", connect_slurm_step};

const char* lookup(const char* variable) { return std::getenv(variable); }

// Opens the interface. If it does not reply, returns null and adds the reason to `tried`.
Result<BootstrapPtr> try_interface(const Interface& interface, std::string& tried) {
  tried += std::string(", ") + interface.name;
  if (std::getenv(interface.variable) == nullptr) {
    tried += std::string(" (") + interface.variable + " is not set)";
    return BootstrapPtr();
  }
  auto kvs = interface.open();
  if (kvs) return make_kvs_bootstrap(std::move(*kvs), describe_own_host());
  tried += " (" + kvs.error().text + ")";
  return BootstrapPtr();
}

// Returns what helps if a wrapper has closed the descriptor of PMI, empty if none has.
std::string closed_descriptor() {
  const long fd = env_number(kPmi1.variable);
  if (fd < 0 || ::fcntl(static_cast<int>(fd), F_GETFD) >= 0) return {};
  let_first_pe_speak(static_cast<int>(env_number("PMI_RANK")));
  return std::string(". PMI_FD is closed: ") + kKeepDescriptors;
}

Error no_launcher(const LauncherSeen& seen, const std::string& tried) {
  const std::string n = seen.n_pes > 0 ? std::to_string(seen.n_pes) : "N";
  const std::string closed = closed_descriptor();
  return Error{Errc::no_launcher, 0,
               "started by " + std::string(seen.launcher) + " (" + seen.evidence +
                   "), but none of its start-up interfaces answers. Tried: " + tried + closed +
                   ". Start the program with 'oshrun -n " + n +
                   "', with mpiexec.hydra or srun --mpi=pmi2, or with mpirun or srun --mpi=pmix where libpmix.so.2 is "
                   "installed"};
}

}  // namespace

// If variables of another launcher stand beside oshrun's, that launcher started this process inside a job of oshrun,
// since oshrun does not pass such variables on. If variables of two other launchers are there, one runs inside a
// process of the other: most likely the inner one started more processes. PMI_VERSION chooses between the two PMI
// protocols.
Result<BootstrapPtr> connect() {
  const LauncherSeen seen = find_launcher(lookup);
  const bool has_interface = std::getenv(kPmi1.variable) != nullptr || std::getenv(kPmix.variable) != nullptr;
  if (started_by_oshrun() && seen.launcher == nullptr && !has_interface) {
    const char* const synthetic = std::getenv(kEnvSyntheticWorld);
    return synthetic == nullptr ? connect_oshrun() : connect_synthetic(synthetic);
  }
  std::string tried = started_by_oshrun() ? "oshrun (another launcher started this process inside its job)"
                                          : "oshrun (SHMEMX_JOB_FD is not set)";
  const bool pmix_first = env_number("PMI_SIZE") <= env_number("OMPI_COMM_WORLD_SIZE");
  const bool pmi2_first = env_number("PMI_VERSION") == 2;
  const Interface pmi[] = {pmi2_first ? kPmi2 : kPmi1, pmi2_first ? kPmi1 : kPmi2};
  const Interface in_turn[] = {pmix_first ? kPmix : pmi[0], pmix_first ? pmi[0] : pmi[1], pmix_first ? pmi[1] : kPmix};
  for (const Interface& interface : in_turn) {
    auto found = try_interface(interface, tried);
    if (found && *found != nullptr) return found;
  }
  if (seen.is_slurm_step) {
    auto found = try_interface(kSlurmStep, tried);
    if (found && *found != nullptr) return found;
  }
  if (seen.launcher != nullptr) return no_launcher(seen, tried);
  if (started_by_oshrun()) return connect_oshrun();
  return make_single(describe_allocation(lookup));
}

Result<BootstrapPtr> connect_caller(const Caller& caller) {
  return make_kvs_bootstrap(make_caller_kvs(caller), describe_own_host());
}

}  // namespace shmemx::bootstrap
