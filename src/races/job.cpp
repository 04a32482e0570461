#include "races/job.hpp"

#include <fcntl.h>
#include <link.h>
#include <pshmem.h>
#include <shmemx.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "base/cache_line.hpp"
#include "races/cell_lock.hpp"

namespace shmemx::races {
namespace {

constexpr std::uint32_t kMeetings = 64;
constexpr std::uint64_t kCellShare = sizeof(Cell) / 8;         // bytes of shadow for a byte
constexpr std::uint64_t kChunkBytes = std::uint64_t{1} << 20;  // what lies around static data has cells, too

struct Statics {
  std::uintptr_t begin = ~std::uintptr_t{0};
  std::uintptr_t end = 0;
};

// The executable's writable segments less RELRO, as the library shares them.
int visit_executable(dl_phdr_info* info, std::size_t, void* found) {
  Statics& statics = *static_cast<Statics*>(found);
  std::uintptr_t relro_end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type == PT_GNU_RELRO) relro_end = info->dlpi_addr + header.p_vaddr + header.p_memsz;
  }
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_W) == 0 || header.p_memsz == 0) continue;
    const std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    const std::uintptr_t end = begin + header.p_memsz;
    const bool holds_relro = relro_end > begin && relro_end <= end;
    statics.begin = std::min(statics.begin, round_down(holds_relro ? relro_end : begin, kPageBytes));
    statics.end = std::max(statics.end, round_up(end, kPageBytes));
  }
  return 1;
}

// Identifies this machine since its start, to PEs that may be elsewhere.
std::uint64_t machine_number() noexcept {
  char text[40] = {};
  const int fd = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  const ssize_t got = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  std::uint64_t hash = 1;
  for (ssize_t i = 0; i < got; ++i) hash = (hash ^ static_cast<unsigned char>(text[i])) * 0x100000001b3U;
  return hash;
}

// What PE 0 says of the file that it has made. In symmetric memory for a moment.
struct Offer {
  std::uint64_t machine;
  std::int64_t pid;
  std::int64_t fd;
  std::uint64_t has_failed;
};

// Opens the file of PE 0 in all PEs. Returns a descriptor, or -1 in all of them.
int share_file(std::size_t bytes) noexcept {
  auto* const offer = static_cast<Offer*>(pshmem_calloc(1, sizeof(Offer)));
  if (offer == nullptr) return -1;
  int fd = -1;
  if (pshmem_my_pe() == 0) {
    fd = ::memfd_create("shmemx-races", MFD_CLOEXEC);
    const bool is_made = fd >= 0 && ::ftruncate(fd, static_cast<off_t>(bytes)) == 0;
    const Offer made{machine_number(), ::getpid(), is_made ? fd : -1, 0};
    for (int pe = 0; pe < pshmem_n_pes(); ++pe) pshmem_putmem(offer, &made, sizeof made, pe);
  }
  pshmem_barrier_all();
  if (pshmem_my_pe() != 0 && offer->machine == machine_number() && offer->fd >= 0) {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%lld/fd/%lld", static_cast<long long>(offer->pid),
                  static_cast<long long>(offer->fd));
    fd = ::open(path, O_RDWR | O_CLOEXEC);
  }
  if (fd < 0) pshmem_ulong_atomic_inc(&offer->has_failed, 0);
  pshmem_barrier_all();
  const bool has_failed = pshmem_ulong_g(&offer->has_failed, 0) != 0;
  pshmem_free(offer);
  return has_failed ? -1 : fd;
}

std::size_t meeting_bytes(int n_pes, std::uint32_t capacity) noexcept {
  return sizeof(Meeting) + static_cast<std::size_t>(n_pes) * Clock::bytes(capacity);
}

std::size_t round_to_pages(std::size_t bytes) noexcept { return round_up(bytes, std::size_t{kPageBytes}); }

}  // namespace

Job job;

