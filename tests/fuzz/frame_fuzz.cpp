// Fuzzes the decoder of the tcp transport: random bytes on an authenticated connection. The decoder must refuse or
// accept them, deliver only checked messages, and touch no other memory.
//
// Input: one byte that selects how the stream is divided into reads, whether long payloads are placed, whether memory
// is freed between frames behind a suspend frame, and whether it is a second rail, then the stream. If the flag for it
// is set, the byte 0xaa and a byte n stand for n
// * 256 zeros, so that short inputs hold long payloads.
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "transport/tcp/decoder.hpp"

namespace {

using shmemx::tcp::Decoder;
using shmemx::transport::Bytes;
using shmemx::transport::Header;

constexpr int kSource = 3;
constexpr std::size_t kPlaceBytes = std::size_t{1} << 20;  // longer payloads are placed in memory that is only reserved

void demand(bool condition) {
  if (!condition) std::abort();
}

// Reserved memory for the longest payload; an input fills at most its beginning.
std::byte* untouched() noexcept {
  static void* const memory = ::mmap(nullptr, shmemx::tcp::kMaxPayloadBytes, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  demand(memory != MAP_FAILED);
  return static_cast<std::byte*>(memory);
}

class Sink final : public shmemx::transport::Sink {
 public:
  explicit Sink(bool lands) : lands_(lands) {}

  void deliver(int source, const Header& fixed, Bytes message) noexcept override {
    demand(source == kSource && !placement_);
    demand(fixed.header_bytes <= message.size() && fixed.header_bytes <= shmemx::transport::kMaxHeaderBytes);
    demand(reinterpret_cast<std::uintptr_t>(message.data()) % 16 == 0);
    for (const std::byte byte : message) sum_ += static_cast<unsigned>(byte);  // all bytes can be read
  }
  std::byte* placement(int source, const Header& fixed, Bytes header, std::size_t payload_bytes) noexcept override {
    demand(source == kSource && !placement_ && header.size() == fixed.header_bytes);
    demand(payload_bytes >= shmemx::transport::kLongBytes);
    if (payload_bytes > kPlaceBytes) {
      placement_ = true;
      return untouched();
    }
    if (!lands_) return nullptr;
    placement_ = true;
    place_.reset(new std::byte[payload_bytes]);
    return place_.get();
  }
  void placed(int source, const Header&, Bytes header, std::size_t payload_bytes) noexcept override {
    demand(source == kSource && placement_);
    placement_ = false;
    for (const std::byte byte : header) sum_ += static_cast<unsigned>(byte);
    if (payload_bytes > kPlaceBytes) return;
    for (const std::byte byte : Bytes(place_.get(), payload_bytes)) sum_ += static_cast<unsigned>(byte);
  }
  void lost(int, const std::string&) noexcept override { std::abort(); }

 private:
  bool lands_;
  bool placement_ = false;
  std::unique_ptr<std::byte[]> place_;
  unsigned sum_ = 0;
};

std::vector<std::byte> expand(const std::uint8_t* data, std::size_t size, bool with_zeros) {
  constexpr std::uint8_t kMark = 0xaa;
  std::vector<std::byte> stream;
  for (std::size_t i = 0; i < size; ++i) {
    if (with_zeros && data[i] == kMark && i + 1 < size) {
      stream.resize(stream.size() + data[++i] * std::size_t{256});
    } else {
      stream.push_back(static_cast<std::byte>(data[i]));
    }
  }
  return stream;
}

// Feeds the stream in reads of at most `step` bytes. Returns false if it was refused.
bool feed(Decoder& decoder, Bytes stream, std::size_t step, bool suspends) {
  while (!stream.empty()) {
    iovec areas[2];
    const int n = decoder.areas(areas);
    demand(n == 1 || n == 2);
    std::size_t given = 0;
    for (int i = 0; i < n; ++i) {
      demand(areas[i].iov_len != 0);
      const std::size_t bytes = std::min({areas[i].iov_len, step - given, stream.size() - given});
      std::memcpy(areas[i].iov_base, stream.data() + given, bytes);
      given += bytes;
      if (bytes < areas[i].iov_len) break;
    }
    if (!decoder.advance(given)) return false;
    while (decoder.is_waiting()) {
      if (!(decoder.needs_place() ? decoder.place_part(untouched()) : decoder.complete_part())) return false;
    }
    if (suspends && decoder.suspends() != 0 && decoder.between_frames()) decoder.free_memory();
    stream = stream.subspan(given);
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  constexpr std::size_t kSteps[] = {1, 7, 16, 100, 4096, 30'000, 65'536, 1'000'000};
  Sink sink((data[0] & 8) != 0);
  Decoder decoder(kSource, sink);
  if ((data[0] & 64) != 0) decoder.expect_parts();
  const std::vector<std::byte> stream = expand(data + 1, size - 1, (data[0] & 16) != 0);
  const bool taken = feed(decoder, stream, kSteps[data[0] & 7], (data[0] & 32) != 0);
  demand(taken == (decoder.what_is_broken()[0] == '\0'));
  return 0;
}
