// Fuzzes the decoder of the transport ethernet: random bytes as frames that have passed the proof. It must refuse or
// accept them, deliver only checked messages, and touch no other memory.
//
// Input: frames, each behind two bytes with its length. The whole input is also read as an endpoint address.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "transport/ethernet/address.hpp"
#include "transport/ethernet/inbound.hpp"
#include "transport/ethernet/pulls.hpp"

namespace {

using shmemx::ethernet::Inbound;
using shmemx::transport::Bytes;
using shmemx::transport::Header;
using shmemx::transport::InboundMessage;

constexpr int kSource = 3;
constexpr std::size_t kMostPlaced = std::size_t{1} << 20;
constexpr std::size_t kPacketBytes = 64;

void demand(bool condition) {
  if (!condition) std::abort();
}

class Sink final : public shmemx::transport::Sink {
 public:
  void deliver(int source, const Header& fixed, Bytes message) noexcept override {
    demand(source == kSource && fixed.header_bytes <= message.size());
    demand(fixed.header_bytes <= shmemx::transport::kMaxHeaderBytes);
    demand(reinterpret_cast<std::uintptr_t>(message.data()) % 16 == 0);
    for (const std::byte byte : message) sum_ += static_cast<unsigned>(byte);  // all bytes can be read
  }
  std::byte* placement(int source, const Header& fixed, Bytes header, std::size_t payload_bytes) noexcept override {
    demand(source == kSource && header.size() == fixed.header_bytes);
    demand(payload_bytes >= shmemx::transport::kLongBytes);
    if (payload_bytes > kMostPlaced) return nullptr;
    places_.push_back(std::make_unique<std::byte[]>(payload_bytes));
    return places_.back().get();
  }
  void placed(int source, const Header&, Bytes header, std::size_t) noexcept override {
    demand(source == kSource);
    for (const std::byte byte : header) sum_ += static_cast<unsigned>(byte);
  }
  void lost(int, const std::string&) noexcept override { std::abort(); }

 private:
  std::vector<std::unique_ptr<std::byte[]>> places_;
  unsigned sum_ = 0;
};

class Receiver final : private Inbound::Owner {
 public:
  // Returns false if the peer would be lost.
  bool take(Bytes bytes) {
    shmemx::ethernet::Frame frame;
    if (!shmemx::ethernet::read_frame(bytes, frame)) return true;
    if (frame.header.kind == shmemx::ethernet::FrameKind::records) {
      std::vector<Aligned> memory((frame.content.size() + sizeof(Aligned) - 1) / sizeof(Aligned));
      std::memcpy(memory.data(), frame.content.data(), frame.content.size());
      if (inbound_.take({memory.data()->bytes, frame.content.size()}) != nullptr || is_out_of_memory_) return false;
      while (pulls_.next_request(now_, round_trip_)) {
      }
    } else if (frame.header.kind == shmemx::ethernet::FrameKind::block) {
      InboundMessage* done = nullptr;
      if (pulls_.take(frame.header, frame.content, ++now_, round_trip_, done) == shmemx::ethernet::Pulls::Taken::last)
        inbound_.queue().complete(*done);
    }
    return true;
  }

 private:
  struct Aligned {
    alignas(16) std::byte bytes[16];
  };

  bool fetch(InboundMessage& message) noexcept override {
    pulls_.begin(message.fetch_key[0], message);
    return false;
  }
  void discard(InboundMessage&) noexcept override {}
  void out_of_memory(int, std::size_t) noexcept override { is_out_of_memory_ = true; }
  void ended_loan(int source, std::uint64_t) noexcept override { demand(source == kSource); }

  Sink sink_;
  bool active_ = false;
  bool is_out_of_memory_ = false;
  std::uint64_t now_ = 1;
  shmemx::ethernet::RoundTrip round_trip_{1000};
  shmemx::ethernet::PacketBudget budget_{64, 0};
  Inbound inbound_{sink_, *this, {kSource, 4, &active_}};
  shmemx::ethernet::Pulls pulls_{{kPacketBytes, 8, 4, 8}, budget_};
};

// What is taken as an address leads to no more interfaces than there are, and packs to the same bytes.
void check_address(Bytes bytes) {
  shmemx::ethernet::EndpointAddress address;
  if (!shmemx::ethernet::unpack_address(bytes, address)) return;
  demand(address.interfaces != 0 && address.interfaces <= address.macs.size());
  const std::string packed = shmemx::ethernet::pack_address(address);
  demand(packed.size() == bytes.size() && std::memcmp(packed.data(), bytes.data(), bytes.size()) == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Receiver receiver;
  Bytes rest = std::as_bytes(std::span(data, size));
  check_address(rest);
  while (rest.size() >= 2) {
    const std::size_t wanted = static_cast<std::size_t>(rest[0]) << 8 | static_cast<std::size_t>(rest[1]);
    const std::size_t n = std::min(wanted, rest.size() - 2);
    if (!receiver.take(rest.subspan(2, n))) break;
    rest = rest.subspan(2 + n);
  }
  return 0;
}
