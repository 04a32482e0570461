#include "windows/fork_guard.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <new>

#include "base/fatal.hpp"
#include "base/file_identity.hpp"
#include "base/lazy_mapping.hpp"
#include "base/linkage.hpp"
#include "base/machine.hpp"
#include "base/mappings.hpp"
#include "windows/page_copy.hpp"

namespace shmemx::windows {
namespace {

// A fork that copies more says so: the copy takes time and memory.
constexpr std::size_t kMuchBytes = std::size_t{256} << 20;

// A part of the static data that is mapped from the file, with one protection.
struct Piece {
  std::uintptr_t begin;
  std::uintptr_t end;
  int protection;

  std::size_t bytes() const noexcept { return end - begin; }
};
constexpr std::size_t kMostPieces = std::size_t{1} << 16;  // more than the mappings that a process may have
constexpr std::size_t kPiecesBytes = kMostPieces * sizeof(Piece);

// What the copies are made of. It lies in memory of its own, which is private: in a static executable the globals of
// the library are shared, and a child would read what its parent writes after the fork.
struct Guarded {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  int fd = -1;
  std::size_t file_offset = 0;  // of `begin`
  FileIdentity file;            // the program may have closed its descriptor
  Mapping mapped;               // the file as the list of mappings names it

  bool holds(const Mapping& mapping) const noexcept {
    return mapping.is_shared && of_same_file(mapping, mapped) && mapping.begin < end && begin < mapping.end;
  }
};

// The copy for one fork. The list of pieces and the bytes lie in one mapping.
class Snapshot {
 public:
  void take(const Guarded& guarded) noexcept;
  // Puts the copy in the place of the parent's data. In the child, whose only thread this is. Ends it if the copy could
  // not be made.
  void become_data() noexcept;
  void drop() noexcept;
  std::size_t copied_bytes() const noexcept { return copied_bytes_; }

 private:
  bool list_pieces(const Guarded& guarded) noexcept;
  bool copy(const Guarded& guarded) noexcept;
  bool copy_piece(const Guarded& guarded, const Piece& piece) noexcept;
  void copy_in_place(const Piece& piece) noexcept;
  std::byte* at(std::uintptr_t address) const noexcept { return area_ + kPiecesBytes + (address - begin_); }
  Piece* pieces() const noexcept { return reinterpret_cast<Piece*>(area_); }

