// The stream socket between a PE and a PMI launcher, inherited as PMI_FD. Both versions of the protocol begin with the
// same line and differ after it.
#pragma once

#include <string>

#include "base/unique_fd.hpp"
#include "bootstrap/backends.hpp"

namespace shmemx::bootstrap {

inline constexpr int kPmiHelloMs = 30'000;  // a launcher replies at once, unless the machine is loaded
inline constexpr int kPmiForever = -1;

class PmiSocket {
 public:
  // `protocol` begins the text of every error.
  PmiSocket(UniqueFd socket, const char* protocol) : socket_(std::move(socket)), protocol_(protocol) {}

  bool valid() const { return socket_.valid(); }
  void close() { socket_.reset(); }
  Error error(std::string text, int system_errno = 0) const;
  // Sends "cmd=init" and checks the reply, which both versions share.
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

// Returns the word after "key=" in a line of words; empty if there is none.
std::string word_of(const std::string& line, const char* key, char separator = ' ');
// Returns the key with its owner: both versions have one space of keys for all PEs.
std::string full_key(int owner, const std::string& key);

// Waits a moment until the launcher has read what this PE has printed. The launcher's proxy ends as soon as it reads of
// an abort, and unread output would be lost.
void let_output_pass();

// The start parameters in the environment. The socket is a duplicate: if no launcher replies, PMI_FD stays open.
struct PmiStart {
  UniqueFd socket;
  Identity identity;
};
Result<PmiStart> read_pmi_environment(const char* protocol);
// Closes the socket to programs that this PE starts.
void keep_pmi_socket();

}  // namespace shmemx::bootstrap
