// The transport "loopback": endpoints of one process that pass messages to each other through memory. It is the
// shortest transport that keeps every rule of transport.hpp: the reference of the conformance suite, and an example for
// new networks. No job uses it, since it reaches its own process only.
#pragma once

#include "transport/transport.hpp"

namespace shmemx::loopback {

Result<transport::TransportPtr> open_loopback(const transport::Setup& setup);

}  // namespace shmemx::loopback
