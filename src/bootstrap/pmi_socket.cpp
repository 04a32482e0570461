#include "bootstrap/pmi_socket.hpp"

#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "bootstrap/ancestors.hpp"

namespace shmemx::bootstrap {
namespace {

constexpr int kOutputMs = 300;
constexpr std::size_t kLongestLine = 1 << 16;

constinit bool pmi_is_inherited = false;  // PMI_FD is open in this process

// Returns how many bytes the other end of a pipe or socket has not read yet; 0 if that cannot be known.
int unread_bytes(int fd) {
  struct stat about {};
  int bytes = 0;
  if (::fstat(fd, &about) != 0 || !(S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode))) return 0;
  return ::ioctl(fd, S_ISFIFO(about.st_mode) ? FIONREAD : SIOCOUTQ, &bytes) == 0 ? bytes : 0;
}

}  // namespace

Error PmiSocket::error(std::string text, int system_errno) const {
  return Error{Errc::protocol, system_errno, std::string(protocol_) + ": " + std::move(text)};
}

Status PmiSocket::send(const std::string& text) {
  std::size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t n = ::send(socket_.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return error("the launcher's socket does not take data", errno);
    sent += static_cast<std::size_t>(n);
  }
  return {};
}

Status PmiSocket::receive_more(int timeout_ms) {
  for (;;) {
    pollfd ready{socket_.get(), POLLIN, 0};
    const int n_ready = ::poll(&ready, 1, timeout_ms);
    if (n_ready < 0 && errno == EINTR) continue;
    if (n_ready == 0) return error("the launcher does not answer");
    char buffer[4096];
    const ssize_t n = ::recv(socket_.get(), buffer, sizeof buffer, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return error("the launcher closed its socket", n < 0 ? errno : 0);
    unread_.append(buffer, static_cast<std::size_t>(n));
    return {};
  }
}

Result<std::string> PmiSocket::receive_line(int timeout_ms) {
  std::size_t end = 0;
  while ((end = unread_.find('\n')) == std::string::npos) {
    if (unread_.size() > kLongestLine) return error("the launcher sends a line without end");
    SHMEMX_TRY(receive_more(timeout_ms));
  }
  std::string line = unread_.substr(0, end);
  unread_.erase(0, end + 1);
  return line;
}

Result<std::string> PmiSocket::receive_bytes(std::size_t n_bytes, int timeout_ms) {
  while (unread_.size() < n_bytes) SHMEMX_TRY(receive_more(timeout_ms));
  std::string bytes = unread_.substr(0, n_bytes);
  unread_.erase(0, n_bytes);
  return bytes;
}

Status PmiSocket::say_hello(int version) {
  const std::string number = std::to_string(version);
  const std::string subversion = version == 1 ? "1" : "0";
  SHMEMX_TRY(send("cmd=init pmi_version=" + number + " pmi_subversion=" + subversion + "\n"));
  SHMEMX_TRY_ASSIGN(line, receive_line(kPmiHelloMs));
  const std::string rc = word_of(line, "rc");
  const std::string answered = word_of(line, "pmi_version");
  const bool fits = word_of(line, "cmd") == "response_to_init" && (rc.empty() || rc == "0") &&
                    (answered.empty() || answered == number);
  if (!fits) return error("the launcher does not speak this version: '" + line + "'");
  return {};
}

std::string full_key(int owner, const std::string& key) { return key + "-" + std::to_string(owner); }

std::string word_of(const std::string& line, const char* key, char separator) {
  const std::string needle = std::string(key) + "=";
  std::size_t at = 0;
  while (at < line.size()) {
    const std::size_t end = std::min(line.find(separator, at), line.size());
    if (line.compare(at, needle.size(), needle) == 0) return line.substr(at + needle.size(), end - at - needle.size());
    at = end + 1;
  }
  return {};
}

void let_output_pass() {
  constexpr timespec kPause{0, 1'000'000};
  for (int turn = 0; turn < kOutputMs && unread_bytes(STDOUT_FILENO) + unread_bytes(STDERR_FILENO) > 0; ++turn) {
    ::nanosleep(&kPause, nullptr);
  }
}

Result<PmiStart> read_pmi_environment(const char* protocol) {
  const std::string who = std::string(protocol) + ": ";
  const long fd = env_number("PMI_FD");
  const long pe = env_number("PMI_RANK");
  const long size = env_number("PMI_SIZE");
  if (fd < 0 || size < 1 || pe < 0 || pe >= size) {
    return Error{Errc::protocol, 0, who + "PMI_FD, PMI_RANK and PMI_SIZE do not fit"};
  }
  struct stat about {};
  PmiStart start;
  pmi_is_inherited = ::fstat(static_cast<int>(fd), &about) == 0 && S_ISSOCK(about.st_mode);
  start.socket = pmi_is_inherited ? UniqueFd(::fcntl(static_cast<int>(fd), F_DUPFD_CLOEXEC, 3))
                                  : socket_from_ancestor(static_cast<int>(fd), "PMI_FD");
  if (!pmi_is_inherited && !start.socket.valid()) {
    return Error{Errc::protocol, 0, who + "PMI_FD=" + std::to_string(fd) + " is not an open socket"};
  }
  if (!start.socket.valid()) return Error{Errc::protocol, errno, who + "PMI_FD cannot be duplicated"};
  start.identity = {static_cast<int>(pe), static_cast<int>(size)};
  return start;
}

void keep_pmi_socket() {
  if (pmi_is_inherited) ::fcntl(static_cast<int>(env_number("PMI_FD")), F_SETFD, FD_CLOEXEC);
}

}  // namespace shmemx::bootstrap
