// What endpoints and domains share with other processes: the layout, messages in order, and the table of keys.
//
// A message queue has many producers and one consumer. Producers are lock-free; a producer that is killed holds nobody
// up, since its cell names its process.
// Edges:  publish   state.store(ready) -> state.load(ready)    the message, before the consumer reads it
//         release   state.store(free)  -> state.cas(reserved)  the consumer has read the cell before it is used again
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace strict_provider {

inline constexpr std::uint64_t kMagic = 0x73686d656d787436U;
inline constexpr std::size_t kCells = 256;
inline constexpr std::size_t kCellBytes = std::size_t{20} << 10;
inline constexpr std::size_t kSlots = 16384;
inline constexpr std::size_t kMostParts = 4;

// Lies in the private memory of an endpoint. A peer reads it to find out whether the endpoint's process lives.
struct Identity {
  std::uint64_t magic;
  std::uint64_t number;
};

// What fi_getname returns.
struct Address {
  std::uint64_t magic;
  std::int32_t pid;
  std::int32_t file;  // descriptor of the endpoint's shared memory in that process
  std::uint64_t identity_at;
  std::uint64_t number;
  std::uint64_t pid_namespace;
  std::uint64_t check;

  std::uint64_t expected_check() const noexcept;
  bool is_genuine() const noexcept { return magic == kMagic && check == expected_check(); }
};

// Where to write a byte to wake a thread that sleeps on a completion queue.
struct Waker {
  std::int32_t pid = 0;
  std::int32_t file = -1;  // a pipe's descriptor in that process; negative if there is none

  void wake() const noexcept;
};

// What a cell asks its consumer for: to receive a message, or to carry out RMA of the sender.
enum class CellKind : std::uint8_t { message, read, write };

struct MessageHeader {
  CellKind kind;
  std::uint64_t bytes;
  std::uint64_t sender;  // the number of its endpoint
  std::uint64_t sender_identity_at;
  std::uint64_t data;
  Waker waker;  // of the sender
  bool has_data;
  bool is_pulled;  // the receiver reads the payload from the sender's memory
  bool notifies;   // the sender waits until the message is received
  std::uint8_t part_count;
  iovec parts[kMostParts];  // of the sender's memory
  std::uint8_t remote_count;
  iovec remote[kMostParts];  // of RMA: the consumer's memory
};

struct alignas(64) Cell {
  std::atomic<std::uint64_t> state;  // round and tag
  MessageHeader header;
  std::byte payload[kCellBytes - 64 - sizeof(MessageHeader) - sizeof(std::uint64_t)];
};
static_assert(sizeof(Cell) <= kCellBytes);
inline constexpr std::size_t kInlineBytes = sizeof(Cell::payload);

struct EndpointMemory {
  std::uint64_t number;
  std::int32_t domain_file;
  std::atomic<std::int32_t> wake_file;
  std::atomic<std::uint32_t> is_armed;  // a thread sleeps, or is about to
  std::atomic<std::uint32_t> is_closed;
  alignas(64) std::atomic<std::uint64_t> tail;
  alignas(64) Cell cells[kCells];
};

// A key. Valid while its version is odd; the fields belong to one version.
struct alignas(64) Slot {
  std::atomic<std::uint64_t> version;
  std::atomic<std::uint64_t> key;
  std::atomic<std::uint64_t> base;
  std::atomic<std::uint64_t> bytes;
  std::atomic<std::uint64_t> access;
  std::atomic<std::uint64_t> endpoint;  // the number of the endpoint that it is bound to; 0 if it is for all
};

struct DomainMemory {
  std::uint64_t number;
  std::atomic<std::uint64_t> used;  // slots behind it have never been used
  Slot slots[kSlots];
};

// Shared memory without a name, which ends with the last process that maps it.
template <class Layout>
class SharedMemory {
 public:
  SharedMemory() = default;
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  bool create() noexcept;
  bool open(pid_t pid, int file) noexcept;
  Layout* get() const noexcept { return layout_; }
  Layout* operator->() const noexcept { return layout_; }
  int file() const noexcept { return file_; }

 private:
  Layout* layout_ = nullptr;
  int file_ = -1;
};

// Names the PID namespace of this process: process numbers of another one mean nothing here.
std::uint64_t own_pid_namespace() noexcept;

// Returns true if the process that had this identity lives.
bool is_alive(pid_t pid, std::uint64_t identity_at, std::uint64_t number) noexcept;

// Copies between this process and another one. Returns 0 or the error.
int copy_memory(bool is_read, pid_t pid, std::vector<iovec> local, std::vector<iovec> remote);

// ---- Message queue ----
// Returns a cell for one message; null if the queue is full. `position` is set to its place in the order.
Cell* reserve(EndpointMemory& memory, std::uint64_t& position) noexcept;
void publish(Cell& cell, std::uint64_t position) noexcept;
// Returns true once the consumer has read the message, or dropped it.
bool is_consumed(const EndpointMemory& memory, std::uint64_t position) noexcept;
// Takes back a message that the consumer does not read at this moment. Returns false if it does.
bool withdraw(EndpointMemory& memory, std::uint64_t position) noexcept;

// The consumer's side.
class Inbox {
 public:
  explicit Inbox(EndpointMemory& memory) noexcept : memory_(memory) {}
  // Returns the next message; null if there is none. take() is to follow, or nothing.
  Cell* peek() noexcept;
  // Claims the message for reading. Returns false if the sender has withdrawn it.
  bool claim(Cell& cell) noexcept;
  void release(Cell& cell) noexcept;
  bool is_empty() const noexcept;

 private:
  EndpointMemory& memory_;
  std::uint64_t head_ = 0;
};

}  // namespace strict_provider
