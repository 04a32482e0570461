// Two ends of a connection, for a launcher that a test plays.
#pragma once

#include <sys/socket.h>

#include <boost/test/unit_test.hpp>

#include "base/unique_fd.hpp"

namespace launch_test {

struct SocketPair {
  SocketPair() {
    int ends[2];
    BOOST_REQUIRE_EQUAL(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    client = shmemx::UniqueFd(ends[0]);
    server = shmemx::UniqueFd(ends[1]);
  }
  shmemx::UniqueFd client;
  shmemx::UniqueFd server;
};

}  // namespace launch_test
