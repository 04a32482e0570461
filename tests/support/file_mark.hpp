// A file by which PEs of one machine tell each other something without the library. For programs of pe_test.hpp.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "pe_test.hpp"

namespace pe_test {

// The file is not there at first. Construction and destruction are collective.
class FileMark {
 public:
  FileMark() {
    static char shared[sizeof name_];  // on other PEs only the broadcast stores to it, which may be early
    if (me() == 0) {
      const int fd = mkstemp(name_);
      CHECK(fd >= 0);
      close(fd);
      unlink(name_);
      std::copy(std::begin(name_), std::end(name_), shared);
    }
    shmem_char_broadcast(SHMEM_TEAM_WORLD, shared, shared, sizeof shared, 0);
    std::copy(std::begin(shared), std::end(shared), name_);
  }
  ~FileMark() {
    shmem_barrier_all();
    if (me() == 0) unlink(name_);
  }
  FileMark(const FileMark&) = delete;
  FileMark& operator=(const FileMark&) = delete;
  void write() const { close(open(name_, O_CREAT | O_WRONLY | O_CLOEXEC, 0600)); }
  bool is_there() const { return access(name_, F_OK) == 0; }

 private:
  char name_[32] = "/tmp/shmemx_test_XXXXXX";
};

}  // namespace pe_test
