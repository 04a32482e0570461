// A key-value store for tasks of srun --mpi=none, to which Slurm gives numbers and no interface. On one node they meet
// at an abstract socket that is named after the step. Task 0 listens. A fence sends it all values, and it sends all to
// everybody.
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/abstract_address.hpp"
#include "base/unique_fd.hpp"
#include "bootstrap/backends.hpp"

namespace shmemx::bootstrap {
namespace {

constexpr int kPatienceMs = 30'000;  // for tasks that start late
constexpr std::uint32_t kLongestRecord = 1U << 28;

Error step_error(std::string text, int system_errno = 0) {
  return Error{Errc::protocol, system_errno, "Slurm's step: " + std::move(text)};
}

Status write_bytes(int socket, const void* data, std::size_t n_bytes) {
  for (std::size_t done = 0; done < n_bytes;) {
    const ssize_t n = ::send(socket, static_cast<const char*>(data) + done, n_bytes - done, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return step_error("another task does not take data", errno);
    done += static_cast<std::size_t>(n);
  }
  return {};
}

Status read_bytes(int socket, void* data, std::size_t n_bytes) {
  for (std::size_t done = 0; done < n_bytes;) {
    const ssize_t n = ::recv(socket, static_cast<char*>(data) + done, n_bytes - done, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return step_error("another task has ended", n < 0 ? errno : 0);
    done += static_cast<std::size_t>(n);
  }
  return {};
}

Status write_text(int socket, const std::string& text) {
  const auto n_bytes = static_cast<std::uint32_t>(text.size());
  SHMEMX_TRY(write_bytes(socket, &n_bytes, sizeof n_bytes));
  return write_bytes(socket, text.data(), text.size());
}

Result<std::string> read_text(int socket) {
  std::uint32_t n_bytes = 0;
  SHMEMX_TRY(read_bytes(socket, &n_bytes, sizeof n_bytes));
  if (n_bytes > kLongestRecord) return step_error("another task sends rubbish");
  std::string text(n_bytes, '\0');
  SHMEMX_TRY(read_bytes(socket, text.data(), text.size()));
  return text;
}

bool belongs_to_this_user(int socket) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.uid == ::geteuid();
}

AbstractAddress address_of_step(const std::string& step) {
  return AbstractAddress("shmemx-step-%u-%s", static_cast<unsigned>(::geteuid()), step.c_str());
}

void set_patience(int socket) {
  const timeval patience{kPatienceMs / 1000, 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
}

class SlurmStep final : public Kvs {
 public:
  explicit SlurmStep(Identity identity, std::string step) : identity_(identity), step_(std::move(step)) {}
  Status meet() { return identity_.pe == 0 ? gather() : join(); }

  Identity identity() const override { return identity_; }
  std::string_view name() const override { return "slurm"; }
  std::size_t value_bytes() const override { return 1 << 20; }  // no limit
  Status put(const std::string& key, const std::string& value) override {
    staged_ += key + "-" + std::to_string(identity_.pe) + "=" + value + "\n";
    return {};
  }
  Status fence() override;
  Result<std::string> get(int owner, const std::string& key) override;
  void abort(int status) override;
  void finalize() override { sockets_.clear(); }

 private:
  Status gather();
  Status join();
  Status admit(UniqueFd task, std::vector<UniqueFd>& admitted);
  void keep(const std::string& lines);

  Identity identity_;
  std::string step_;
  std::vector<UniqueFd> sockets_;  // on task 0 by task, on the others to task 0
  std::map<std::string, std::string> values_;
  std::string staged_;
};

// Takes a connection in. Closes it if it is not from a process of this user.
Status SlurmStep::admit(UniqueFd task, std::vector<UniqueFd>& admitted) {
  if (!belongs_to_this_user(task.get())) return {};
  set_patience(task.get());
  std::int32_t hello[2] = {};
  SHMEMX_TRY(read_bytes(task.get(), hello, sizeof hello));
  const auto pe = static_cast<std::size_t>(hello[0]);
  if (hello[0] < 1 || hello[0] >= identity_.n_pes || hello[1] != identity_.n_pes || admitted[pe].valid()) {
    return step_error("task " + std::to_string(hello[0]) + " of " + std::to_string(hello[1]) + " does not fit in");
  }
  const timeval for_ever{};
  ::setsockopt(task.get(), SOL_SOCKET, SO_RCVTIMEO, &for_ever, sizeof for_ever);
  admitted[pe] = std::move(task);
  sockets_.emplace_back();  // counts
  return {};
}

Status SlurmStep::gather() {
  const UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const AbstractAddress address = address_of_step(step_);
  if (!listener.valid() || ::bind(listener.get(), address.get(), address.bytes()) != 0 ||
      ::listen(listener.get(), identity_.n_pes) != 0) {
    return step_error("cannot listen for the other tasks", errno);
  }
  set_patience(listener.get());
  std::vector<UniqueFd> admitted(static_cast<std::size_t>(identity_.n_pes));
  while (static_cast<int>(sockets_.size()) < identity_.n_pes - 1) {
    UniqueFd task(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!task.valid() && errno == EINTR) continue;
    if (!task.valid()) {
      return step_error(std::to_string(identity_.n_pes - 1 - static_cast<int>(sockets_.size())) +
                        " tasks have not called shmem_init after " + std::to_string(kPatienceMs / 1000) + " s");
    }
    SHMEMX_TRY(admit(std::move(task), admitted));
  }
  sockets_ = std::move(admitted);
  return {};
}

Status SlurmStep::join() {
  const AbstractAddress address = address_of_step(step_);
  constexpr int kPauseMs = 5;
  for (int waited_ms = 0; waited_ms < kPatienceMs; waited_ms += kPauseMs) {
    UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(socket.get(), address.get(), address.bytes()) == 0) {
      if (!belongs_to_this_user(socket.get())) return step_error("its socket belongs to another user");
      const std::int32_t hello[2] = {identity_.pe, identity_.n_pes};
      SHMEMX_TRY(write_bytes(socket.get(), hello, sizeof hello));
      sockets_.push_back(std::move(socket));
      return {};
    }
    const timespec pause{0, kPauseMs * 1'000'000};
    ::nanosleep(&pause, nullptr);
  }
  return step_error("task 0 has not called shmem_init after " + std::to_string(kPatienceMs / 1000) + " s");
}

void SlurmStep::keep(const std::string& lines) {
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    const std::string line = lines.substr(at, end - at);
    const std::size_t equals = std::min(line.find('='), line.size());
    values_[line.substr(0, equals)] = line.substr(std::min(equals + 1, line.size()));
    at = end + 1;
  }
}

Status SlurmStep::fence() {
  std::string all = std::move(staged_);
  staged_.clear();
  if (identity_.pe != 0) {
    SHMEMX_TRY(write_text(sockets_[0].get(), all));
    SHMEMX_TRY_ASSIGN(merged, read_text(sockets_[0].get()));
    keep(merged);
    return {};
  }
  for (std::size_t task = 1; task < sockets_.size(); ++task) {
    SHMEMX_TRY_ASSIGN(more, read_text(sockets_[task].get()));
    all += more;
  }
  for (std::size_t task = 1; task < sockets_.size(); ++task) SHMEMX_TRY(write_text(sockets_[task].get(), all));
  keep(all);
  return {};
}

Result<std::string> SlurmStep::get(int owner, const std::string& key) {
  const std::string name = key + "-" + std::to_string(owner);
  const auto found = values_.find(name);
  if (found == values_.end()) return step_error("nobody has put " + name);
  return found->second;
}

// Ends the step by Slurm: nothing else can end the other tasks.
void SlurmStep::abort(int) {
  const std::string command = "scancel --signal=KILL " + step_ + " >/dev/null 2>&1 </dev/null";
  (void)!std::system(command.c_str());
}

bool is_plain_number(const char* text) {
  return text != nullptr && *text != '\0' && std::strspn(text, "0123456789") == std::strlen(text);
}

}  // namespace

Result<KvsPtr> connect_slurm_step() {
  const long pe = env_number("SLURM_PROCID");
  const long size = env_number("SLURM_STEP_NUM_TASKS");
  const long n_nodes = env_number("SLURM_STEP_NUM_NODES");
  const char* job = std::getenv("SLURM_JOB_ID");
  const char* step = std::getenv("SLURM_STEP_ID");
  if (size < 1 || pe < 0 || pe >= size || n_nodes < 1 || !is_plain_number(job) || !is_plain_number(step)) {
    return step_error(
        "SLURM_PROCID, SLURM_STEP_NUM_TASKS, SLURM_STEP_NUM_NODES, SLURM_JOB_ID and SLURM_STEP_ID do not "
        "tell enough");
  }
  if (n_nodes > 1)
    return step_error("on several nodes its tasks need srun --mpi=pmi2 or --mpi=pmix to find each other");
  const Identity identity{static_cast<int>(pe), static_cast<int>(size)};
  auto client = std::make_unique<SlurmStep>(identity, std::string(job) + "." + step);
  SHMEMX_TRY(client->meet());
  return KvsPtr(std::move(client));
}

}  // namespace shmemx::bootstrap
