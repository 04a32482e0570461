#include "ethernet_link.hpp"

#include <algorithm>
#include <cstring>

namespace ethernet_test {
namespace {

using shmemx::ethernet::EthernetHeader;
using shmemx::ethernet::FrameHeader;

constexpr std::uint64_t kStepNs = 20'000;

// The last byte of a MAC address is the PE.
EndpointAddress address_of(int pe, std::uint16_t mtu, std::uint32_t life) {
  return {{2, 0, 0, 0, 0, static_cast<std::uint8_t>(pe)}, mtu, 0x1000U + static_cast<unsigned>(pe), life};
}

}  // namespace

Segment::Segment(const Options& options) : faults(options.faults), options_(options), random_(options.seed) {
  const auto n = static_cast<std::size_t>(options.n);
  book_.addresses.resize(n);
  engines_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    sinks_.push_back(std::make_unique<Recorder>());
    wires_.push_back(std::make_unique<Wire>(*this));
  }
  for (int pe = 0; pe < options.n; ++pe) open(pe);
}

Segment::~Segment() {
  for (const auto& engine : engines_) {
    if (engine) engine->begin_close();
  }
}

void Segment::open(int pe) {
  const auto index = static_cast<std::size_t>(pe);
  const Setup setup{.me = pe,
                    .n_pes = options_.n,
                    .secret = {7, 11},
                    .timeout_ms = options_.silence_ms,
                    .silence_ms = options_.silence_ms,
                    .sink = sinks_[index].get(),
                    .ethernet = {}};
  const std::uint16_t mtu = options_.mtus[std::min(index, options_.mtus.size() - 1)];
  const Engine::Settings settings{.own = address_of(pe, mtu, ++lives_), .ring_frames = options_.ring_frames};
  book_.addresses[index] = shmemx::ethernet::pack_address(settings.own);
  engines_[index] = std::make_unique<Engine>(setup, settings, *wires_[index], &now);
  engines_[index]->set_addresses(book_);
}

void Segment::restart(int pe) {
  end(pe);
  on_wire_.clear();
  open(pe);
}

std::size_t Segment::Wire::send(std::span<const OutgoingFrame> frames) noexcept {
  if (segment.before_send) segment.before_send();
  if (segment.queue_room >= 0)
    frames =
        frames.first(std::min(frames.size(), static_cast<std::size_t>(std::max(segment.queue_room - in_queue, 0))));
  in_queue += static_cast<int>(frames.size());
  for (const OutgoingFrame& frame : frames) {
    Frame whole(frame.head.begin(), frame.head.end());
    whole.insert(whole.end(), frame.rest.begin(), frame.rest.end());
    segment.put_on_wire(std::move(whole));
  }
  return frames.size();
}

void Segment::put_on_wire(Frame frame) {
  if (is_recording) record.push_back(frame);
  if (happens(faults.loss)) return;
  if (faults.largest != 0 && frame.size() > faults.largest) return;
  if (happens(faults.duplicates)) on_wire_.push_back(frame);
  if (happens(faults.changed)) {
    const std::size_t bit = std::uniform_int_distribution<std::size_t>(0, frame.size() * 8 - 1)(random_);
    frame[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  const bool overtakes = happens(faults.reordered) && !on_wire_.empty();
  on_wire_.push_back(std::move(frame));
  if (overtakes) std::swap(on_wire_.back(), on_wire_[on_wire_.size() - std::min<std::size_t>(on_wire_.size(), 6)]);
}

void Segment::deliver(const Frame& frame) {
  EthernetHeader header;
  std::memcpy(&header, frame.data(), sizeof header);
  const std::size_t target = header.target[5];
  if (target >= engines_.size() || engines_[target] == nullptr) return;
  alignas(16) std::byte memory[shmemx::ethernet::kMostMtu];
  const std::size_t bytes = frame.size() - sizeof header;
  std::memcpy(memory, frame.data() + sizeof header, bytes);
  engines_[target]->take({memory, bytes});
}

void Segment::step() {
  std::deque<Frame> frames;
  frames.swap(on_wire_);
  std::vector<std::uint32_t> arrived(engines_.size());
  for (Frame& frame : frames) {
    const auto target = std::to_integer<std::size_t>(frame[5]);
    if (target < arrived.size() && ++arrived[target] > options_.ring_frames) {
      ++overflows;
    } else if (frozen >= 0 && target == static_cast<std::size_t>(frozen)) {
      on_wire_.push_back(std::move(frame));
    } else {
      deliver(frame);
    }
  }
  now_ns_ += kStepNs;
  for (const auto& wire : wires_) wire->in_queue = 0;
  for (std::size_t pe = 0; pe < engines_.size(); ++pe) {
    if (!engines_[pe] || static_cast<int>(pe) == frozen) continue;
    engines_[pe]->run();
    engines_[pe]->take_progress();
  }
}

}  // namespace ethernet_test
