// The transport "loopback": endpoints of one process that hand messages to each other through memory. It is the
// shortest transport that keeps every rule of transport.hpp: read it to see what a network has to do, and run tests on
// it that need several PEs in one process.
#pragma once

#include "transport/transport.hpp"

namespace shmemx::loopback {

Result<transport::TransportPtr> open_loopback(const transport::Setup& setup);

}  // namespace shmemx::loopback
