// Tests an endpoint on itself: a message, a write that is complete when it has arrived, a read, and sleeping on the
// descriptor until they are done.
#pragma once

#include "base/result.hpp"
#include "transport/ofi/fabric.hpp"

namespace shmemx::ofi {

// Closes the endpoint if it fails.
Status test_fabric(Fabric& fabric);

// To be called after the test. Returns true if the descriptor is not readable while there is nothing to do.
bool comes_to_rest(Fabric& fabric);

}  // namespace shmemx::ofi
