#include "raw_kernels.hpp"

#include <shmem.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "../support/clock.hpp"
#include "raw_frames.hpp"
#include "raw_socket.hpp"

namespace shmemx::bench {
namespace {

constexpr std::size_t kWordBytes = 8;
constexpr std::size_t kReadBytes = std::size_t{256} << 10;

// The kind of link that the library uses, too.
RawLink& raw() {
  static RawSocket socket;
  static RawFrames frames;
  static const char* const transport = std::getenv("SHMEMX_TRANSPORT");
  static const bool is_ethernet = transport != nullptr && std::string_view(transport) == "ethernet";
  return is_ethernet ? static_cast<RawLink&>(frames) : socket;
}

enum class Part { leader, partner, none };
Part part_of(const Work& work) {
  return work.pe == 0 ? Part::leader : work.pe == raw_partner(work) ? Part::partner : Part::none;
}

std::span<std::byte> source_of(const Work& work, std::size_t bytes) { return {work.source, bytes}; }
std::span<std::byte> dest_of(const Work& work, std::size_t bytes) { return {work.dest, bytes}; }

void there_and_back(Work& work, long iterations, std::size_t there, std::size_t back) {
  const Part part = part_of(work);
  for (long i = 0; i < iterations; ++i) {
    if (part == Part::leader) {
      raw().send(source_of(work, there));
      raw().receive(dest_of(work, back));
    } else if (part == Part::partner) {
      raw().receive(dest_of(work, there));
      raw().send(source_of(work, back));
    }
  }
}

void send_times(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) raw().send(source_of(work, work.bytes));
}
void receive_times(Work& work, long iterations) {
  for (long i = 0; i < iterations; ++i) raw().receive(dest_of(work, work.bytes));
}

}  // namespace

void connect_raw(Work& work) {
  static RawAddress address;
  static bool done = false;
  if (done) return;
  done = true;
  const Part part = part_of(work);
  if (part == Part::leader) {
    const RawAddress mine = raw().listen();
    shmem_putmem(&address, &mine, sizeof mine, raw_partner(work));
  }
  shmem_barrier_all();
  if (part == Part::leader) raw().accept();
  if (part == Part::partner) raw().connect(address);
  shmem_barrier_all();
}

void raw_pingpong(Work& work, long iterations) { there_and_back(work, iterations, work.bytes, work.bytes); }
void raw_round_trip(Work& work, long iterations) { there_and_back(work, iterations, kWordBytes, kWordBytes); }
void raw_fetch(Work& work, long iterations) { there_and_back(work, iterations, kWordBytes, work.bytes); }

void raw_records(Work& work, long iterations) {
  static std::vector<std::byte> records(kRecordsAtOnce * kRecordBytes);
  const Part part = part_of(work);
  const std::size_t total = static_cast<std::size_t>(iterations * kBurst) * kRecordBytes;
  if (part == Part::leader) {
    for (std::size_t done = 0; done < total; done += std::min(records.size(), total - done))
      raw().send(std::span(records).first(std::min(records.size(), total - done)));
    raw().receive(dest_of(work, kWordBytes));
  } else if (part == Part::partner) {
    static std::vector<std::byte> room(kReadBytes);
    for (std::size_t done = 0; done < total;)
      done += raw().receive_some(std::span(room).first(std::min(room.size(), total - done)));
    raw().send(source_of(work, kWordBytes));
  }
}

void raw_stream_out(Work& work, long iterations) {
  const Part part = part_of(work);
  if (part == Part::leader) {
    send_times(work, iterations);
    raw().receive(dest_of(work, kWordBytes));
  } else if (part == Part::partner) {
    receive_times(work, iterations);
    raw().send(source_of(work, kWordBytes));
  }
}

void raw_stream_in(Work& work, long iterations) {
  const Part part = part_of(work);
  if (part == Part::leader) receive_times(work, iterations);
  if (part == Part::partner) send_times(work, iterations);
}

}  // namespace shmemx::bench
