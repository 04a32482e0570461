#include "transport/ethernet/ethernet_transport.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>

#include <algorithm>
#include <utility>

#include "base/clock.hpp"

namespace shmemx::ethernet {
namespace {

constexpr int kFramesAtOnce = 64;  // of one poll
constexpr unsigned kReadsBeforeUnwatch = 64;
constexpr std::uint32_t kMostBlocksPerBlock = 8;  // outstanding on a link without losses, to those at first

}  // namespace

EthernetTransport::~EthernetTransport() = default;

Status EthernetTransport::open() {
  SHMEMX_TRY_ASSIGN(found, choose_interface(setup_.ethernet.interface, setup_.one_machine));
  interface_ = std::move(found);
  SHMEMX_TRY(choose_settings());
  SHMEMX_TRY(socket_.open(interface_, settings_.own.mtu, settings_.own.port));
  settings_.ring_frames = socket_.ring_frames();
  wake_fd_ = UniqueFd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!wake_fd_.valid()) return system_error("create an event descriptor");
  SHMEMX_TRY_ASSIGN(timer, transport::KeepaliveTimer::open(wake_fd_.get()));
  timer_.emplace(std::move(timer));
  watch();
  engine_.emplace(setup_, settings_, socket_, &now_ns);
  return {};
}

Status EthernetTransport::choose_settings() {
  const transport::EthernetSettings& wanted = setup_.ethernet;
  if (wanted.mtu > interface_.mtu)
    return Error{Errc::invalid_argument, 0,
                 "SHMEMX_ETH_MTU is " + std::to_string(wanted.mtu) + ", that of " + interface_.name + " is " +
                     std::to_string(interface_.mtu)};
  const std::size_t mtu = std::min(wanted.mtu != 0 ? wanted.mtu : interface_.mtu, kMostMtu);
  if (mtu < kLeastMtu)
    return Error{
        Errc::unsupported, 0,
        "the MTU of " + interface_.name + " is " + std::to_string(mtu) + ", the least is " + std::to_string(kLeastMtu)};
  std::uint32_t random[2];
  if (::getrandom(random, sizeof random, 0) != sizeof random) return system_error("get random bytes");
  settings_.own = {interface_.mac, static_cast<std::uint16_t>(mtu), random[0], random[1]};
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
  for (; n < kFramesAtOnce; ++n) {
    const Bytes frame = socket_.receive();
    if (frame.empty()) break;
    engine_->take(frame);
    socket_.release();
  }
  if (n != 0 && is_watched_ && ++reads_ >= kReadsBeforeUnwatch) unwatch();
  // A sleeper that wakes up without a frame may have been woken by an error.
  if (std::exchange(is_armed_, false) && n == 0) socket_.take_error();
  engine_->run();
  return engine_->take_progress();
}

void EthernetTransport::watch() noexcept {
  reads_ = 0;
  if (is_watched_) return;
  epoll_event event{};
  event.events = EPOLLIN;
  is_watched_ = ::epoll_ctl(timer_->descriptor(), EPOLL_CTL_ADD, socket_.descriptor(), &event) == 0;
  std::uint64_t times = 0;
  [[maybe_unused]] const ssize_t got = ::read(wake_fd_.get(), &times, sizeof times);
}

void EthernetTransport::unwatch() noexcept {
  is_watched_ = false;
  ::epoll_ctl(timer_->descriptor(), EPOLL_CTL_DEL, socket_.descriptor(), nullptr);
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_fd_.get(), &one, sizeof one);
}

bool EthernetTransport::arm() noexcept {
  watch();
  is_armed_ = true;
  const bool may_sleep = engine_->send_pending() && !socket_.has_frame();
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

std::string EthernetTransport::describe(int pe) const {
  EndpointAddress peer;
  std::string text = interface_.name + " " + mac_text(interface_.mac);
  const transport::EndpointAddresses* const addresses = engine_->addresses();
  std::size_t mtu = settings_.own.mtu;
  if (addresses != nullptr && unpack_address(addresses->address_of(pe), peer)) {
    text += " -> " + mac_text(peer.mac);
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
  counts.overflowed = socket_.overflowed();
  return counts;
}

Result<transport::TransportPtr> open_ethernet(const transport::Setup& setup) {
  auto opened = std::make_unique<EthernetTransport>(setup);
  SHMEMX_TRY(opened->open());
  return transport::TransportPtr(std::move(opened));
}

}  // namespace shmemx::ethernet
