// The entry that the loader looks for.
#include "transport/registry.hpp"
#include "transport/ucx/ucx_transport.hpp"

extern "C" __attribute__((visibility("default"))) const shmemx::transport::PluginEntry shmemx_transport_plugin;
const shmemx::transport::PluginEntry shmemx_transport_plugin = {shmemx::transport::kPluginVersion,
                                                                &shmemx::ucx::UcxTransport::open};
