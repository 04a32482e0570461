#include "bootstrap/wire.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

namespace shmemx::bootstrap {
namespace {

JobHeader* map_bytes(int fd, std::size_t bytes) {
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return at == MAP_FAILED ? nullptr : static_cast<JobHeader*>(at);
}

Error not_this_job(std::string why) {
  return Error{Errc::protocol, 0, "the arena handed to this process does not belong to this job: " + std::move(why)};
}

}  // namespace

std::uint64_t random_id() {
  std::uint64_t id = 0;
  if (::getrandom(&id, sizeof id, 0) != static_cast<ssize_t>(sizeof id) || id == 0) {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    id = static_cast<std::uint64_t>(now.tv_nsec) << 32 ^ static_cast<std::uint64_t>(now.tv_sec) ^
         static_cast<std::uint64_t>(::getpid()) << 20 ^ 1;
  }
  return id;
}

Status size_job_file(int fd, std::size_t bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < bytes) {
    return Error{Errc::no_memory, 0,
                 "the PEs' shared memory needs a file of " + std::to_string(bytes) +
                     " bytes, the limit on file sizes (ulimit -f) is " + std::to_string(limit.rlim_cur) +
                     "; raise the limit, or set SHMEM_SYMMETRIC_SIZE to a smaller heap"};
  }
  if (::ftruncate(fd, static_cast<off_t>(bytes)) != 0)
    return system_error("size the arena to " + std::to_string(bytes) + " bytes");
  return {};
}

Result<UniqueFd> create_job_file(std::uint32_t n_pes, std::uint64_t job_id) {
  return create_job_file({n_pes, n_pes, job_id, {random_id(), random_id()}});
}

Result<UniqueFd> create_job_file(const NewJob& job) {
  UniqueFd fd(::memfd_create("shmemx", MFD_CLOEXEC));
  if (!fd.valid()) return system_error("create the arena with memfd_create");
  // Where a standard file was closed its number is free: what the program prints must not land in the arena.
  if (fd.get() <= STDERR_FILENO) fd = UniqueFd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!fd.valid()) return system_error("move the arena's descriptor away from the standard files");
  const std::size_t bytes = header_bytes(job.n_pes);
  SHMEMX_TRY(size_job_file(fd.get(), bytes));
  JobHeader* header = map_bytes(fd.get(), bytes);
  if (header == nullptr) return system_error("map the arena's header");
  header->job_id = job.job_id;
  header->version = kWireVersion;
  header->n_pes = job.n_pes;
  header->n_node_pes = job.n_node_pes;
  header->secret[0] = job.secret[0];
  header->secret[1] = job.secret[1];
  header->magic.store(kJobMagic, std::memory_order_release);  // edge: whoever reads the magic sees the fields above
  unmap_job_header(header);
  return fd;
}

Result<JobHeader*> map_job_header(int fd, std::uint32_t n_pes, std::uint64_t job_id) {
  struct stat about {};
  if (::fstat(fd, &about) != 0) return system_error("look at the arena's descriptor " + std::to_string(fd));
  const std::size_t bytes = header_bytes(n_pes);
  if (!S_ISREG(about.st_mode) || about.st_size < static_cast<off_t>(bytes)) {
    return not_this_job("descriptor " + std::to_string(fd) + " is another file");
  }
  JobHeader* header = map_bytes(fd, bytes);
  if (header == nullptr) return system_error("map the arena's header");
  const char* why = nullptr;
  if (header->magic.load(std::memory_order_acquire) != kJobMagic) {
    why = "it has no job header";
  } else if (header->version != kWireVersion) {
    why = "it was made by another version of shmemx";
  } else if (header->job_id != job_id || header->n_pes != n_pes) {
    why = "it is the arena of another job";
  }
  if (why == nullptr) return header;
  ::munmap(header, bytes);
  return not_this_job(why);
}

void unmap_job_header(JobHeader* header) { ::munmap(header, header_bytes(header->n_pes)); }

}  // namespace shmemx::bootstrap
