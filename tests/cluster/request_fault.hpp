// Requests to vhosts, which has made the hosts that this process runs on: "cut h1".
#pragma once

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

inline void request_fault(const std::string& what) {
  const char* const folder = std::getenv("VHOSTS_DIR");
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "%s/requests", folder == nullptr ? "" : folder);
  if (::sendto(socket, what.data(), what.size(), 0, reinterpret_cast<sockaddr*>(&address), sizeof address) < 0) {
    std::fprintf(stderr, "%s: send to vhosts: %m\n", program_invocation_short_name);
    _exit(2);
  }
  ::close(socket);
}
