// The transport "ethernet": part of the library, for those with the capability CAP_NET_RAW.
#pragma once

#include "transport/transport.hpp"

namespace shmemx::ethernet {

Result<transport::TransportPtr> open_ethernet(const transport::Setup& setup);

}  // namespace shmemx::ethernet
