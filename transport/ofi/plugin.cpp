// The entry that the loader looks for.
#include "base/bulk_copy.hpp"
#include "transport/ofi/choice.hpp"
#include "transport/ofi/library.hpp"
#include "transport/ofi/ofi.hpp"
#include "transport/registry.hpp"

namespace shmemx::ofi {
namespace {

Result<TransportPtr> open(const Setup& setup) {
  copy_sizes = copy_sizes_for(0);  // the plug-in has its own
  const StartGuard guard;
  SHMEMX_TRY_ASSIGN(library, load_library());
  SHMEMX_TRY_ASSIGN(choice, choose_fabric(*library));
  auto transport = std::make_unique<Ofi>(std::move(choice), setup);
  SHMEMX_TRY(transport->open());
  return TransportPtr(std::move(transport));
}

}  // namespace
}  // namespace shmemx::ofi

extern "C" [[gnu::visibility("default")]] const shmemx::transport::PluginEntry shmemx_transport_plugin;
const shmemx::transport::PluginEntry shmemx_transport_plugin{shmemx::transport::kPluginVersion, &shmemx::ofi::open};
