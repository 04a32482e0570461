// System interfaces of vhosts: owned descriptors, errors that name the failed operation, complete writes.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace vhosts {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() { reset(); }
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

// The machine does not allow virtual hosts: the tests are skipped.
struct NotAllowed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// An error of the user: a wrong argument, or a program that does not exist.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline int check(int result, const std::string& what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

void write_file(const std::string& path, const std::string& text);
std::string read_file(const std::string& path);  // empty if it cannot be read

// Runs a program with `input` as its standard input and waits. Throws a Failure if its status is not 0.
void run_program(const std::vector<std::string>& argv, const std::string& input);

std::vector<char*> pointers(const std::vector<std::string>& strings);  // with the terminating null that exec requires

// "exit status 3", "signal 9 (Killed)"
std::string describe_status(int wait_status);

// The status a shell would give.
int exit_code_of(int wait_status);

double now_seconds();

}  // namespace vhosts
