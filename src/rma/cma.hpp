// Cross memory attach: memory of another process through the kernel, by process_vm_readv and process_vm_writev. One
// copy, without help of the owner. Only a probe tells whether the kernel allows it.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rma/shape.hpp"

namespace shmemx::rma {

// Names a process to its peers. A peer reads `value` at `address`: in another PID namespace the same number may belong
// to an unrelated process, which does not hold that value.
// Travels as it is.
struct CmaProbe {
  std::uint64_t address;
  std::uint64_t value;
  std::int32_t pid;
  std::uint32_t padding = 0;
};
static_assert(sizeof(CmaProbe) == 24);

// Returns the probe of this process.
CmaProbe own_cma_probe() noexcept;

// Copy at most `most` bytes from or to the places of `remote`, which are addresses in process `pid`, by one system
// call. Return the number of bytes, by which both cursors advance, or -errno.
long cma_read(pid_t pid, Cursor& local, Cursor& remote, std::size_t most) noexcept;
long cma_write(pid_t pid, Cursor& local, Cursor& remote, std::size_t most) noexcept;

// Remembers whether the memory of one peer can be reached. Threads may ask at once: they find the same.
class CmaPeer {
 public:
  // Returns the peer's process number if its memory can be reached, else 0. The first call probes by `read`, which has
  // the signature of cma_read.
  template <class Read>
  std::int32_t pid(const CmaProbe& probe, Read&& read) noexcept {
    const std::atomic_ref known(known_);
    std::int32_t pid = known.load(std::memory_order_relaxed);  // nothing else is read through it
    if (pid == kUntried) {
      pid = probe.pid > 0 && answers(probe, read) ? probe.pid : kNoAccess;
      known.store(pid, std::memory_order_relaxed);
    }
    return pid == kNoAccess ? 0 : pid;
  }

 private:
  template <class Read>
  static bool answers(const CmaProbe& probe, Read& read) noexcept {
    std::uint64_t found = 0;
    Cursor local(Shape::contiguous(&found, sizeof found));
    Cursor remote(Shape::contiguous(reinterpret_cast<void*>(static_cast<std::uintptr_t>(probe.address)), sizeof found));
    return read(probe.pid, local, remote, sizeof found) == long{sizeof found} && found == probe.value;
  }

  static constexpr std::int32_t kUntried = 0;  // so that tables of zeros hold it
  static constexpr std::int32_t kNoAccess = -1;
  alignas(std::atomic_ref<std::int32_t>::required_alignment) std::int32_t known_ = kUntried;
};

}  // namespace shmemx::rma
