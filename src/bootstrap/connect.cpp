#include <cstdlib>

#include "bootstrap/backends.hpp"
#include "bootstrap/launcher_seen.hpp"

namespace shmemx::bootstrap {
namespace {

const char* lookup(const char* variable) { return std::getenv(variable); }

// Tries one interface if its variable is set, and notes in `tried` why it does not answer.
Result<BootstrapPtr> try_kvs(Result<KvsPtr> (*open)(), const char* what, const char* variable, std::string& tried) {
  if (!tried.empty()) tried += ", ";
  tried += what;
  if (std::getenv(variable) == nullptr) {
    tried += std::string(" (") + variable + " is not set)";
    return BootstrapPtr();
  }
  auto kvs = open();
  if (kvs) return make_kvs_bootstrap(std::move(*kvs));
  tried += " (" + kvs.error().text + ")";
  return BootstrapPtr();
}

Error no_launcher(const LauncherSeen& seen, const std::string& tried) {
  const std::string n = seen.n_pes > 0 ? std::to_string(seen.n_pes) : "N";
  return Error{Errc::no_launcher, 0,
               "started by " + std::string(seen.launcher) + " (" + seen.evidence +
                   "), but none of its start-up interfaces answers. Tried: " + tried +
                   ". Start the program with 'oshrun -n " + n +
                   "', with mpiexec.hydra, or with mpirun or srun --mpi=pmix where libpmix.so.2 is installed"};
}

}  // namespace

// Where one launcher runs inside a process of the other, both sets of variables are there; the inner one is most
// likely the one that started more processes.
Result<BootstrapPtr> connect() {
  if (started_by_oshrun()) return connect_oshrun();
  std::string tried = "oshrun (SHMEMX_JOB_FD is not set)";
  const bool pmix_first = env_number("PMI_SIZE") <= env_number("OMPI_COMM_WORLD_SIZE");
  for (int turn = 0; turn < 2; ++turn) {
    const bool pmix = pmix_first == (turn == 0);
    auto found =
        pmix ? try_kvs(connect_pmix, "PMIx", "PMIX_NAMESPACE", tried) : try_kvs(connect_pmi1, "PMI-1", "PMI_FD", tried);
    if (found && *found != nullptr) return found;
  }
  const LauncherSeen seen = find_launcher(lookup);
  if (seen.launcher != nullptr) return no_launcher(seen, tried);
  return make_single();
}

}  // namespace shmemx::bootstrap
