#include "shared.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "random.hpp"

namespace strict_provider {
namespace {

// The low half of a cell's state. The process number of a producer that writes to it is smaller than the others.
constexpr std::uint64_t kFree = 0;
constexpr std::uint64_t kReady = std::uint64_t{1} << 30;
constexpr std::uint64_t kTaking = kReady + 1;
constexpr std::uint64_t kWithdrawn = kReady + 2;

std::uint64_t state_of(std::uint64_t position, std::uint64_t tag) noexcept { return (position / kCells) << 32 | tag; }
std::uint64_t tag_of(std::uint64_t state) noexcept { return state & 0xffffffffU; }
std::uint64_t round_of(std::uint64_t state) noexcept { return state >> 32; }
Cell& cell_at(EndpointMemory& memory, std::uint64_t position) noexcept { return memory.cells[position % kCells]; }

int open_of_process(pid_t pid, int file, int flags) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, file);
  return ::open(path, flags | O_CLOEXEC);
}

// Advances past bytes that have been transferred.
void skip(std::vector<iovec>& parts, std::size_t bytes) {
  while (!parts.empty() && bytes >= parts.front().iov_len) {
    bytes -= parts.front().iov_len;
    parts.erase(parts.begin());
  }
  if (bytes == 0) return;
  parts.front().iov_base = static_cast<std::byte*>(parts.front().iov_base) + bytes;
  parts.front().iov_len -= bytes;
}

std::size_t total(const std::vector<iovec>& parts) noexcept {
  std::size_t bytes = 0;
  for (const iovec& part : parts) bytes += part.iov_len;
  return bytes;
}

}  // namespace

std::uint64_t Address::expected_check() const noexcept {
  const auto words = static_cast<std::uint64_t>(pid) << 32 | static_cast<std::uint32_t>(file);
  return mix(mix(mix(mix(words) ^ identity_at) ^ number) ^ pid_namespace);
}

std::uint64_t own_pid_namespace() noexcept {
  struct stat about {};
  return ::stat("/proc/self/ns/pid", &about) == 0 ? about.st_ino : 0;
}

void Waker::wake() const noexcept {
  if (file < 0) return;
  const int pipe = open_of_process(pid, file, O_RDWR | O_NONBLOCK);  // a reader, too, so that no SIGPIPE is raised
  if (pipe < 0) return;
  [[maybe_unused]] const ssize_t written = ::write(pipe, "", 1);
  ::close(pipe);
}

template <class Layout>
SharedMemory<Layout>::~SharedMemory() {
  if (layout_ != nullptr) ::munmap(layout_, sizeof(Layout));
  if (file_ >= 0) ::close(file_);
}

template <class Layout>
bool SharedMemory<Layout>::create() noexcept {
  file_ = ::memfd_create("shmemxtest", MFD_CLOEXEC);
  if (file_ < 0 || ::ftruncate(file_, sizeof(Layout)) != 0) return false;
  void* at = ::mmap(nullptr, sizeof(Layout), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (at == MAP_FAILED) return false;
  layout_ = static_cast<Layout*>(at);  // the members of new memory are zero, as they have to be
  return true;
}

template <class Layout>
bool SharedMemory<Layout>::open(pid_t pid, int file) noexcept {
  const int opened = open_of_process(pid, file, O_RDWR);
  if (opened < 0) return false;
  void* at = ::mmap(nullptr, sizeof(Layout), PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
  ::close(opened);
  if (at == MAP_FAILED) return false;
  layout_ = static_cast<Layout*>(at);
  return true;
}

template class SharedMemory<EndpointMemory>;
template class SharedMemory<DomainMemory>;

bool is_alive(pid_t pid, std::uint64_t identity_at, std::uint64_t number) noexcept {
  Identity found{};
  iovec to{&found, sizeof found};
  iovec from{reinterpret_cast<void*>(identity_at), sizeof found};
  return ::process_vm_readv(pid, &to, 1, &from, 1, 0) == sizeof found && found.magic == kMagic &&
         found.number == number;
}

int copy_memory(bool is_read, pid_t pid, std::vector<iovec> local, std::vector<iovec> remote) {
  const auto call = is_read ? &::process_vm_readv : &::process_vm_writev;
  std::size_t left = std::min(total(local), total(remote));
  while (left != 0) {
    const ssize_t moved = call(pid, local.data(), local.size(), remote.data(), remote.size(), 0);
    if (moved <= 0) return moved == 0 ? EFAULT : errno;
    skip(local, static_cast<std::size_t>(moved));
    skip(remote, static_cast<std::size_t>(moved));
    left -= static_cast<std::size_t>(moved);
  }
  return 0;
}

Cell* reserve(EndpointMemory& memory, std::uint64_t& position) noexcept {
  while (true) {
    std::uint64_t at = memory.tail.load(std::memory_order_acquire);
    Cell& cell = cell_at(memory, at);
    std::uint64_t state = state_of(at, kFree);
    const bool is_ours = cell.state.compare_exchange_strong(state, state_of(at, static_cast<std::uint64_t>(::getpid())),
                                                            std::memory_order_acq_rel);
    if (!is_ours && round_of(state) < at / kCells) return nullptr;
    position = at;
    // Whoever finds the cell in use moves the tail, so a producer that has been killed holds nobody up.
    memory.tail.compare_exchange_strong(at, at + 1, std::memory_order_acq_rel);
    if (is_ours) return &cell;
  }
}

void publish(Cell& cell, std::uint64_t position) noexcept {
  cell.state.store(state_of(position, kReady), std::memory_order_seq_cst);  // publish; before is_armed is read
}

bool is_consumed(const EndpointMemory& memory, std::uint64_t position) noexcept {
  const std::uint64_t state = memory.cells[position % kCells].state.load(std::memory_order_acquire);
  return round_of(state) != position / kCells;
}

bool withdraw(EndpointMemory& memory, std::uint64_t position) noexcept {
  std::uint64_t ready = state_of(position, kReady);
  return cell_at(memory, position)
      .state.compare_exchange_strong(ready, state_of(position, kWithdrawn), std::memory_order_acq_rel);
}

Cell* Inbox::peek() noexcept {
  while (true) {
    Cell& cell = cell_at(memory_, head_);
    const std::uint64_t tag = tag_of(cell.state.load(std::memory_order_acquire));
    if (tag == kReady) return &cell;
    if (tag == kFree) return nullptr;
    const bool is_being_written = tag < kReady;
    if (is_being_written && (::kill(static_cast<pid_t>(tag), 0) == 0 || errno != ESRCH)) return nullptr;
    release(cell);
  }
}

bool Inbox::claim(Cell& cell) noexcept {
  std::uint64_t ready = state_of(head_, kReady);
  return cell.state.compare_exchange_strong(ready, state_of(head_, kTaking), std::memory_order_acq_rel);
}

void Inbox::release(Cell& cell) noexcept {
  cell.state.store(state_of(head_ + kCells, kFree), std::memory_order_release);
  ++head_;
}

bool Inbox::is_empty() const noexcept {
  return tag_of(cell_at(memory_, head_).state.load(std::memory_order_seq_cst)) == kFree;
}

}  // namespace strict_provider