void Job::find_memory() noexcept {
  Statics statics;
  ::dl_iterate_phdr(visit_executable, &statics);
  memory_.statics = statics.begin;
  memory_.statics_bytes = statics.end - statics.begin;
  void* const block = pshmem_malloc(1);
  memory_.heap = round_down(reinterpret_cast<std::uintptr_t>(block), kPageBytes);
  shmemx_heap_info_t info{};
  shmemx_heap_query(&info);
  memory_.heap_bytes = round_up(info.capacity_bytes, kChunkBytes);
  pshmem_free(block);
  for (int pe = 0; pe < n_pes_; ++pe) {
    memory_.peer_heaps[pe] = reinterpret_cast<std::uintptr_t>(pshmem_ptr(reinterpret_cast<void*>(memory_.heap), pe));
    memory_.peer_statics[pe] =
        reinterpret_cast<std::uintptr_t>(pshmem_ptr(reinterpret_cast<void*>(memory_.statics), pe));
  }
  memory_.is_mapped = std::find(memory_.peer_heaps, memory_.peer_heaps + n_pes_, 0) == memory_.peer_heaps + n_pes_;
  memory_.peer_heaps[my_pe_] = memory_.heap;
  memory_.peer_statics[my_pe_] = memory_.statics;
}

// Of a PE: static data with what lies around them, then the heap.
std::uint64_t Job::statics_shadow() const noexcept {
  return (round_up(memory_.statics_bytes, kChunkBytes) + 2 * kChunkBytes) * kCellShare;
}

bool Job::open() noexcept {
  n_pes_ = pshmem_n_pes();
  my_pe_ = pshmem_my_pe();
  if (n_pes_ > kMostPes) return false;
  const auto n = static_cast<std::uint32_t>(n_pes_);
  capacity_ = std::min(kMostSlots, static_cast<std::uint32_t>(round_up(128 + 16 * n + 5 * n * n, 64)));
  find_memory();
  cells_.pe_bytes = statics_shadow() + memory_.heap_bytes * kCellShare;
  const std::size_t words_at = round_to_pages(sizeof(JobHeader));
  const std::size_t calls_at = round_to_pages(words_at + SyncTable::bytes(capacity_));
  const std::size_t meetings_at = round_to_pages(calls_at + CallTree::bytes());
  const std::size_t histories_at = round_to_pages(meetings_at + kMeetings * meeting_bytes(n_pes_, capacity_));
  const std::size_t locks_at = round_to_pages(histories_at + SyncTable::kOwnWords * History::bytes(capacity_));
  const std::size_t shadow_at = round_to_pages(locks_at + CellLocks::bytes(cells_.pe_bytes, n));
  const std::size_t bytes = shadow_at + n * cells_.pe_bytes;
  const int fd = share_file(bytes);
  if (fd < 0) return false;
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (my_pe_ != 0) ::close(fd);  // that of PE 0 stays open for the others until the barrier
  if (at == MAP_FAILED) return false;
  auto* const memory = static_cast<std::byte*>(at);
  ::madvise(memory, bytes, MADV_DONTDUMP);
  header_ = reinterpret_cast<JobHeader*>(memory);
  words_.open(memory + words_at, capacity_);
  calls_.open(memory + calls_at);
  meetings_ = memory + meetings_at;
  histories_ = memory + histories_at;
  cells_.begin = memory + shadow_at;
  cells_.mine = reinterpret_cast<std::uintptr_t>(cells_.begin) + static_cast<std::uint64_t>(my_pe_) * cells_.pe_bytes;
  const CellLocks::Layout layout{cells_.begin, cells_.pe_bytes, n, static_cast<std::uint32_t>(my_pe_),
                                 memory + locks_at};
  if (!cell_locks.open(layout)) header_->has_no_barrier.store(1, std::memory_order_relaxed);  // the barrier orders it
  header_->statics[my_pe_].store(memory_.statics, std::memory_order_relaxed);                 // the barrier orders it
  // The first slots are those of the PEs' first threads.
  header_->owners[my_pe_ + 1] = {.pe = my_pe_};
  if (my_pe_ == 0) header_->n_slots.store(n + 1, std::memory_order_relaxed);
  pshmem_barrier_all();
  if (header_->has_no_barrier.load(std::memory_order_relaxed) != 0) cell_locks.share_all();
  if (my_pe_ == 0) ::close(fd);
  is_open_ = true;
  return true;
}

Slot Job::new_slot(const SlotOwner& owner) noexcept {
  const std::lock_guard guard(header_->slots_lock);
  const std::uint32_t slot = n_slots();
  if (slot == capacity_) return kNoSlot;
  header_->owners[slot] = owner;
  header_->n_slots.store(slot + 1, std::memory_order_relaxed);  // a slot is known before clocks have it
  return static_cast<Slot>(slot);
}

