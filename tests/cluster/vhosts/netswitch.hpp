// A switch in user space between the hosts' links, for impairments that the kernel does not offer.
#pragma once

#include <sys/types.h>

#include "cluster.hpp"

namespace vhosts {

// Starts it as a child process that ends with this one; frames are forwarded from the return on.
pid_t start_switch(const Impairment& impairment, int hosts);

}  // namespace vhosts
