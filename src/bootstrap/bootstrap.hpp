// Who am I, how many are we, which node, and how do the PEs of this node get one arena descriptor.
// Back ends: oshrun (arena inherited), PMI-1, PMIx, single. Chosen at run time by connect().
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace shmemx::bootstrap {

struct Identity {
  int pe = 0;
  int n_pes = 1;
};

class Bootstrap {
 public:
  virtual ~Bootstrap() = default;
  virtual Identity identity() const = 0;
  virtual std::string_view name() const = 0;  // "oshrun", "pmi1", "pmix", "single"
  // The descriptor of the node's arena, header initialised (wire.hpp). Collective over the job.
  virtual Result<UniqueFd> arena() = 0;
  // Tell the launcher to end the whole job. May return; the caller then exits with `status`.
  virtual void abort(int status) = 0;
  // Tell the launcher that this PE leaves in order. Called once, at process exit.
  virtual void finalize() = 0;
};

// Chooses the back end from the environment. Fails with Errc::no_launcher, and a text that names the launcher seen,
// what was tried and the fix, when a launcher variable says that more than one process was started but nothing answers.
Result<std::unique_ptr<Bootstrap>> connect();

}  // namespace shmemx::bootstrap
