#include "transport/ethernet/ethernet_transport.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <span>
#include <utility>

#include "base/clock.hpp"
#include "base/random_bytes.hpp"

namespace shmemx::ethernet {
namespace {

constexpr int kPolledAtOnce = 64;  // of one poll
constexpr unsigned kReadsBeforeUnwatch = 8;
constexpr std::uint32_t kMostBlocksPerBlock = 8;  // outstanding on a link without losses, to those at first

}  // namespace

EthernetTransport::~EthernetTransport() = default;

Status EthernetTransport::open() {
  SHMEMX_TRY_ASSIGN(found, choose_interfaces(setup_.ethernet.interface, setup_.one_machine));
  interfaces_ = std::move(found);
  SHMEMX_TRY(choose_settings());
  SHMEMX_TRY(open_sockets());
  wake_fd_ = UniqueFd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!wake_fd_.valid()) return system_error("create an event descriptor");
  SHMEMX_TRY_ASSIGN(timer, transport::KeepaliveTimer::open(wake_fd_.get()));
  timer_.emplace(std::move(timer));
  watch();
  std::array<Port*, kMostInterfaces> ports{};
  for (unsigned i = 0; i < n_interfaces(); ++i) ports[i] = &sockets_[i];
  engine_.emplace(setup_, settings_, std::span(ports).first(n_interfaces()), &now_ns);
  return {};
}

Status EthernetTransport::open_sockets() {
  for (unsigned i = 0; i < n_interfaces(); ++i)
    SHMEMX_TRY(sockets_[i].open(interfaces_[i], settings_.own.mtu, settings_.own.port));
  settings_.ring_frames = sockets_[0].ring_frames();
  return {};
}

[[gnu::cold]] Status EthernetTransport::choose_settings() {
  const transport::EthernetSettings& wanted = setup_.ethernet;
  const Interface& narrow = *std::min_element(interfaces_.begin(), interfaces_.end(),
                                              [](const Interface& a, const Interface& b) { return a.mtu < b.mtu; });
  if (wanted.mtu > narrow.mtu)
    return Error{Errc::invalid_argument, 0,
                 "SHMEMX_ETH_MTU is " + std::to_string(wanted.mtu) + ", that of " + narrow.name + " is " +
                     std::to_string(narrow.mtu)};
  const std::size_t mtu = std::min(wanted.mtu != 0 ? wanted.mtu : narrow.mtu, kMostMtu);
  if (mtu < kLeastMtu)
    return Error{
        Errc::unsupported, 0,
        "the MTU of " + narrow.name + " is " + std::to_string(mtu) + ", the least is " + std::to_string(kLeastMtu)};
  std::uint32_t random[2];
  if (!fill_random(std::as_writable_bytes(std::span(random)))) return system_error("get random bytes");
  settings_.own = {.port = random[0], .life = random[1], .mtu = static_cast<std::uint16_t>(mtu)};
  for (const Interface& interface : interfaces_) {
    const unsigned number = settings_.own.interfaces++;
    settings_.own.macs[number] = interface.mac;
    settings_.names[number] = interface.name;
  }
  if (wanted.block_packets != 0) settings_.block_packets = std::min(wanted.block_packets, kMostBlockPackets);
  if (wanted.blocks != 0) settings_.blocks = wanted.blocks;
  settings_.most_blocks = kMostBlocksPerBlock * settings_.blocks;
  if (wanted.resend_us != 0) settings_.resend_ns = std::uint64_t{wanted.resend_us} * 1000;
  return {};
}

transport::Capabilities EthernetTransport::capabilities() const noexcept {
  return {.rma = false, .waits = true, .resumes = true, .short_bytes = kLongBytes};
}

std::string EthernetTransport::endpoint_address() const { return pack_address(settings_.own); }

void EthernetTransport::set_addresses(const transport::EndpointAddresses& addresses) noexcept {
  engine_->set_addresses(addresses);
}

bool EthernetTransport::poll(int) noexcept {
  int n = 0;
  bool has_more = false;
  for (unsigned i = 0; i < n_interfaces(); ++i) {
    const int taken = receive(i);
    has_more = has_more || taken == kPolledAtOnce;
    n += taken;
  }
  if (n != 0 && is_watched_ && ++reads_ >= kReadsBeforeUnwatch) unwatch();
  // A sleeper that wakes up without a frame may have been woken by an error.
  if (std::exchange(is_armed_, false) && n == 0) take_errors();
  engine_->run(has_more);
  return engine_->take_progress();
}

