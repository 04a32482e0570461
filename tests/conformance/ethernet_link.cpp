#include "ethernet_link.hpp"

#include <algorithm>
#include <cstring>
#include <map>

namespace ethernet_test {
namespace {

using shmemx::ethernet::EthernetHeader;
using shmemx::ethernet::FrameHeader;

constexpr std::uint64_t kStepNs = 20'000;

// The last bytes of a MAC address are the network and the PE.
EndpointAddress address_of(int pe, unsigned networks, std::uint16_t mtu, std::uint32_t life) {
  EndpointAddress address{.port = 0x1000U + static_cast<unsigned>(pe), .life = life, .mtu = mtu};
  for (; address.interfaces < networks; ++address.interfaces)
    address.macs[address.interfaces] = {
        2, 0, 0, 0, static_cast<std::uint8_t>(address.interfaces), static_cast<std::uint8_t>(pe)};
  return address;
}

EthernetHeader ethernet_of(const Frame& frame) {
  EthernetHeader header;
  std::memcpy(&header, frame.data(), sizeof header);
  return header;
}

}  // namespace

Segment::Segment(const Options& options) : faults(options.faults), options_(options), random_(options.seed) {
  const auto n = static_cast<std::size_t>(options.n);
  book_.addresses.resize(n);
  engines_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    sinks_.push_back(std::make_unique<Recorder>());
    auto& wires = wires_.emplace_back();
    for (unsigned network = 0; network < options.networks; ++network)
      wires.push_back(std::make_unique<Wire>(*this, static_cast<int>(i), network));
    links_.emplace_back(options.networks);
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
  const Engine::Settings settings{.own = address_of(pe, options_.networks, mtu, ++lives_),
                                  .names = {"net0", "net1", "net2", "net3"},
                                  .ring_frames = options_.ring_frames};
  book_.addresses[index] = shmemx::ethernet::pack_address(settings.own);
  std::vector<Port*> ports;
  for (const auto& wire : wires_[index]) ports.push_back(wire.get());
  engines_[index] = std::make_unique<Engine>(setup, settings, ports, &now);
  engines_[index]->set_addresses(book_);
}

void Segment::restart(int pe) {
  end(pe);
  on_wire_.clear();
  open(pe);
}

std::size_t Segment::Wire::send(std::span<const OutgoingFrame> frames) noexcept {
  if (segment.before_send) segment.before_send();
  if (!segment.links_[static_cast<std::size_t>(pe)][network].works) return 0;
  if (segment.queue_room >= 0)
    frames =
        frames.first(std::min(frames.size(), static_cast<std::size_t>(std::max(segment.queue_room - in_queue, 0))));
  in_queue += static_cast<int>(frames.size());
  if (error_ != 0) return frames.size();
  for (const OutgoingFrame& frame : frames) {
    Frame whole(frame.head.begin(), frame.head.end());
    whole.insert(whole.end(), frame.rest.begin(), frame.rest.end());
    segment.put_on_wire(std::move(whole));
  }
  return frames.size();
}

void Segment::put_on_wire(Frame frame) {
  if (is_recording) record.push_back(frame);
  if (happens(faults.loss) || !passes(frame)) return;
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

// Returns whether the links of both ends work. Networks are not connected with each other.
bool Segment::passes(const Frame& frame) const {
  const EthernetHeader header = ethernet_of(frame);
  const std::size_t network = header.source[4];
  if (header.source[5] >= links_.size() || header.target[5] >= links_.size() || network >= options_.networks)
    return false;
  const Link& from = links_[header.source[5]][network];
  return header.target[4] == network && from.works && !from.is_mute && links_[header.target[5]][network].works;
}

void Segment::set_error(int pe, unsigned network, int error) {
  wires_[static_cast<std::size_t>(pe)][network]->set_error(error);
}

void Segment::deliver(const Frame& frame) {
  const EthernetHeader header = ethernet_of(frame);
  const std::size_t target = header.target[5];
  if (target >= engines_.size() || engines_[target] == nullptr) return;
  alignas(16) std::byte memory[shmemx::ethernet::kMostMtu];
  const std::size_t bytes = frame.size() - sizeof header;
  std::memcpy(memory, frame.data() + sizeof header, bytes);
  engines_[target]->take({memory, bytes}, header.target[4]);
}

void Segment::step() {
  std::deque<Frame> frames;
  frames.swap(on_wire_);
  std::vector<std::uint32_t> arrived(engines_.size());
  std::deque<Frame> queued;
  std::map<std::pair<std::byte, std::byte>, std::size_t> carried;  // by network and PE
  for (Frame& frame : frames) {
    if (!passes(frame)) continue;
    const std::size_t rate = rates_[std::to_integer<std::size_t>(frame[4])];
    if (rate != 0 && ++carried[{frame[4], frame[5]}] > rate) {
      queued.push_back(std::move(frame));
      continue;
    }
    const auto target = std::to_integer<std::size_t>(frame[5]);
    if (target < arrived.size() && ++arrived[target] > options_.ring_frames) {
      ++overflows;
    } else if (frozen >= 0 && target == static_cast<std::size_t>(frozen)) {
      on_wire_.push_back(std::move(frame));
    } else {
      deliver(frame);
    }
  }
  on_wire_.insert(on_wire_.begin(), queued.begin(), queued.end());
  now_ns_ += kStepNs;
  for (const auto& wires : wires_) {
    for (const auto& wire : wires) wire->in_queue = 0;
  }
  for (std::size_t pe = 0; pe < engines_.size(); ++pe) {
    if (!engines_[pe] || static_cast<int>(pe) == frozen) continue;
    engines_[pe]->run();
    engines_[pe]->take_progress();
  }
}

}  // namespace ethernet_test