  std::byte* area_ = nullptr;
  std::size_t area_bytes_ = 0;
  std::uintptr_t begin_ = 0;
  std::size_t count_ = 0;
  std::size_t copied_bytes_ = 0;
  const char* failed_ = nullptr;  // what could not be done
  int cause_ = 0;
};

struct ForkGuard {
  Guarded guarded;
  std::atomic<bool> is_armed{false};
  std::mutex mutex;  // held from the handler before a fork to the one after it
  Snapshot snapshot;
  std::atomic<pthread_t> forking{0};  // the thread that holds it, in parent and child
  std::atomic<bool> has_warned{false};
};
constinit ForkGuard* fork_guard = nullptr;
constinit std::atomic<int> registration{-1};  // the result of the handlers' registration; -1: not tried
constinit std::atomic<void (*)()> child_hook{nullptr};
using Fork = pid_t (*)();
constinit Fork next_fork = nullptr;  // the C library's _Fork

bool is_armed() noexcept { return fork_guard != nullptr && fork_guard->is_armed.load(std::memory_order_acquire); }

void Snapshot::take(const Guarded& guarded) noexcept {
  begin_ = guarded.begin;
  area_bytes_ = kPiecesBytes + (guarded.end - guarded.begin);
  void* const area =
      map_on_touch(nullptr, area_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
  area_ = area == MAP_FAILED ? nullptr : static_cast<std::byte*>(area);
  failed_ = area_ == nullptr        ? "cannot be mapped"
            : !list_pieces(guarded) ? "cannot be made: /proc/self/maps cannot be read"
            : !copy(guarded)        ? "cannot be read from the PE's memory"
                                    : nullptr;
  cause_ = failed_ == nullptr ? 0 : errno;
}

bool Snapshot::list_pieces(const Guarded& guarded) noexcept {
  MappingReader reader;
  Mapping mapping;
  errno = 0;
  while (count_ < kMostPieces && reader.next(mapping) && mapping.begin < guarded.end) {
    if (!guarded.holds(mapping)) continue;
    pieces()[count_++] = {std::max(mapping.begin, guarded.begin), std::min(mapping.end, guarded.end),
                          mapping.protection};
  }
  return !reader.has_failed() && count_ < kMostPieces;
}

bool Snapshot::copy(const Guarded& guarded) noexcept {
  const bool is_open = guarded.file.is_of(guarded.fd);
  for (std::size_t i = 0; i < count_; ++i) {
    if (!is_open)
      copy_in_place(pieces()[i]);
    else if (!copy_piece(guarded, pieces()[i]))
      return false;
  }
  return true;
}

// Where the program has closed the descriptor. Backs holes of the file; guard pages stay empty in the child.
void Snapshot::copy_in_place(const Piece& piece) noexcept {
  if ((piece.protection & PROT_READ) == 0) return;
  const std::size_t bytes = page_bytes();
  for (std::uintptr_t address = piece.begin; address < piece.end; address += bytes) {
    const auto* const page = reinterpret_cast<const std::byte*>(address);
    if (page_is_zero(page, bytes)) continue;
    copy_page(at(address), page, bytes);
    copied_bytes_ += bytes;
  }
}

// Reads what the file holds there. Holes stay untouched, here and in the file.
bool Snapshot::copy_piece(const Guarded& guarded, const Piece& piece) noexcept {
  const auto first = static_cast<off_t>(guarded.file_offset + (piece.begin - guarded.begin));
  const off_t end = first + static_cast<off_t>(piece.bytes());
  off_t position = first;
  while (position < end) {
    const off_t data = ::lseek(guarded.fd, position, SEEK_DATA);
    if (data < 0 && errno != ENXIO) return false;
    if (data < 0 || data >= end) return true;
    off_t hole = ::lseek(guarded.fd, data, SEEK_HOLE);
    if (hole < 0 || hole > end) hole = end;
    const long got =
        ::syscall(SYS_pread64, guarded.fd, at(piece.begin) + (data - first), hole - data, static_cast<long>(data));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    position = data + got;
    copied_bytes_ += static_cast<std::size_t>(got);
  }
  return true;
}

void Snapshot::become_data() noexcept {
  for (std::size_t i = 0; i < count_ && failed_ == nullptr; ++i) {
    const Piece& piece = pieces()[i];
    const long moved = ::syscall(SYS_mremap, at(piece.begin), piece.bytes(), piece.bytes(),
                                 MREMAP_MAYMOVE | MREMAP_FIXED, piece.begin);
    constexpr int kPlain = PROT_READ | PROT_WRITE;
    if (static_cast<std::uintptr_t>(moved) != piece.begin) failed_ = "cannot be put into place";
    if (piece.protection != kPlain) ::syscall(SYS_mprotect, piece.begin, piece.bytes(), piece.protection);
    if (failed_ != nullptr) cause_ = errno;
  }
  if (failed_ != nullptr)
    end_process("this forked child needs a private copy of its parent's static data, and the copy %s%s%s", failed_,
                cause_ != 0 ? ": " : "", cause_ != 0 ? std::strerror(cause_) : "");
}

void Snapshot::drop() noexcept {
  if (area_ != nullptr) ::syscall(SYS_munmap, area_, area_bytes_);
}

// Parent and child would go on together on this stack.
void refuse_shared_stack(const Guarded& guarded) noexcept {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (here >= guarded.begin && here < guarded.end)
    fatal("fork",
          "it is called on a stack that lies in static data, which are shared memory; give the thread or fiber a "
          "stack of malloc or mmap, or set SHMEMX_STATIC_DATA=0");
}

void warn_of_much(std::size_t bytes) noexcept {
  if (bytes <= kMuchBytes || fork_guard->has_warned.exchange(true, std::memory_order_relaxed)) return;
  warn(
      "a fork copies all static data that the program has touched at once, here %zu MB; posix_spawn copies nothing, "
      "and "
      "SHMEMX_STATIC_DATA=0 keeps static data private (said once)",
      bytes / 1'000'000);
}

void before_fork() {
  if (!is_armed()) return;
  refuse_shared_stack(fork_guard->guarded);
  fork_guard->mutex.lock();
  fork_guard->forking.store(::pthread_self(), std::memory_order_relaxed);
  fork_guard->snapshot = Snapshot();
  fork_guard->snapshot.take(fork_guard->guarded);
  warn_of_much(fork_guard->snapshot.copied_bytes());
}

void end_fork() noexcept {
  fork_guard->snapshot.drop();
  fork_guard->forking.store(0, std::memory_order_relaxed);
  fork_guard->mutex.unlock();
}

// Returns false for a fork that began before the data were shared.
bool is_guarded_fork() noexcept {
  return is_armed() && fork_guard->forking.load(std::memory_order_relaxed) == ::pthread_self();
}

void after_fork_in_parent() {
  if (is_guarded_fork()) end_fork();
}

void begin_child(Snapshot& snapshot) noexcept {
  snapshot.become_data();
  fork_guard->is_armed.store(false, std::memory_order_relaxed);  // children of the child share nothing with it
}

void run_child_hook() noexcept {
  if (void (*const run)() = child_hook.load(std::memory_order_relaxed)) run();
}

void after_fork_in_child() {
  if (!is_armed()) return run_child_hook();
  if (!is_guarded_fork()) end_process("this child was forked while another thread called shmem_init");
  begin_child(fork_guard->snapshot);
  end_fork();
  run_child_hook();
}

// Handlers run in the child in the order of their registration, and before the fork in the reverse order.
void register_first() noexcept;

}  // namespace
}  // namespace shmemx::windows

#ifdef __GLIBC__
extern "C" {
int __register_atfork(void (*prepare)(), void (*parent)(), void (*child)(), void* library) noexcept;  // NOLINT
extern void* __dso_handle [[gnu::visibility("hidden")]];                                              // NOLINT

// Stands for the C library's in a program that is linked with the static library: an allocator in the program registers
// its handlers at the first malloc, which may come before all constructors.
[[gnu::visibility("hidden")]] int pthread_atfork(void (*prepare)(), void (*parent)(), void (*child)()) noexcept {
  shmemx::windows::register_first();
  return __register_atfork(prepare, parent, child, __dso_handle);
}
}
#endif

namespace shmemx::windows {
namespace {

int register_handlers() noexcept {
#ifdef __GLIBC__
  return __register_atfork(before_fork, after_fork_in_parent, after_fork_in_child, __dso_handle);
#else
  return ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
#endif
}

void register_first() noexcept {
  if (registration.exchange(0, std::memory_order_relaxed) < 0) registration.store(register_handlers());
}

// The shared library is linked such that this runs before all other constructors (-z initfirst).
[[gnu::constructor]] void watch_forks() {
  register_first();
  if (!is_linked_statically()) next_fork = reinterpret_cast<Fork>(::dlsym(RTLD_NEXT, "_Fork"));
}

}  // namespace

Status open_fork_guard() {
  register_first();
  if (const int cause = registration.load(); cause != 0)
    return Error{Errc::system, cause, "register the handlers that keep forked children private"};
  void* const memory = map_on_touch(nullptr, sizeof(ForkGuard), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
  if (memory == MAP_FAILED) return system_error("map memory for what fork has to protect");
  fork_guard = new (memory) ForkGuard;
  return {};
}

void guard_forks(std::span<const StaticRange> ranges, int fd, std::size_t file_offset) noexcept {
  Guarded& guarded = fork_guard->guarded;
  guarded.begin = reinterpret_cast<std::uintptr_t>(ranges.front().begin);
  guarded.end = reinterpret_cast<std::uintptr_t>(ranges.back().end);
  guarded.fd = fd;
  guarded.file_offset = file_offset;
  guarded.file = FileIdentity(fd);
  find_mapping(guarded.begin, guarded.mapped);
  fork_guard->is_armed.store(true, std::memory_order_release);
}

void run_in_children(void (*run)()) noexcept { child_hook.store(run, std::memory_order_relaxed); }

// With a copy of its own, on the stack: a handler of a signal may interrupt a fork.
pid_t guarded_fork() noexcept {
  if (next_fork == nullptr) {
    errno = ENOSYS;
    return -1;
  }
  const bool is_guarded = is_armed();
  Snapshot snapshot;
  if (is_guarded) {
    refuse_shared_stack(fork_guard->guarded);
    snapshot.take(fork_guard->guarded);
  }
  const pid_t child = next_fork();
  const int cause = errno;
  if (is_guarded && child == 0) begin_child(snapshot);
  snapshot.drop();
  if (child == 0) run_child_hook();
  errno = cause;
  return child;
}

}  // namespace shmemx::windows
