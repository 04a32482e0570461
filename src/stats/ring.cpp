#include "stats/ring.hpp"

#include <execinfo.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include "base/unique_fd.hpp"

namespace shmemx::stats {
namespace {

constinit Part own_part;
constinit std::uint32_t capacity_mask = 0;
constinit bool has_many_writers = false;
constinit std::atomic<std::uint16_t> threads_seen{0};
[[gnu::tls_model("initial-exec")]] constinit thread_local std::uint16_t thread_number = 0;  // from 1; 0: none yet

std::uint16_t number_of_thread() noexcept {
  if (thread_number == 0) [[unlikely]]
    thread_number = static_cast<std::uint16_t>(threads_seen.fetch_add(1, std::memory_order_relaxed) + 1);
  return thread_number;
}

// A ring is larger than the caches near the processor, and lines that are there in time cost nothing.
constexpr std::uint64_t kPrefetched = 4;

std::uint64_t next_index() noexcept {
  std::atomic<std::uint64_t>& written = own_part.header().written;
  if (has_many_writers) return written.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t index = written.load(std::memory_order_relaxed);
  written.store(index + 1, std::memory_order_relaxed);  // without the lock of an addition
  return index;
}

// A name is written before the first event that refers to it, by each thread that finds none.
void write_name(RoutineId id, const char* routine) noexcept {
  char* const name = own_part.name(id);
  if (name[0] == 0) [[unlikely]]
    std::snprintf(name, kRoutineBytes, "%s", id == kRoutines - 1 ? "other" : routine);
}

Error ring_failure(const char* path, const char* what) {
  return {Errc::unsupported, errno, std::string("SHMEM_TRACE: cannot ") + what + " " + path};
}

}  // namespace

// The file keeps its size where other PEs of the node have made it, so all give it the same.
Status open_ring(const char* path, std::size_t index, const RingHeader& header, bool many_threads) noexcept {
  const std::size_t bytes = part_bytes(header.capacity);
  const UniqueFd fd(::open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!fd.valid()) return ring_failure(path, "open");
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes * header.n_parts)) != 0) return ring_failure(path, "resize");
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), static_cast<off_t>(bytes * index));
  if (memory == MAP_FAILED) return ring_failure(path, "map");
  if (own_part.at != nullptr) ::munmap(own_part.at, part_bytes(own_part.header().capacity));
  own_part.at = static_cast<std::byte*>(memory);
  capacity_mask = header.capacity - 1;
  has_many_writers = many_threads;
  for (std::size_t id = 0; id < kRoutines; ++id) {
    if (own_part.name(id)[0] != 0) own_part.name(id)[0] = 0;  // of an earlier job
  }
  for (std::size_t i = 0; i < header.capacity; ++i) {
    std::atomic<std::uint32_t>& sequence = own_part.slots()[i].event.sequence;
    if (sequence.load(std::memory_order_relaxed) != 0) sequence.store(0, std::memory_order_relaxed);
  }
  RingHeader& begun = *::new (memory) RingHeader{};
  std::memcpy(static_cast<void*>(&begun), &header, offsetof(RingHeader, open));
  begun.written.store(0, std::memory_order_relaxed);
  return {};
}

bool has_ring() noexcept { return own_part.at != nullptr; }
RingHeader& ring_header() noexcept { return own_part.header(); }

// Where this library is linked into the executable, the caller's frame is not the first one there.
const void* find_caller() noexcept {
  constexpr int kMostFrames = 32;
  const RingProgram& program = own_part.header().program;
  const auto is_in_program = [&program](const void* address) {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return at > program.begin && at <= program.end;
  };
  if (is_in_program(reinterpret_cast<const void*>(&find_caller))) return nullptr;
  void* frames[kMostFrames];
  const int count = ::backtrace(frames, kMostFrames);
  for (int i = 0; i < count; ++i) {
    if (is_in_program(frames[i])) return frames[i];
  }
  return nullptr;
}

void record_open(const Call& call, std::uint64_t begin_ns) noexcept {
  const std::uint16_t thread = number_of_thread();
  if (thread > kOpenCalls) return;
  OpenCall& open = own_part.header().open[thread - 1];
  open.routine = routine_id(call.routine);
  open.family = call.family;
  write_name(open.routine, call.routine);
  open.begin_ns.store(begin_ns, std::memory_order_release);  // recorded
}

void record_closed() noexcept {
  const std::uint16_t thread = number_of_thread();
  if (thread <= kOpenCalls)
    own_part.header().open[thread - 1].begin_ns.store(0, std::memory_order_release);  // recorded
}

void record(const Call& call, std::uint64_t begin_ns, std::uint64_t end_ns, const void* caller) noexcept {
  const RoutineId id = routine_id(call.routine);
  write_name(id, call.routine);
  const std::uint64_t index = next_index();
  TraceEvent& event = own_part.slots()[index & capacity_mask].event;
  __builtin_prefetch(&own_part.slots()[(index + kPrefetched) & capacity_mask], 1);
  event.sequence.store(0, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  event.begin_ns = begin_ns;
  event.end_ns = end_ns;
  event.bytes = call.bytes;
  event.caller = reinterpret_cast<std::uintptr_t>(caller);
  event.pe = call.pe;
  event.context = call.context;
  event.routine = id;
  event.thread = number_of_thread();
  event.family = call.family;
  event.path = call.path;
  event.sequence.store(static_cast<std::uint32_t>(index / (capacity_mask + std::uint64_t{1})) + 1,
                       std::memory_order_release);  // recorded
}

}  // namespace shmemx::stats
