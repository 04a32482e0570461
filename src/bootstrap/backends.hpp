// The back ends that connect() chooses from: one function for each way to start a process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/placement.hpp"

namespace shmemx::bootstrap {

using BootstrapPtr = std::unique_ptr<Bootstrap>;

// A launcher's key-value store with a fence. It is enough to find the nodes, to hand the arena from one PE of a node to
// the others, and to exchange bytes between nodes. Keys and values hold letters, digits and "-_:." only, since PMI-1
// separates words by spaces and '='.
class Kvs {
 public:
  virtual ~Kvs() = default;
  virtual Identity identity() const = 0;
  virtual std::string_view name() const = 0;
  virtual std::size_t value_bytes() const = 0;  // of the longest value
  virtual Status put(const std::string& key, const std::string& value) = 0;
  // Collective. After it, get() finds every value that any PE put before it; it may have to wait for that PE.
  virtual Status fence() = 0;
  // Collective. No PE returns before all have called it. The default is for launchers whose fence is a barrier.
  virtual Status barrier() { return fence(); }
  virtual Result<std::string> get(int owner, const std::string& key) = 0;
  virtual void abort(int status) = 0;
  virtual bool ends_all() const { return true; }
  // Returns false for PEs that are only claimed to exist (synthetic.cpp).
  virtual bool is_real(int /*pe*/) const { return true; }
  // Returns true if MPI in the same process uses this store's connection to the launcher, and may end it.
  virtual bool is_shared_with_mpi() const { return false; }
  virtual void finalize() = 0;
};
using KvsPtr = std::unique_ptr<Kvs>;

// Returns true if at least one variable of wire.hpp is set; connect_oshrun() then succeeds or fails for good.
bool started_by_oshrun();
Result<BootstrapPtr> connect_oshrun();
// What oshrun has handed to this PE.
struct OshrunJob {
  Identity identity;
  std::uint64_t job_id = 0;
  int fd = -1;  // of the arena
};
Result<OshrunJob> read_oshrun_job();

// Makes a job of one PE without a launcher.
BootstrapPtr make_single(std::string note);

// These fail if the launcher's interface does not reply.
Result<KvsPtr> connect_pmi1();
Result<KvsPtr> connect_pmi2();
Result<KvsPtr> connect_pmix();
// For tasks of Slurm on one node, without an interface of the launcher. Waits for the other tasks.
Result<KvsPtr> connect_slurm_step();
// A store over the functions of the calling program.
KvsPtr make_caller_kvs(const Caller& caller);
// PEs of oshrun as some of those of a larger job, as the variable says (config/synthetic_world.hpp).
inline constexpr char kEnvSyntheticWorld[] = "SHMEMX_SYNTHETIC_WORLD";
Result<BootstrapPtr> connect_synthetic(const std::string& world);
// `own` says where this PE runs.
BootstrapPtr make_kvs_bootstrap(KvsPtr kvs, HostDescription own);

// Returns a number from the environment, -1 if the variable is unset or no number.
long env_number(const char* variable);

}  // namespace shmemx::bootstrap
