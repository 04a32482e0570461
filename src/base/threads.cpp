#include "base/threads.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/unique_fd.hpp"

namespace shmemx {

bool main_thread_has_ended() noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/stat", static_cast<int>(::getpid()));
  const UniqueFd file(::open(path, O_RDONLY | O_CLOEXEC));
  char text[256] = "";
  if (!file.valid() || ::read(file.get(), text, sizeof text - 1) <= 0) return false;
  const char* const name_end = std::strrchr(text, ')');  // the name may contain any character
  return name_end != nullptr && std::strncmp(name_end, ") Z", 3) == 0;
}

bool only_these_threads_run(std::span<const pid_t> known) noexcept {
  DIR* const list = ::opendir("/proc/self/task");
  if (list == nullptr) return false;
  bool only = true;
  bool any = false;
  while (const dirent* const entry = ::readdir(list)) {
    const pid_t thread = std::atoi(entry->d_name);  // 0 for "." and ".."
    any = any || thread > 0;
    only =
        only && (thread <= 0 || thread == ::getpid() || std::find(known.begin(), known.end(), thread) != known.end());
  }
  ::closedir(list);
  return any && only;
}

}  // namespace shmemx
