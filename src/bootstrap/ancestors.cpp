#include "bootstrap/ancestors.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace shmemx::bootstrap {
namespace {

std::string path_of(pid_t process, const char* file) { return "/proc/" + std::to_string(process) + "/" + file; }

// Not a stream: the library carries what it uses of the C++ library, and streams bring all locales.
std::string text_of(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char part[1024];
  for (ssize_t got; file.valid() && (got = ::read(file.get(), part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(got));
  return text;
}

// Returns the parent of a process, 0 if it has none here or is not known.
pid_t parent_of(pid_t process) {
  const std::string text = text_of(path_of(process, "stat"));
  const std::size_t name_end = text.rfind(')');  // the name may contain any character
  int parent = 0;
  char state = 0;
  if (name_end == std::string::npos) return 0;
  return std::sscanf(text.c_str() + name_end + 1, " %c %d", &state, &parent) == 2 ? parent : 0;
}

// Calls visit(process) for the processes above this one until it returns a descriptor.
template <class Visit>
UniqueFd search_above(Visit visit) {
  for (pid_t process = ::getppid(); process > 1; process = parent_of(process)) {
    if (UniqueFd found = visit(process); found.valid()) return found;
  }
  return {};
}

bool has_variable(pid_t process, const std::string& setting) {
  const std::string end(1, '\0');
  return (end + text_of(path_of(process, "environ"))).find(end + setting + end) != std::string::npos;
}

bool is_socket(int fd) {
  struct stat about {};
  return ::fstat(fd, &about) == 0 && S_ISSOCK(about.st_mode);
}

}  // namespace

UniqueFd open_from_ancestor(int fd, bool (*is_right)(int fd, const void* job), const void* job) {
  return search_above([&](pid_t process) {
    UniqueFd opened(::open(path_of(process, ("fd/" + std::to_string(fd)).c_str()).c_str(), O_RDWR | O_CLOEXEC));
    return opened.valid() && is_right(opened.get(), job) ? std::move(opened) : UniqueFd();
  });
}

UniqueFd socket_from_ancestor([[maybe_unused]] int fd, const char* variable) {
  const char* const value = std::getenv(variable);
  if (value == nullptr) return {};
#if defined(SYS_pidfd_open) && defined(SYS_pidfd_getfd)
  return search_above([&](pid_t process) {
    if (!has_variable(process, std::string(variable) + "=" + value)) return UniqueFd();
    const UniqueFd handle(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
    if (!handle.valid()) return UniqueFd();
    UniqueFd taken(static_cast<int>(::syscall(SYS_pidfd_getfd, handle.get(), fd, 0)));
    return taken.valid() && is_socket(taken.get()) ? std::move(taken) : UniqueFd();
  });
#else
  return {};
#endif
}

void let_first_pe_speak(int pe) {
  constexpr timespec kPause{2, 0};
  if (pe > 0) ::nanosleep(&kPause, nullptr);
}

}  // namespace shmemx::bootstrap
