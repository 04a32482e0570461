// A connection of a start-up client, and the launcher's side of it on a thread.
#pragma once

#include <sys/socket.h>

#include <boost/test/unit_test.hpp>
#include <string>
#include <thread>

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

// Derived classes call start() in their constructor and wait() in their destructor.
class FakeServer {
 public:
  void wait() {
    if (thread_.joinable()) thread_.join();
  }
  std::string last;  // the last request

 protected:
  explicit FakeServer(shmemx::UniqueFd socket) : socket_(std::move(socket)) {}
  ~FakeServer() = default;
  template <class Serve>
  void start(Serve serve) {
    thread_ = std::thread(serve);
  }
  // Receives `n` bytes. Returns an empty text at the end of the connection.
  std::string take(std::size_t n) {
    std::string bytes(n, '\0');
    return ::recv(socket_.get(), bytes.data(), n, MSG_WAITALL) == static_cast<ssize_t>(n) ? bytes : std::string();
  }
  // Receives a line, with its end. Returns an empty text at the end of the connection.
  std::string take_line() {
    std::string line;
    while (line.empty() || line.back() != '\n') {
      const std::string byte = take(1);
      if (byte.empty()) return {};
      line += byte;
    }
    return line;
  }
  // Sends byte by byte, so that the client must assemble its reads.
  void give(const std::string& text) {
    for (const char c : text) ::send(socket_.get(), &c, 1, MSG_NOSIGNAL);
  }

 private:
  shmemx::UniqueFd socket_;
  std::thread thread_;
};

}  // namespace launch_test
