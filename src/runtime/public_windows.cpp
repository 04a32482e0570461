#include "runtime/public_windows.hpp"

#include "context/context.hpp"
#include "context/route.hpp"
#include "public_windows/node.hpp"
#include "runtime/job.hpp"

namespace shmemx::runtime {

bool start_windows(const char* routine) noexcept {
  context::require_initialized(routine);
  if (public_windows::is_started()) return true;
  const windows::Arena& own = arena();
  public_windows::Node node;
  node.me = context::default_context().my_pe;
  node.n_pes = static_cast<int>(context::default_context().n_pes);
  node.fd = [] { return arena().fd(); };
  node.file_bytes = own.geometry().file_bytes;
  node.n_places = own.header().n_places;
  node.key = own.header().job_id;
  node.path = configuration().window_path;
  node.agent = configuration().progress != config::Progress::off;
  node.place_of = [](int pe) { return arena().place_of(pe); };
  node.pid_of = [](int pe) { return arena().has(pe) ? arena().record(pe).pid : 0; };
  return public_windows::start(node);
}

}  // namespace shmemx::runtime
