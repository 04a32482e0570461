#include "message.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cstring>

extern char** environ;

namespace vhosts {
namespace {

struct Head {
  std::uint32_t kind;
  std::uint32_t token;
  std::int32_t value;
  std::uint32_t bytes;
};
constexpr std::uint32_t kMaxBytes = 4 << 20;

union Control {
  char space[CMSG_SPACE(kMaxFds * sizeof(int))];
  cmsghdr align;
};

bool receive_all(int socket, char* at, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = ::recv(socket, at, bytes, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

void send_all(int socket, const char* at, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = ::send(socket, at, bytes, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    check(static_cast<int>(n), "send to a host");
    at += n;
    bytes -= static_cast<std::size_t>(n);
  }
}

void take_fds(msghdr& header, std::vector<Fd>& fds) {
  for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
      fds.emplace_back(fd);
    }
  }
}

void append_list(std::string& out, const std::vector<std::string>& list) {
  out += std::to_string(list.size()) + '\0';
  for (const std::string& text : list) out += text + '\0';
}

std::string take_text(const std::string& in, std::size_t& at) {
  const std::size_t end = in.find('\0', at);
  if (end == std::string::npos) throw Failure("a request to a host is cut off");
  std::string text = in.substr(at, end - at);
  at = end + 1;
  return text;
}

std::vector<std::string> take_list(const std::string& in, std::size_t& at) {
  const std::size_t count = std::stoul(take_text(in, at));
  std::vector<std::string> list;
  while (list.size() < count) list.push_back(take_text(in, at));
  return list;
}

}  // namespace

std::string Command::encode() const {
  std::string out;
  append_list(out, argv);
  append_list(out, environment);
  append_list(out, {folder, own_session ? "session" : ""});
  return out;
}

Command Command::decode(const std::string& text) {
  std::size_t at = 0;
  Command command;
  command.argv = take_list(text, at);
  command.environment = take_list(text, at);
  const std::vector<std::string> rest = take_list(text, at);
  command.folder = rest.at(0);
  command.own_session = !rest.at(1).empty();
  return command;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> list;
  for (char** variable = environ; *variable != nullptr; ++variable) list.emplace_back(*variable);
  return list;
}

void set_variable(std::vector<std::string>& environment, const std::string& name, const std::string& value) {
  for (std::string& variable : environment) {
    if (variable.compare(0, name.size() + 1, name + "=") == 0) {
      variable = name + "=" + value;
      return;
    }
  }
  environment.push_back(name + "=" + value);
}

void send_message(int socket, const Message& message, const std::vector<int>& fds) {
  Head head{static_cast<std::uint32_t>(message.kind), message.token, message.value,
            static_cast<std::uint32_t>(message.text.size())};
  iovec part{&head, sizeof head};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  Control control{};
  if (!fds.empty()) {
    header.msg_control = control.space;
    header.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
    cmsghdr* const c = CMSG_FIRSTHDR(&header);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
    std::memcpy(CMSG_DATA(c), fds.data(), fds.size() * sizeof(int));
  }
  const ssize_t n = ::sendmsg(socket, &header, MSG_NOSIGNAL);
  check(static_cast<int>(n), "send to a host");
  send_all(socket, reinterpret_cast<const char*>(&head) + n, sizeof head - static_cast<std::size_t>(n));
  send_all(socket, message.text.data(), message.text.size());
}

bool receive_message(int socket, Message& message) {
  Head head{};
  iovec part{&head, sizeof head};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  Control control{};
  header.msg_control = control.space;
  header.msg_controllen = sizeof control.space;
  ssize_t n;
  do {
    n = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  if (n <= 0) return false;
  message.fds.clear();
  take_fds(header, message.fds);
  if (!receive_all(socket, reinterpret_cast<char*>(&head) + n, sizeof head - static_cast<std::size_t>(n))) return false;
  if (head.bytes > kMaxBytes) return false;
  message.kind = static_cast<Kind>(head.kind);
  message.token = head.token;
  message.value = head.value;
  message.text.resize(head.bytes);
  return receive_all(socket, message.text.data(), head.bytes);
}

}  // namespace vhosts
