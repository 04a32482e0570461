// A switch in user space between the hosts' cables, for what the kernel here cannot do to frames.
#pragma once

#include <sys/types.h>

#include "cluster.hpp"

namespace vhosts {

// Starts it as a child process that ends with this one; frames flow when this returns.
pid_t start_switch(const Impairment& impairment, int hosts);

}  // namespace vhosts
