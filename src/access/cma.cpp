#include "access/cma.hpp"

#include <sys/uio.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <vector>

#include "access/area.hpp"
#include "access/node.hpp"
#include "bootstrap/wire.hpp"

namespace shmemx::access {
namespace {

constexpr std::size_t kBatch = 64;  // pairs in one system call
constexpr std::int32_t kNotAsked = -1;

std::uint64_t probe_word;  // what peers read; written before its address is published

// What is known of each PE: kNotAsked, 0 or its process number. A race asks twice and finds the same.
std::atomic<std::int32_t>* known_pids() {
  static auto* const pids = [] {
    const auto n_pes = static_cast<std::size_t>(node().n_pes);
    auto* const made = new std::atomic<std::int32_t>[n_pes];
    for (std::size_t i = 0; i < n_pes; ++i) made[i].store(kNotAsked, std::memory_order_relaxed);  // not shared yet
    return made;
  }();
  return pids;
}

std::int32_t ask(int pe) {
  const Directory* const directory = directory_of(pe);
  if (directory == nullptr || directory->probe_address == 0) return 0;
  std::uint64_t found = 0;
  iovec here{&found, sizeof found};
  iovec there{reinterpret_cast<void*>(static_cast<std::uintptr_t>(directory->probe_address)), sizeof found};
  const std::int32_t pid = node().pid_of(pe);
  // Where process numbers mean something else (another PID namespace), a stranger may answer: not with this value.
  if (pid <= 0 || ::process_vm_readv(pid, &here, 1, &there, 1, 0) != static_cast<ssize_t>(sizeof found)) return 0;
  return found == directory->probe_value ? pid : 0;
}

struct Batch {
  iovec local[kBatch];
  iovec remote[kBatch];
  std::size_t count = 0;
  std::size_t first = 0;

  bool fill(PairWalk& walk, std::uint64_t base) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 30;  // the kernel counts in a signed number
    first = count = 0;
    for (Pair pair{}; count < kBatch && walk.next(pair, kMost / kBatch); ++count) {
      local[count] = {pair.local, pair.bytes};
      remote[count] = {reinterpret_cast<void*>(static_cast<std::uintptr_t>(base + pair.offset)), pair.bytes};
    }
    return count != 0;
  }
  // Takes away what has been moved.
  void advance(std::size_t bytes) {
    for (; first < count; ++first) {
      const std::size_t part = local[first].iov_len;
      if (bytes < part) {
        local[first] = {static_cast<std::byte*>(local[first].iov_base) + bytes, part - bytes};
        remote[first] = {static_cast<std::byte*>(remote[first].iov_base) + bytes, part - bytes};
        return;
      }
      bytes -= part;
    }
  }
};

using Move = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long);

CmaResult move_pairs(Move move, int pid, std::uint64_t base, PairWalk walk) {
  bool moved = false;
  Batch batch;
  while (batch.fill(walk, base)) {
    while (batch.first < batch.count) {
      const std::size_t n = batch.count - batch.first;
      const ssize_t bytes = move(pid, batch.local + batch.first, n, batch.remote + batch.first, n, 0);
      if (bytes <= 0) {
        if (bytes < 0 && errno == EINTR) continue;
        return !moved && bytes < 0 && errno != EFAULT ? CmaResult::refused : CmaResult::fault;
      }
      moved = true;
      batch.advance(static_cast<std::size_t>(bytes));
    }
  }
  return CmaResult::done;
}

}  // namespace

void publish_probe() noexcept {
  Directory* const own = directory_of(node().me);
  if (own == nullptr) return;
  probe_word = bootstrap::random_id();
  own->probe_value = probe_word;
  own->probe_address = Side::number(&probe_word);  // who reads it has a description that was made later
}

int reachable_pid(int pe) noexcept {
  std::atomic<std::int32_t>& known = known_pids()[pe];
  std::int32_t pid = known.load(std::memory_order_relaxed);  // a number of its own, nothing else is read through it
  if (pid == kNotAsked) {
    pid = ask(pe);
    known.store(pid, std::memory_order_relaxed);
  }
  return pid;
}

CmaResult cma_put(int pid, std::uint64_t base, PairWalk walk) noexcept {
  return move_pairs(::process_vm_writev, pid, base, walk);
}

CmaResult cma_get(int pid, std::uint64_t base, PairWalk walk) noexcept {
  return move_pairs(::process_vm_readv, pid, base, walk);
}

}  // namespace shmemx::access
