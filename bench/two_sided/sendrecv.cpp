// Measures the one-way time of a message of 0 B to 16 MiB, the rate of many, and the cost of a receive while many
// others are posted or many unexpected messages wait. The raw programs copy once and set a flag.
#include <array>

#include "../support/program.hpp"
#include "messages.hpp"
#if defined(BENCH_RAW)
#include "../support/raw_copy.hpp"
#include "../support/raw_gate.hpp"
#endif

namespace {
using namespace shmemx::bench;

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;
constexpr std::size_t kBufferBytes = 16 * kMiB;
constexpr int kTag = 7;
constexpr std::size_t kMostInFlight = 16;

// Returns how many messages are outstanding at once in the rate measurement; each has its own buffer.
std::size_t window_of(const Work& work) { return std::min(kMostInFlight, kBufferBytes / work.bytes); }
double window_operations(const Work& work) { return static_cast<double>(window_of(work)); }
double two_operations(const Work&) { return 2; }

#if defined(BENCH_RAW)

// A payload that fits is sent in the flag's own line.
void raw_send(Work& work, std::size_t place = 0) {
  ++work.sequence;
  if (work.bytes <= sizeof(long)) {
    work.peer_shared->mailbox[0].value = work.words()[0];
  } else {
    raw_copy(work.method, work.peer_dest + place, work.source + place, work.bytes);
  }
  work.peer_shared->mailbox[0].sequence.store(work.sequence, std::memory_order_release);  // edge `gate`
}

void raw_receive(Work& work) {
  raw_await(work, work.shared->mailbox[0].sequence, ++work.sequence);
  if (work.bytes <= sizeof(long)) work.words()[0] = work.shared->mailbox[0].value;
}

void exchange(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    if (work.pe == 0) raw_send(work);
    raw_receive(work);
    if (work.pe != 0) raw_send(work);
  }
}

// The receiver answers after a whole window.
void stream(Work& work, long iterations) {
  const std::size_t window = window_of(work);
  for (long i = 0; i < iterations; ++i) {
    ++work.sequence;
    if (work.pe == 0) {
      for (std::size_t k = 0; k < window; ++k)
        raw_copy(work.method, work.peer_dest + k * work.bytes, work.source + k * work.bytes, work.bytes);
      work.peer_shared->mailbox[0].sequence.store(work.sequence, std::memory_order_release);  // edge `gate`
      raw_await(work, work.shared->mailbox[0].sequence, work.sequence);
    } else {
      raw_await(work, work.shared->mailbox[0].sequence, work.sequence);
      work.peer_shared->mailbox[0].sequence.store(work.sequence, std::memory_order_release);  // edge `gate`
    }
  }
}

constexpr auto exchange_private = exchange;
constexpr auto stream_private = stream;
constexpr void (*make_private)(Work&) = nullptr;

template <int depth>
constexpr void (*post_others)(Work&) = nullptr;
template <int depth>
constexpr void (*satisfy_others)(Work&) = nullptr;
template <int depth>
constexpr void (*send_others)(Work&) = nullptr;
template <int depth>
constexpr void (*receive_others)(Work&) = nullptr;

#else

// Private memory of this process, in place of the symmetric buffers.
struct Buffers {
  std::byte* source = nullptr;
  std::byte* dest = nullptr;
};
Buffers private_buffers;

std::byte* private_memory() {
  void* memory = std::aligned_alloc(4096, kBufferBytes);
  if (memory == nullptr) die("no memory");
  std::memset(memory, 1, kBufferBytes);
  return static_cast<std::byte*>(memory);
}

void make_private(Work&) {
  if (private_buffers.source == nullptr) private_buffers = {private_memory(), private_memory()};
}

void exchange_between(const Work& work, const Buffers& buffers, long iterations) {
  for (long i = 0; i < iterations; ++i) {
    if (work.pe == 0) send(buffers.source, work.bytes, work.peer, kTag);
    receive(buffers.dest, work.bytes, work.peer, kTag);
    if (work.pe != 0) send(buffers.source, work.bytes, work.peer, kTag);
  }
}
void exchange(Work& work, long iterations) { exchange_between(work, {work.source, work.dest}, iterations); }
void exchange_private(Work& work, long iterations) { exchange_between(work, private_buffers, iterations); }

void stream_between(const Work& work, const Buffers& buffers, long iterations) {
  const std::size_t window = window_of(work);
  MessageRequest requests[kMostInFlight];
  for (long i = 0; i < iterations; ++i) {
    for (std::size_t k = 0; k < window; ++k) {
      const std::size_t place = k * work.bytes;
      if (work.pe == 0) {
        start_send(&requests[k], buffers.source + place, work.bytes, work.peer, kTag);
      } else {
        start_receive(&requests[k], buffers.dest + place, work.bytes, work.peer, kTag);
      }
    }
    complete(requests, window);
    if (work.pe == 0) {
      receive(buffers.dest, 0, work.peer, kTag);
    } else {
      send(buffers.source, 0, work.peer, kTag);
    }
  }
}
void stream(Work& work, long iterations) { stream_between(work, {work.source, work.dest}, iterations); }
void stream_private(Work& work, long iterations) { stream_between(work, private_buffers, iterations); }