// Returns how many frames it has taken.
int EthernetTransport::receive(unsigned interface) noexcept {
  PacketSocket& socket = sockets_[interface];
  int n = 0;
  for (; n < kPolledAtOnce; ++n) {
    const Bytes frame = socket.receive();
    if (frame.empty()) break;
    engine_->take(frame, static_cast<std::uint8_t>(interface));
    socket.release();
  }
  return n;
}

bool EthernetTransport::has_frame() const noexcept {
  return std::any_of(sockets_.begin(), sockets_.begin() + n_interfaces(),
                     [](const PacketSocket& socket) { return socket.has_frame(); });
}

void EthernetTransport::take_errors() noexcept {
  for (unsigned i = 0; i < n_interfaces(); ++i) {
    if (const int error = sockets_[i].take_error(); error != 0) engine_->note_failure(i, error);
  }
}

void EthernetTransport::watch() noexcept {
  reads_ = 0;
  if (is_watched_) return;
  epoll_event event{};
  event.events = EPOLLIN;
  is_watched_ = true;
  for (unsigned i = 0; i < n_interfaces(); ++i)
    ::epoll_ctl(timer_->descriptor(), EPOLL_CTL_ADD, sockets_[i].descriptor(), &event);
  std::uint64_t times = 0;
  [[maybe_unused]] const ssize_t got = ::read(wake_fd_.get(), &times, sizeof times);
}

void EthernetTransport::unwatch() noexcept {
  is_watched_ = false;
  for (unsigned i = 0; i < n_interfaces(); ++i)
    ::epoll_ctl(timer_->descriptor(), EPOLL_CTL_DEL, sockets_[i].descriptor(), nullptr);
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_fd_.get(), &one, sizeof one);
}

bool EthernetTransport::arm() noexcept {
  watch();
  is_armed_ = true;
  const bool may_sleep = engine_->send_pending() && !has_frame();
  timer_->clear();
  const std::uint64_t deadline = engine_->deadline_ns();
  if (deadline != ~std::uint64_t{0}) timer_->set(deadline);
  return may_sleep;
}

void EthernetTransport::close(std::uint32_t patience_ms) noexcept {
  watch();
  engine_->begin_close();
  const std::uint64_t deadline = now_ns() + std::uint64_t{patience_ms} * 1'000'000;
  // Not the library's waiting: that polls, and this runs inside a poll. An acknowledgement mostly takes one round trip.
  for (int i = 0; !engine_->is_drained() && now_ns() < deadline; ++i) {
    const timespec pause{0, i < 100 ? 10'000 : 1'000'000};
    ::nanosleep(&pause, nullptr);
    poll(-1);
  }
  engine_->end_close();
  timer_->clear();
}

[[gnu::cold]] std::string EthernetTransport::describe(int pe) const {
  EndpointAddress peer;
  std::string text = interfaces_[0].name + " " + mac_text(interfaces_[0].mac);
  const transport::EndpointAddresses* const addresses = engine_->addresses();
  std::size_t mtu = settings_.own.mtu;
  if (addresses != nullptr && unpack_address(addresses->address_of(pe), peer)) {
    const Peer* const contact = engine_->find(pe);
    const Paths paths =
        contact != nullptr ? contact->paths : Paths(n_interfaces(), peer.interfaces, settings_.resend_ns);
    text = engine_->paths().text(paths, peer, false);
    mtu = std::min<std::size_t>(mtu, peer.mtu);
  }
  const FrameCounts counts = frames();
  return text + "; frames of " + std::to_string(mtu) + " bytes, payloads above " + std::to_string(kMediumBytes) +
         " bytes are pulled to their places; progress by poll or epoll; frames so far: " + std::to_string(counts.sent) +
         " sent, " + std::to_string(counts.resent) + " of them again, " + std::to_string(counts.received) +
         " received, " + std::to_string(counts.duplicates) + " of them again, " + std::to_string(counts.refused()) +
         " refused, " + std::to_string(counts.overflowed) + " without room in the ring";
}

FrameCounts EthernetTransport::frames() const noexcept {
  FrameCounts counts = engine_->counts();
  for (unsigned i = 0; i < n_interfaces(); ++i) counts.overflowed += sockets_[i].overflowed();
  return counts;
}

Result<transport::TransportPtr> open_ethernet(const transport::Setup& setup) {
  auto opened = std::make_unique<EthernetTransport>(setup);
  SHMEMX_TRY(opened->open());
  return transport::TransportPtr(std::move(opened));
}

}  // namespace shmemx::ethernet
