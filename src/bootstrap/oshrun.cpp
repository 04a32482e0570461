#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "bootstrap/ancestors.hpp"
#include "bootstrap/backends.hpp"
#include "bootstrap/wire.hpp"

namespace shmemx::bootstrap {
namespace {

class Oshrun final : public Bootstrap {
 public:
  Oshrun(Identity identity, std::uint64_t job_id, int fd) : identity_(identity), job_id_(job_id), fd_(fd) {}

  Identity identity() const override { return identity_; }
  std::string_view name() const override { return "oshrun"; }
  Result<UniqueFd> arena() override;
  // Nothing to do: oshrun sees the process end and reads the header's end_word.
  void abort(int) override {}
  void finalize() override {}

 private:
  Identity identity_;
  std::uint64_t job_id_;
  int fd_;
};

Error stale(const std::string& why) {
  return Error{Errc::no_launcher, 0,
               "the SHMEMX_JOB_* variables are set, but not by an oshrun that started this process (" + why +
                   "); unset them or start the program with oshrun"};
}

bool is_arena_of(int fd, const void* job) {
  const auto& own = *static_cast<const OshrunJob*>(job);
  auto header = map_job_header(fd, static_cast<std::uint32_t>(own.identity.n_pes), own.job_id);
  if (header) unmap_job_header(*header);
  return header.has_value();
}

Error closed(int pe, int fd) {
  let_first_pe_speak(pe);
  return stale("descriptor " + std::to_string(fd) + " is not open, nor in a process above this one; " +
               kKeepDescriptors);
}

// Fails if another program is this PE already. Only the first program that a PE's process, or its wrapper script,
// starts can be the PE, since the arena counts every PE once.
Status not_taken_yet(JobHeader* header, int pe) {
  const PeRecord* record = record_of(header, static_cast<std::size_t>(pe));
  const bool taken = phase_of(*record) != PePhase::none;
  if (!taken || record->pid == ::getpid()) return {};
  return Error{Errc::protocol, 0,
               "pe " + std::to_string(pe) + " of this job was already taken by process " + std::to_string(record->pid) +
                   "; a program started by oshrun, or its wrapper script, can run one OpenSHMEM program for each PE"};
}

Result<UniqueFd> Oshrun::arena() {
  auto header = map_job_header(fd_, static_cast<std::uint32_t>(identity_.n_pes), job_id_);
  if (!header) return stale(header.error().text);
  const Status free_to_take = not_taken_yet(*header, identity_.pe);
  unmap_job_header(*header);
  if (!free_to_take) return free_to_take.error();
  UniqueFd fd(::fcntl(fd_, F_DUPFD_CLOEXEC, 3));
  if (!fd.valid()) return system_error("duplicate the arena's descriptor");
  ::fcntl(fd_, F_SETFD, FD_CLOEXEC);  // programs that this PE starts must not become the PE
  return fd;
}

}  // namespace

long env_number(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text < '0' || *text > '9') return -1;
  char* end = nullptr;
  errno = 0;
  const long value = std::strtol(text, &end, 10);
  return errno == 0 && *end == '\0' ? value : -1;
}

bool started_by_oshrun() {
  for (const char* variable : {kEnvFd, kEnvPe, kEnvSize, kEnvId}) {
    if (std::getenv(variable) != nullptr) return true;
  }
  return false;
}

Result<OshrunJob> read_oshrun_job() {
  const long fd = env_number(kEnvFd);
  const long pe = env_number(kEnvPe);
  const long size = env_number(kEnvSize);
  const char* id_text = std::getenv(kEnvId);
  if (fd < 0 || size < 1 || size > kMaxNodePes || pe < 0 || pe >= size || id_text == nullptr) {
    return stale("they are incomplete or out of range");
  }
  char* end = nullptr;
  const std::uint64_t id = std::strtoull(id_text, &end, 16);
  if (end == id_text || *end != '\0') return stale(std::string(kEnvId) + " is not a hexadecimal number");
  OshrunJob job{{static_cast<int>(pe), static_cast<int>(size)}, id, static_cast<int>(fd)};
  auto header = map_job_header(job.fd, static_cast<std::uint32_t>(size), id);
  if (header) {
    unmap_job_header(*header);
    return job;
  }
  const bool is_closed = ::fcntl(job.fd, F_GETFD) < 0;
  UniqueFd opened = open_from_ancestor(job.fd, is_arena_of, &job);
  if (!opened.valid()) return is_closed ? closed(job.identity.pe, job.fd) : stale(header.error().text);
  job.fd = opened.release();  // close-on-exec, and this PE's for its life
  return job;
}

Result<BootstrapPtr> connect_oshrun() {
  SHMEMX_TRY_ASSIGN(job, read_oshrun_job());
  return BootstrapPtr(new Oshrun(job.identity, job.job_id, job.fd));
}

}  // namespace shmemx::bootstrap