// Messages and receives with other tags, posted before the measured ones, in the order in which they are completed
// later.
constexpr int kOtherTags = 1000;
constexpr int kMostOthers = 10'000;
constexpr int kEndTag = 8;
MessageRequest others[kMostOthers];
long other_words[kMostOthers];

void send_all_others(const Work& work, int depth) {
  for (int k = 0; k < depth; ++k) send(work.source, sizeof(long), work.peer, kOtherTags + k);
}

// Synchronises both PEs. Messages are ordered, so all messages sent before have arrived.
void meet(const Work& work) {
  if (work.pe == 0) send(work.source, 0, work.peer, kEndTag);
  receive(work.dest, 0, work.peer, kEndTag);
  if (work.pe != 0) send(work.source, 0, work.peer, kEndTag);
}

template <int depth>
void post_others(Work& work) {
  for (int k = 0; k < depth; ++k) start_receive(&others[k], &other_words[k], sizeof(long), work.peer, kOtherTags + k);
  meet(work);
}
template <int depth>
void satisfy_others(Work& work) {
  if (work.pe == 0) send_all_others(work, depth);
  complete(others, depth);
  if (work.pe != 0) send_all_others(work, depth);
}
// One after the other, since a sender may have to wait for room until the receiver polls.
template <int depth>
void send_others(Work& work) {
  if (work.pe == 0) send_all_others(work, depth);
  meet(work);
  if (work.pe != 0) send_all_others(work, depth);
  meet(work);
}
template <int depth>
void receive_others(Work& work) {
  for (int k = 0; k < depth; ++k) receive(&other_words[k], sizeof(long), work.peer, kOtherTags + k);
}

#endif

constexpr Case latency(std::size_t bytes) {
  return {"sendrecv", bytes, bytes < 64 * kKiB ? Unit::ns : Unit::us, Role::together, "", two_operations, exchange,
          nullptr,    2};
}
constexpr Case latency_private(std::size_t bytes) {
  Case what = latency(bytes);
  what.note = "private memory";
  what.kernel = exchange_private;
  what.begin = make_private;
  return what;
}
constexpr Case rate(std::size_t bytes) {
  return {"sendrecv_rate", bytes, Unit::gb_per_s, Role::together, "", window_operations, stream, nullptr, 2};
}
constexpr Case rate_private(std::size_t bytes) {
  Case what = rate(bytes);
  what.note = "private memory";
  what.kernel = stream_private;
  what.begin = make_private;
  return what;
}
template <int depth>
constexpr Case behind_posted(const char* note) {
  return {"match_posted",
          8,
          Unit::ns,
          Role::together,
          note,
          two_operations,
          exchange,
          nullptr,
          1,
          1,
          post_others<depth>,
          satisfy_others<depth>};
}
template <int depth>
constexpr Case behind_unexpected(const char* note) {
  return {"match_unexpected",
          8,
          Unit::ns,
          Role::together,
          note,
          two_operations,
          exchange,
          nullptr,
          1,
          1,
          send_others<depth>,
          receive_others<depth>};
}

constexpr std::array kCases = {
    latency(0),
    latency(8),
    latency(64),
    latency(512),
    latency(4 * kKiB),
    latency(16 * kKiB),
    latency(64 * kKiB),
    latency(256 * kKiB),
    latency(kMiB),
    latency(4 * kMiB),
    latency(16 * kMiB),
    latency_private(16 * kKiB),
    latency_private(32 * kKiB),
    latency_private(64 * kKiB),
    latency_private(kMiB),
    latency_private(4 * kMiB),
    rate(8),
    rate(512),
    rate(4 * kKiB),
    rate(64 * kKiB),
    rate(kMiB),
    rate(16 * kMiB),
    rate_private(64 * kKiB),
    rate_private(kMiB),
    behind_posted<1>("depth 1"),
    behind_posted<10>("depth 10"),
    behind_posted<100>("depth 100"),
    behind_posted<1000>("depth 1000"),
    behind_posted<10'000>("depth 10000"),
    behind_unexpected<1>("depth 1"),
    behind_unexpected<10>("depth 10"),
    behind_unexpected<100>("depth 100"),
    behind_unexpected<1000>("depth 1000"),
    behind_unexpected<10'000>("depth 10000"),
};
}  // namespace

int main(int argc, char** argv) { return run_program(argc, argv, kCases, kBufferBytes); }
