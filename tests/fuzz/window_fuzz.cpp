// Descriptions of windows, and requests on a public window, from arbitrary bytes. The first byte says which. Nothing
// outside the one exposed window may change, whatever comes; AddressSanitizer sees stray reads.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "onesided/target.hpp"
#include "windows/description.hpp"

namespace {

using namespace shmemx;

constexpr std::size_t kWords = 64;

struct Arena {
  std::vector<std::uint64_t> words = std::vector<std::uint64_t>(kWords);  // on the heap, with red zones around it
  windows::WindowName name{};
  std::vector<std::byte> scratch = std::vector<std::byte>(4096);
  Arena() {
    if (!windows::expose(reinterpret_cast<std::byte*>(words.data()), kWords * 8, name)) std::abort();
  }
};

void try_description(const std::uint8_t* data, std::size_t size) {
  windows::Description description{};
  std::memcpy(&description, data, size < sizeof description ? size : sizeof description);
  // With the wrong key nothing passes; sealed again it does, unless a field is out of range.
  if (windows::is_sealed(description, 1, 8)) {
    windows::Description again = description;
    windows::seal(again, 1);
    if (std::memcmp(&again, &description, sizeof again) != 0) std::abort();
  }
}

// The payload as a header whose body comes by itself.
void try_placement(const Arena& arena, std::span<const std::byte> header, bool all) {
  const std::size_t bytes = all ? kWords * 8 : 16;
  std::byte* const place = onesided::find_put_replied(header, bytes);
  if (place == nullptr) return;
  const auto* const base = reinterpret_cast<const std::byte*>(arena.words.data());
  if (onesided::window_of(header) != arena.name || place < base || place + bytes > base + kWords * 8) std::abort();
  const onesided::Executed result = onesided::reply_to_placed(header);
  if (!result.data.empty() || result.wrong != nullptr) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Arena arena;
  if (size == 0) return 0;
  constexpr onesided::Executed (*kRequests[])(am::Bytes, onesided::Room) = {
      onesided::execute_put, onesided::execute_get, onesided::execute_atomic, onesided::execute_accumulate,
      onesided::execute_put_runs};
  const unsigned choice = data[0] % 8;
  if (choice > 4) {
    try_description(data + 1, size - 1);
    return 0;
  }
  std::vector<std::byte> payload(size - 1);
  if (size > 1) std::memcpy(payload.data(), data + 1, size - 1);
  // Half of them name the window that exists.
  if (data[0] >= 128 && payload.size() >= sizeof arena.name)
    std::memcpy(payload.data(), &arena.name, sizeof arena.name);
  if (choice == 0) try_placement(arena, payload, data[0] & 8U);
  const onesided::Executed result = kRequests[choice](payload, {arena.scratch, arena.scratch.size()});
  if (!result.is_replied && !result.data.empty()) std::abort();
  if (result.data.size() > arena.scratch.size()) std::abort();
  // The reply is read as the endpoint would.
  volatile unsigned sum = 0;
  for (const std::byte byte : result.data) sum = sum + static_cast<unsigned>(byte);
  return 0;
}
