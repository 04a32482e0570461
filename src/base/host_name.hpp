// The name of this machine, as the kernel has it.
#pragma once

#include <unistd.h>

namespace shmemx {

struct HostName {
  char text[65];  // the kernel's limit is 64 characters
};

// Returns "localhost" if the kernel has no name.
inline HostName host_name() noexcept {
  HostName name{};
  if (::gethostname(name.text, sizeof name.text) != 0 || name.text[0] == '\0') return {"localhost"};
  return name;
}

}  // namespace shmemx
