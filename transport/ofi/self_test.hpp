// What an endpoint claims, tried on itself: a message, a write that is complete when it has arrived, a read, and sleep
// on the descriptor until they are done.
#pragma once

#include "base/result.hpp"
#include "transport/ofi/fabric.hpp"

namespace shmemx::ofi {

// An endpoint that fails is closed.
Status test_fabric(Fabric& fabric);

// Afterwards: whether the descriptor is not readable when there is nothing to do.
bool comes_to_rest(Fabric& fabric);

}  // namespace shmemx::ofi
