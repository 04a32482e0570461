#include "bootstrap/pmi1.hpp"

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
#include <cstdlib>

namespace shmemx::bootstrap {
namespace {

constexpr int kHelloMs = 30'000;  // a launcher answers at once; only a loaded machine makes it late
constexpr int kForever = -1;
constexpr int kOutputMs = 300;

Error pmi_error(std::string text, int system_errno = 0) {
  return Error{Errc::protocol, system_errno, "PMI-1: " + std::move(text)};
}

std::size_t limit_of(const std::string& line, const char* key, std::size_t fallback) {
  const std::string text = word_of(line, key);
  const unsigned long value = std::strtoul(text.c_str(), nullptr, 10);
  return value > 0 ? value : fallback;
}

// What the other end of a pipe or socket has not read yet; 0 where that cannot be known.
int unread_bytes(int fd) {
  struct stat about {};
  int bytes = 0;
  if (::fstat(fd, &about) != 0 || !(S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode))) return 0;
  return ::ioctl(fd, S_ISFIFO(about.st_mode) ? FIONREAD : SIOCOUTQ, &bytes) == 0 ? bytes : 0;
}

// The launcher's proxy ends as soon as it reads of the abort; what this PE has printed and it has not read is lost.
void let_output_pass() {
  constexpr timespec kPause{0, 1'000'000};
  for (int turn = 0; turn < kOutputMs && unread_bytes(STDOUT_FILENO) + unread_bytes(STDERR_FILENO) > 0; ++turn) {
    ::nanosleep(&kPause, nullptr);
  }
}

}  // namespace

std::string word_of(const std::string& line, const char* key) {
  const std::string needle = std::string(key) + "=";
  std::size_t at = 0;
  while (at < line.size()) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    if (line.compare(at, needle.size(), needle) == 0) return line.substr(at + needle.size(), end - at - needle.size());
    at = end + 1;
  }
  return {};
}

Result<KvsPtr> Pmi1::open(UniqueFd socket, Identity identity) {
  auto client = std::unique_ptr<Pmi1>(new Pmi1(std::move(socket), identity));
  SHMEMX_TRY(client->introduce());
  return KvsPtr(std::move(client));
}

Status Pmi1::introduce() {
  SHMEMX_TRY_ASSIGN(hello, ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init", kHelloMs));
  SHMEMX_TRY_ASSIGN(maxes, ask("cmd=get_maxes", "maxes", kHelloMs));
  key_max_ = limit_of(maxes, "keylen_max", key_max_);
  value_max_ = limit_of(maxes, "vallen_max", value_max_);
  SHMEMX_TRY_ASSIGN(own, ask("cmd=get_my_kvsname", "my_kvsname", kHelloMs));
  kvs_name_ = word_of(own, "kvsname");
  if (kvs_name_.empty()) return pmi_error("the launcher names no key-value space");
  return {};
}

Status Pmi1::send_line(const std::string& line) {
  const std::string text = line + "\n";
  std::size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t n = ::send(socket_.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return pmi_error("the launcher's socket does not take data", errno);
    sent += static_cast<std::size_t>(n);
  }
  return {};
}

Result<std::string> Pmi1::read_line(int timeout_ms) {
  constexpr std::size_t kLongestLine = 1 << 16;
  for (;;) {
    if (const std::size_t end = unread_.find('\n'); end != std::string::npos) {
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    if (unread_.size() > kLongestLine) return pmi_error("the launcher sends a line without end");
    pollfd ready{socket_.get(), POLLIN, 0};
    const int n_ready = ::poll(&ready, 1, timeout_ms);
    if (n_ready < 0 && errno == EINTR) continue;
    if (n_ready == 0) return pmi_error("the launcher does not answer");
    char buffer[1024];
    const ssize_t n = ::recv(socket_.get(), buffer, sizeof buffer, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return pmi_error("the launcher closed its socket", n < 0 ? errno : 0);
    unread_.append(buffer, static_cast<std::size_t>(n));
  }
}

Result<std::string> Pmi1::ask(const std::string& request, const char* expected, int timeout_ms) {
  SHMEMX_TRY(send_line(request));
  SHMEMX_TRY_ASSIGN(line, read_line(timeout_ms));
  if (word_of(line, "cmd") != expected) return pmi_error("'" + request + "' was answered by '" + line + "'");
  const std::string rc = word_of(line, "rc");
  if (!rc.empty() && rc != "0") return pmi_error("'" + request + "' failed: " + line);
  return line;
}

// PMI-1 has one space of keys for all PEs, and refuses to put a key twice.
std::string Pmi1::full_key(int owner, const std::string& key) const { return key + "-" + std::to_string(owner); }

Status Pmi1::put(const std::string& key, const std::string& value) {
  const std::string name = full_key(identity_.pe, key);
  if (name.size() >= key_max_ || value.size() >= value_max_) {
    return pmi_error("the launcher takes keys of " + std::to_string(key_max_) + " and values of " +
                     std::to_string(value_max_) + " bytes, too short for " + name);
  }
  auto answer = ask("cmd=put kvsname=" + kvs_name_ + " key=" + name + " value=" + value, "put_result", kForever);
  if (!answer) return answer.error();
  return {};
}

Status Pmi1::fence() {
  auto answer = ask("cmd=barrier_in", "barrier_out", kForever);
  if (!answer) return answer.error();
  return {};
}

Result<std::string> Pmi1::get(int owner, const std::string& key) {
  SHMEMX_TRY_ASSIGN(line, ask("cmd=get kvsname=" + kvs_name_ + " key=" + full_key(owner, key), "get_result", kForever));
  return word_of(line, "value");
}

void Pmi1::abort(int status) {
  let_output_pass();
  (void)send_line("cmd=abort exitcode=" + std::to_string(status)).has_value();
}

void Pmi1::finalize() {
  if (!socket_.valid()) return;
  (void)ask("cmd=finalize", "finalize_ack", kHelloMs).has_value();
  socket_.reset();
}

Result<KvsPtr> connect_pmi1() {
  const long fd = env_number("PMI_FD");
  const long pe = env_number("PMI_RANK");
  const long size = env_number("PMI_SIZE");
  if (fd < 0 || size < 1 || pe < 0 || pe >= size) return pmi_error("PMI_FD, PMI_RANK and PMI_SIZE do not fit");
  struct stat about {};
  if (::fstat(static_cast<int>(fd), &about) != 0 || !S_ISSOCK(about.st_mode)) {
    return pmi_error("PMI_FD=" + std::to_string(fd) + " is not an open socket");
  }
  // Not the caller's descriptor itself: if this fails, whoever owns the number keeps it.
  UniqueFd socket(::fcntl(static_cast<int>(fd), F_DUPFD_CLOEXEC, 3));
  if (!socket.valid()) return pmi_error("PMI_FD cannot be duplicated", errno);
  auto client = Pmi1::open(std::move(socket), {static_cast<int>(pe), static_cast<int>(size)});
  if (client) ::fcntl(static_cast<int>(fd), F_SETFD, FD_CLOEXEC);  // programs this PE starts must not speak on it
  return client;
}

}  // namespace shmemx::bootstrap
