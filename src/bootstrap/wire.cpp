#include "bootstrap/wire.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <cstring>
#include <span>

#include "base/lazy_mapping.hpp"
#include "base/machine.hpp"
#include "base/random_bytes.hpp"

namespace shmemx::bootstrap {
namespace {

JobHeader* map_bytes(int fd, std::size_t bytes) {
  void* at = map_on_touch(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
  return at == MAP_FAILED ? nullptr : static_cast<JobHeader*>(at);
}

// Creates a file without a name in `directory`, in place of a memfd.
UniqueFd create_unlinked(const std::string& directory) {
  UniqueFd fd(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (fd.valid()) return fd;
  std::string path = directory + "/" + kArenaName + "-XXXXXX";  // file systems without O_TMPFILE
  fd = UniqueFd(::mkostemp(path.data(), O_CLOEXEC));
  if (fd.valid()) ::unlink(path.c_str());
  return fd;
}

// Creates the arena file if memfd_create is refused: in memory if there is a file system for it, else on a disk.
Result<UniqueFd> create_in_file_system(std::uint32_t n_node_pes, int memfd_errno) {
  // Header, message region and some static data of each PE. The heap checks for room as it grows.
  constexpr std::uint64_t kLeastBytesForPe = std::uint64_t{4} << 20;
  const char* const chosen = std::getenv("TMPDIR");
  std::string tried;
  for (const std::string& directory :
       {std::string("/dev/shm"), std::string(chosen == nullptr ? "" : chosen), std::string("/tmp")}) {
    if (directory.empty()) continue;
    UniqueFd fd = create_unlinked(directory);
    const std::string why = !fd.valid() ? std::strerror(errno)
                            : file_room_bytes(fd.get()) < n_node_pes * kLeastBytesForPe
                                ? std::to_string(file_room_bytes(fd.get())) + " bytes are free"
                                : "";
    if (why.empty()) return fd;
    tried += (tried.empty() ? "" : ", ") + directory + " (" + why + ")";
  }
  return Error{Errc::system, memfd_errno,
               "create the arena: memfd_create is refused, and no directory can take " +
                   std::to_string(n_node_pes * kLeastBytesForPe) + " bytes instead: " + tried +
                   "; allow memfd_create (a container's seccomp profile may forbid it), or mount a tmpfs at /dev/shm"};
}

Result<UniqueFd> create_shared_file(std::uint32_t n_node_pes) {
  UniqueFd fd(::memfd_create(kArenaName, MFD_CLOEXEC));
  if (fd.valid()) return fd;
  const int cause = errno;
  if (cause == EMFILE || cause == ENFILE) return system_error("create the arena with memfd_create");
  return create_in_file_system(n_node_pes, cause);
}

Error not_this_job(std::string why) {
  return Error{Errc::protocol, 0, "the arena handed to this process does not belong to this job: " + std::move(why)};
}

}  // namespace

std::uint64_t random_id() {
  std::uint64_t id = 0;
  if (!fill_random(std::as_writable_bytes(std::span(&id, 1))) || id == 0) {
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

std::uint64_t file_room_bytes(int fd) noexcept {
  struct statvfs about {};
  if (::fstatvfs(fd, &about) != 0 || about.f_blocks == 0) return kUnlimited;  // a memfd's file system has no size
  return static_cast<std::uint64_t>(about.f_bavail) * about.f_frsize;
}

std::string directory_of_file(int fd) {
  char target[PATH_MAX] = "";
  const ssize_t length = ::readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), target, sizeof target - 1);
  const std::string path(target, static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  if (path.compare(0, 7, "/memfd:") == 0) return {};
  return path.substr(0, path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
}

Result<UniqueFd> create_job_file(std::uint32_t n_pes, std::uint64_t job_id) {
  return create_job_file({n_pes, n_pes, job_id, {random_id(), random_id()}});
}

Result<UniqueFd> create_job_file(const NewJob& job) {
  SHMEMX_TRY_ASSIGN(fd, create_shared_file(job.n_node_pes));
  // If a standard file was closed, its number is free. The program's output must not go into the arena.
  if (fd.get() <= STDERR_FILENO) fd = UniqueFd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!fd.valid()) return system_error("move the arena's descriptor away from the standard files");
  const std::size_t bytes = header_bytes(job.n_pes, job.n_node_pes);
  SHMEMX_TRY(size_job_file(fd.get(), bytes));
  JobHeader* header = map_bytes(fd.get(), bytes);
  if (header == nullptr) return system_error("map the arena's header");
  header->job_id = job.job_id;
  header->version = kWireVersion;
  header->n_pes = job.n_pes;
  header->n_node_pes = header->n_places = job.n_node_pes;
  header->secret[0] = job.secret[0];
  header->secret[1] = job.secret[1];
  header->magic.store(kJobMagic, std::memory_order_release);  // edge: a reader of the magic sees the fields above
  unmap_job_header(header);
  return fd;
}

bool read_job_name(int fd, JobName& name) {
  struct stat about {};
  alignas(JobHeader) std::byte begin[offsetof(JobHeader, n_node_pes)];
  if (::fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) return false;
  if (::pread(fd, begin, sizeof begin, 0) != static_cast<ssize_t>(sizeof begin)) return false;
  const auto field = [&]<class T>(T& value, std::size_t offset) { std::memcpy(&value, begin + offset, sizeof value); };
  std::uint64_t magic = 0;
  field(magic, offsetof(JobHeader, magic));
  field(name.n_pes, offsetof(JobHeader, n_pes));
  field(name.job_id, offsetof(JobHeader, job_id));
  return magic == kJobMagic;
}

Result<JobHeader*> map_job_header(int fd, std::uint32_t n_pes, std::uint64_t job_id) {
  struct stat about {};
  if (::fstat(fd, &about) != 0) return system_error("look at the arena's descriptor " + std::to_string(fd));
  const auto file_bytes = static_cast<std::size_t>(about.st_size);
  if (!S_ISREG(about.st_mode) || file_bytes < header_bytes(n_pes, 1))
    return not_this_job("descriptor " + std::to_string(fd) + " is another file");
  JobHeader* const first = map_bytes(fd, kPageBytes);
  if (first == nullptr) return system_error("map the arena's header");
  const char* why = nullptr;
  if (first->magic.load(std::memory_order_acquire) != kJobMagic) {
    why = "it has no job header";
  } else if (first->version != kWireVersion) {
    why = "it was made by another version of shmemx";
  } else if (first->job_id != job_id || first->n_pes != n_pes || file_bytes < layout_of(first).bytes()) {
    why = "it is the arena of another job";
  }
  const std::size_t bytes = why == nullptr ? layout_of(first).bytes() : 0;
  ::munmap(first, kPageBytes);
  if (why != nullptr) return not_this_job(why);
  JobHeader* const header = map_bytes(fd, bytes);
  if (header == nullptr) return system_error("map the arena's header");
  return header;
}

void unmap_job_header(JobHeader* header) { ::munmap(header, layout_of(header).bytes()); }

}  // namespace shmemx::bootstrap
