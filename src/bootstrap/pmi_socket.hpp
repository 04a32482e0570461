// The stream socket between a PE and a PMI launcher, inherited as PMI_FD. Both versions of the protocol begin with the
// same line and differ in what follows.
#pragma once

#include <string>

#include "base/unique_fd.hpp"
#include "bootstrap/backends.hpp"

namespace shmemx::bootstrap {

inline constexpr int kPmiHelloMs = 30'000;  // a launcher answers at once; only a loaded machine makes it late
inline constexpr int kPmiForever = -1;

class PmiSocket {
 public:
  // `protocol` begins the text of every error.
  PmiSocket(UniqueFd socket, const char* protocol) : socket_(std::move(socket)), protocol_(protocol) {}

  bool valid() const { return socket_.valid(); }
  void close() { socket_.reset(); }
  Error error(std::string text, int system_errno = 0) const;
  // "cmd=init" in the form that both versions share.
  Status say_hello(int version);
  Status send(const std::string& text);
  Result<std::string> receive_line(int timeout_ms);  // without the newline
  Result<std::string> receive_bytes(std::size_t n_bytes, int timeout_ms);

 private:
  Status receive_more(int timeout_ms);

  UniqueFd socket_;
  const char* protocol_;
  std::string unread_;
};

// The word after "key=" in a line of words parted by `separator`; empty when there is none.
std::string word_of(const std::string& line, const char* key, char separator = ' ');

// The launcher's proxy ends as soon as it reads of an abort; what this PE has printed and it has not read would be
// lost.
void let_output_pass();

// What the environment says. The socket is a copy: if nobody answers, whoever owns the number keeps it.
struct PmiStart {
  UniqueFd socket;
  Identity identity;
};
Result<PmiStart> read_pmi_environment(const char* protocol);
// Programs that this PE starts must not speak on the socket.
void keep_pmi_socket();

}  // namespace shmemx::bootstrap