bool Job::locate(std::uintptr_t address, Symmetric& found) const noexcept {
  if (address - memory_.statics < memory_.statics_bytes) {
    found = {my_pe_, Window::statics, address - memory_.statics};
    return true;
  }
  if (address - memory_.heap < memory_.heap_bytes) {
    found = {my_pe_, Window::heap, address - memory_.heap};
    return true;
  }
  for (int pe = 0; pe < n_pes_; ++pe) {
    if (memory_.peer_heaps[pe] != 0 && address - memory_.peer_heaps[pe] < memory_.heap_bytes) {
      found = {pe, Window::heap, address - memory_.peer_heaps[pe]};
      return true;
    }
    if (memory_.peer_statics[pe] != 0 && address - memory_.peer_statics[pe] < memory_.statics_bytes) {
      found = {pe, Window::statics, address - memory_.peer_statics[pe]};
      return true;
    }
  }
  return false;
}

Cell* Job::cell(const Symmetric& place) const noexcept {
  std::byte* const begin = cells_.begin + static_cast<std::uint64_t>(place.pe) * cells_.pe_bytes;
  const std::uint64_t offset = place.offset / 8 * sizeof(Cell);
  return reinterpret_cast<Cell*>(place.window == Window::heap ? begin + statics_shadow() + offset
                                                              : begin + kChunkBytes * kCellShare + offset);
}

bool Job::locate_cell(const Cell* cell, Symmetric& found) const noexcept {
  const std::uint64_t from = static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(cell) - cells_.begin);
  if (from >= static_cast<std::uint64_t>(n_pes_) * cells_.pe_bytes) return false;
  const std::uint64_t inside = from % cells_.pe_bytes;
  const bool is_heap = inside >= statics_shadow();
  const std::uint64_t begin = is_heap ? statics_shadow() : kChunkBytes * kCellShare;
  found = {static_cast<int>(from / cells_.pe_bytes), is_heap ? Window::heap : Window::statics,
           (inside - begin) / kCellShare};
  return is_heap || found.offset < memory_.statics_bytes;
}

Meeting* Job::meeting(const Visit& visit, bool is_new) noexcept {
  const std::size_t stride = meeting_bytes(n_pes_, capacity_);
  const std::lock_guard guard(header_->meetings_lock);
  Meeting* free = nullptr;
  for (std::uint32_t i = 0; i < kMeetings; ++i) {
    auto& candidate = *reinterpret_cast<Meeting*>(meetings_ + i * stride);
    if (candidate.key == visit.key) return &candidate;
    if (candidate.key == 0) free = &candidate;
  }
  if (!is_new || free == nullptr) return nullptr;
  free->key = visit.key;
  free->size = visit.members;
  free->left = 0;
  free->bytes = 0;
  for (auto& flag : free->has_entered) flag.store(0, std::memory_order_relaxed);  // the lock orders it
  return free;
}

namespace {
Clock& clock_of(Meeting& meeting, std::uint32_t member, std::uint32_t capacity) noexcept {
  return *reinterpret_cast<Clock*>(reinterpret_cast<std::byte*>(&meeting + 1) + member * Clock::bytes(capacity));
}
}  // namespace

void Job::enter(const Visit& visit, const Clock& clock, std::uint64_t bytes) noexcept {
  Meeting* const meeting = this->meeting(visit, true);
  if (meeting == nullptr) return;
  clock_of(*meeting, visit.member, capacity_).assign(clock, n_slots());
  std::atomic_ref(meeting->bytes).fetch_add(bytes, std::memory_order_relaxed);
  meeting->has_entered[visit.member].store(1, std::memory_order_release);
}

std::uint64_t Job::leave(const Visit& visit, const Members& from, Clock& clock) noexcept {
  Meeting* const meeting = this->meeting(visit, false);
  if (meeting == nullptr) return 0;
  for (std::uint32_t member = from.first; member <= from.last && member < visit.members; ++member) {
    if (meeting->has_entered[member].load(std::memory_order_acquire) != 0)
      clock.join(clock_of(*meeting, member, capacity_), n_slots());
  }
  const std::uint64_t bytes = std::atomic_ref(meeting->bytes).load(std::memory_order_relaxed);
  const std::lock_guard guard(header_->meetings_lock);
  if (++meeting->left == meeting->size) meeting->key = 0;
  return bytes;
}

}  // namespace shmemx::races
