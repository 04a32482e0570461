// Whether another copy of this library has been started in this process: linked statically into a module, or loaded
// into another link namespace. Both would take the same descriptor and launcher.
#pragma once

#include "base/result.hpp"

namespace shmemx::bootstrap {

// Returns an error if the process maps the arena of another copy. Called before this copy has one.
Status only_copy();

}  // namespace shmemx::bootstrap
