// What connect() can choose from. Each function answers for one way a process can have been started.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/placement.hpp"

namespace shmemx::bootstrap {

using BootstrapPtr = std::unique_ptr<Bootstrap>;

// A launcher's key-value store with a fence: all that is needed to find the nodes, to hand the arena from one PE of a
// node to the others, and to tell the nodes of each other.
// Keys and values hold letters, digits and "-_:." only, since PMI-1 parts its words by spaces and '='.
class Kvs {
 public:
  virtual ~Kvs() = default;
  virtual Identity identity() const = 0;
  virtual std::string_view name() const = 0;
  virtual std::size_t value_bytes() const = 0;  // of the longest value
  virtual Status put(const std::string& key, const std::string& value) = 0;
  // Collective. After it every value put before it by any PE can be got; a get may have to wait for that PE.
  virtual Status fence() = 0;
  // Collective. No PE leaves it before all have come. For launchers whose fence is one.
  virtual Status barrier() { return fence(); }
  virtual Result<std::string> get(int owner, const std::string& key) = 0;
  virtual void abort(int status) = 0;
  virtual void finalize() = 0;
};
using KvsPtr = std::unique_ptr<Kvs>;

// True when at least one variable of wire.hpp is set; connect_oshrun() then answers, good or bad.
bool started_by_oshrun();
Result<BootstrapPtr> connect_oshrun();

// A job of one PE without a launcher.
BootstrapPtr make_single(std::string note);

// They fail when the launcher's interface does not answer.
Result<KvsPtr> connect_pmi1();
Result<KvsPtr> connect_pmi2();
Result<KvsPtr> connect_pmix();
// Without an interface: for tasks of Slurm on one node. Waits for the other tasks.
Result<KvsPtr> connect_slurm_step();
// `own` says where this PE runs.
BootstrapPtr make_kvs_bootstrap(KvsPtr kvs, HostDescription own);

// A PE number or a size from the environment; -1 when unset or not a number.
long env_number(const char* variable);

}  // namespace shmemx::bootstrap
