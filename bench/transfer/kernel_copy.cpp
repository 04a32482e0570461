// Copies by the kernel from one address space to another: reading /proc/PID/mem of a process that ptrace has stopped,
// the same without stopping it, and process_vm_readv and process_vm_writev.
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "mechanism.hpp"

namespace shmemx::bench {
namespace {

// Common part: the location of the peer's memory.
class KernelCopy : public Mechanism {
 public:
  using Mechanism::Mechanism;
  void register_mem(const Region& mine) override {
    mine_ = mine;
    theirs_ = link_.exchange(mine.base);
  }

 protected:
  std::byte* theirs_ = nullptr;
};

int open_memory_of(pid_t pid) {
  const int fd = open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw system_refusal("open /proc/PID/mem");
  return fd;
}

void read_memory(int fd, std::byte* dest, const std::byte* address, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t got = pread(fd, dest, bytes, static_cast<off_t>(reinterpret_cast<std::uintptr_t>(address)));
    if (got <= 0) throw system_refusal("read /proc/PID/mem");
    dest += got;
    address += got;
    bytes -= static_cast<std::size_t>(got);
  }
}

// As in the paper: attach, open, read, detach for each transfer; the source is stopped meanwhile.
class Ptrace final : public KernelCopy {
 public:
  using KernelCopy::KernelCopy;

  void init() override {
    bool allowed = true;
    std::string why;
    if (link_.local()) {
      try {
        attach();
        detach();
      } catch (const Unavailable& refusal) {
        allowed = false;
        why = refusal.what();
      }
    }
    link_.barrier();
    if (!allowed) throw Unavailable(why);
  }

  void copy_local(const Transfer& transfer) override {
    attach();
    try {
      const int fd = open_memory_of(link_.peer_pid());
      read_memory(fd, mine_.base + transfer.dest, theirs_ + transfer.source, transfer.bytes);
      close(fd);
    } catch (...) {
      detach();
      throw;
    }
    detach();
  }

 private:
  void attach() {
    const pid_t pid = link_.peer_pid();
    if (ptrace(PTRACE_ATTACH, pid, nullptr, nullptr) != 0) throw system_refusal("PTRACE_ATTACH");
    int status = 0;
    pid_t got = 0;
    while ((got = waitpid(pid, &status, __WALL)) < 0 && errno == EINTR) {
    }
    if (got != pid || !WIFSTOPPED(status)) throw system_refusal("wait for the process to stop");
  }
  void detach() {
    if (ptrace(PTRACE_DETACH, link_.peer_pid(), nullptr, nullptr) != 0) throw system_refusal("PTRACE_DETACH");
  }
};

class ProcessMemory final : public KernelCopy {
 public:
  using KernelCopy::KernelCopy;

  void init() override {
    if (link_.local()) fd_ = open_memory_of(link_.peer_pid());
  }
  void finalize() override {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }
  void copy_local(const Transfer& transfer) override {
    read_memory(fd_, mine_.base + transfer.dest, theirs_ + transfer.source, transfer.bytes);
  }

 private:
  int fd_ = -1;
};

// Serves both directions: the local process is the source of a put and the destination of a get.
class ProcessVm final : public KernelCopy {
 public:
  ProcessVm(Link& link, bool put) : KernelCopy(link), put_(put) {}

  void copy_local(const Transfer& transfer) override {
    std::byte* here = mine_.base + (put_ ? transfer.source : transfer.dest);
    std::byte* there = theirs_ + (put_ ? transfer.dest : transfer.source);
    for (std::size_t left = transfer.bytes; left > 0;) {
      const iovec own{here, left};
      const iovec other{there, left};
      const ssize_t moved = put_ ? process_vm_writev(link_.peer_pid(), &own, 1, &other, 1, 0)
                                 : process_vm_readv(link_.peer_pid(), &own, 1, &other, 1, 0);
      if (moved <= 0) throw system_refusal(put_ ? "process_vm_writev" : "process_vm_readv");
      here += moved;
      there += moved;
      left -= static_cast<std::size_t>(moved);
    }
  }

 private:
  bool put_;
};

}  // namespace

std::unique_ptr<Mechanism> make_ptrace(Link& link, std::size_t) { return std::make_unique<Ptrace>(link); }
std::unique_ptr<Mechanism> make_process_memory(Link& link, std::size_t) {
  return std::make_unique<ProcessMemory>(link);
}
std::unique_ptr<Mechanism> make_process_vm_get(Link& link, std::size_t) {
  return std::make_unique<ProcessVm>(link, false);
}
std::unique_ptr<Mechanism> make_process_vm_put(Link& link, std::size_t) {
  return std::make_unique<ProcessVm>(link, true);
}

}  // namespace shmemx::bench
