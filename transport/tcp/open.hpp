// The transport "tcp": always part of the library.
#pragma once

#include "transport/transport.hpp"

namespace shmemx::tcp {

Result<transport::TransportPtr> open_tcp(const transport::Setup& setup);

}  // namespace shmemx::tcp
