// Messages to a host's first process, and its replies. All have one form: a header, a text, descriptors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "posix.hpp"

namespace vhosts {

enum class Kind : std::uint32_t {
  start,      // token; text = a Command; descriptors = its 0, 1, 2, ...
  signal,     // token, value = signal number
  configure,  // text = lines for `ip -batch`, or commands of tc
  inspect,    // lists what is left in this host
  ended,      // reply: token, value = wait status
  done,       // reply to configure and inspect: text = error or findings, empty if there are none
};

struct Message {
  Kind kind = Kind::done;
  std::uint32_t token = 0;
  std::int32_t value = 0;
  std::string text = {};
  std::vector<Fd> fds = {};
};

// A program to run: the texts of argv, the environment and the folder it starts in.
struct Command {
  std::vector<std::string> argv;
  std::vector<std::string> environment;
  std::string folder;
  bool own_session = false;

  std::string encode() const;
  static Command decode(const std::string& text);
};

std::vector<std::string> own_environment();
void set_variable(std::vector<std::string>& environment, const std::string& name, const std::string& value);

constexpr std::size_t kMaxFds = 8;

// Descriptors are duplicated into the receiver; the sender keeps its own.
void send_message(int socket, const Message& message, const std::vector<int>& fds = {});

// Returns false if the other end is closed.
bool receive_message(int socket, Message& message);

}  // namespace vhosts
