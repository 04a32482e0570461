// Decoder of two-sided messages: an engine with open sends and receives gets arbitrary messages from a peer. It must
// reject or accept them, and touch no other memory.
//
// Input: records of one control byte and a payload. The low bits of the byte select the action, the next ones the PE.
// PE 2 is on another node: its payloads may be placed.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/fatal.hpp"
#include "pt2pt/simulated_job.hpp"

namespace shmemx {

// No message may lead here: whoever has no memory for one says so.
void fatal(const char*, const char*, ...) noexcept { std::abort(); }

}  // namespace shmemx

namespace {

using namespace simulated;

constexpr std::size_t kFuzzHeapBytes = 30'000;  // long enough for a rendezvous
constexpr am::HandlerId kIds[] = {am::kMessageEager,  am::kMessageRts,  am::kMessageCts,
                                  am::kMessageCookie, am::kMessageDone, am::kMessageData};

void open_requests(Engine& engine, SimulatedPlatform& platform, std::vector<std::byte>& memory) {
  const Cursor long_one(Shape::contiguous(memory.data(), memory.size()));
  const Cursor short_one(Shape::contiguous(memory.data(), 100));
  const Cursor in_heap(Shape::contiguous(platform.heap.data(), kFuzzHeapBytes));
  engine.send(long_one, 1, 1, {});
  engine.send(in_heap, 2, 2, {});
  engine.send(short_one, 1, 3, {.synchronous = true});
  engine.receive(long_one, {1, kAny}, true);
  engine.receive(short_one, {kAny, 1}, false);
  engine.receive(in_heap, {2, 0}, false);
  engine.receive(long_one, {2, 1}, false);
}

// Delivers a long payload with that header, as the endpoint does.
void deliver_long(Engine& engine, int source, std::span<const std::byte> header, bool whole) {
  const std::size_t bytes = whole ? kFuzzHeapBytes : transport::kLongBytes;
  const bool is_offer = header.size() == sizeof(RtsHeader);
  if (std::byte* const place = is_offer ? engine.offer_placement(source, header, bytes) : nullptr) {
    std::memset(place, 0x5a, bytes);
    return engine.offer_placed(source, bytes);
  }
  if (std::byte* const place = engine.placement(source, header, bytes)) {
    std::memset(place, 0x5a, bytes);
    return engine.placed(source, header, bytes);
  }
  std::vector<std::byte> message(header.begin(), header.end());
  message.resize(header.size() + bytes);
  Job::hand_over(engine, source, is_offer ? am::kMessageRts : am::kMessageData, message);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Settings settings;
  settings.payload_bytes = 512;
  settings.unexpected_max = 1U << 20;
  Job job(3, settings, kFuzzHeapBytes, 2);
  Engine& engine = job.engine(0);
  job.platform(0).reads_for_real = false;
  job.cells = 4;
  std::vector<std::byte> memory(40'000);
  open_requests(engine, job.platform(0), memory);
  std::size_t at = 0;
  while (at + 2 <= size) {
    const unsigned control = data[at];
    const std::size_t bytes = std::min<std::size_t>(data[at + 1] * 2U, size - at - 2);
    at += 2;
    const int source = static_cast<int>(control >> 3) % 3;
    if (control % 8 == 5 && control >= 128) {
      const std::vector<std::byte> header(reinterpret_cast<const std::byte*>(data) + at,
                                          reinterpret_cast<const std::byte*>(data) + at + bytes);
      deliver_long(engine, source, header, control >= 192);
      at += bytes;
    } else if (control % 8 < 6) {
      const std::vector<std::byte> payload(reinterpret_cast<const std::byte*>(data) + at,
                                           reinterpret_cast<const std::byte*>(data) + at + bytes);
      Job::hand_over(engine, source, kIds[control % 8], payload);
      at += bytes;
    } else if (control % 8 == 6) {
      engine.progress();
      job.wire(0, 1).clear();
      job.wire(0, 2).clear();
    } else {
      engine.receive(Cursor(Shape::contiguous(memory.data(), control * 8)), {kAny, kAny}, false);
    }
  }
  return 0;
}
