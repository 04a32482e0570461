#include "raw_frames.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>

#include "../support/clock.hpp"
#include "../support/job.hpp"

namespace shmemx::bench {
namespace {

constexpr std::uint16_t kEtherType = 0x88b6;  // IEEE local experimental, the one that the library does not use
constexpr std::size_t kRingBytes = std::size_t{4} << 20;
constexpr std::size_t kBlockBytes = std::size_t{64} << 10;
constexpr std::size_t kMostMtu = 9000;
constexpr unsigned kCreditFrames = 64;
constexpr int kPatienceMs = 20'000;

struct FrameHead {
  std::uint8_t target[6];
  std::uint8_t source[6];
  std::uint8_t type[2] = {kEtherType >> 8, kEtherType & 0xff};
  std::uint16_t bytes = 0;  // of the content; 0: a credit
  std::uint32_t link = 0;   // of the two ends
};
static_assert(sizeof(FrameHead) == 20);

// The interface that the library's transport uses: the named one, else the first one that is no loopback device. Of
// several, the first.
std::string interface_name() {
  const char* const named = std::getenv("SHMEMX_ETH_INTERFACE");
  if (named != nullptr) return {named, std::strcspn(named, ",")};
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) die("getifaddrs");
  std::string name = "lo";
  for (const ifaddrs* one = all; one != nullptr && name == "lo"; one = one->ifa_next)
    if ((one->ifa_flags & IFF_RUNNING) != 0 && (one->ifa_flags & IFF_LOOPBACK) == 0) name = one->ifa_name;
  freeifaddrs(all);
  return name;
}

ifreq request_of(int fd, const std::string& name, unsigned long what) {
  ifreq request{};
  name.copy(request.ifr_name, sizeof request.ifr_name - 1);
  if (ioctl(fd, what, &request) != 0) die("the interface for raw frames");
  return request;
}

template <class T>
void set_option(int fd, int level, int name, const T& value) {
  if (setsockopt(fd, level, name, &value, sizeof value) != 0) die("an option of a packet socket");
}

}  // namespace

RawFrames::~RawFrames() {
  if (ring_ != nullptr) munmap(ring_, kRingBytes);
  if (fd_ >= 0) close(fd_);
}

// The socket belongs to no protocol before bind(), so nothing arrives before the filter is there.
void RawFrames::filter() {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(FrameHead, link)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ntohl(link_), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
      BPF_STMT(BPF_RET | BPF_K, 0),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(code)), code};
  set_option(fd_, SOL_SOCKET, SO_ATTACH_FILTER, program);
}

void RawFrames::open(std::uint32_t link) {
  link_ = link;
  fd_ = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
  if (fd_ < 0) die("packet socket");
  filter();
  const std::string name = interface_name();
  const auto mtu = static_cast<std::size_t>(request_of(fd_, name, SIOCGIFMTU).ifr_mtu);
  const ifreq hardware = request_of(fd_, name, SIOCGIFHWADDR);
  std::memcpy(own_.data(), hardware.ifr_hwaddr.sa_data, own_.size());
  content_bytes_ = std::min(mtu, kMostMtu) - (sizeof(FrameHead) - 14);
  slot_bytes_ = std::bit_ceil(content_bytes_ + 144);
  slots_ = kRingBytes / slot_bytes_;
  credit_ = static_cast<long>(std::min<std::size_t>(slots_ / 2, 256));
  const int version = TPACKET_V2;
  const int yes = 1;
  set_option(fd_, SOL_PACKET, PACKET_VERSION, version);
  const tpacket_req ring{kBlockBytes, kRingBytes / kBlockBytes, static_cast<unsigned>(slot_bytes_),
                         static_cast<unsigned>(slots_)};
  set_option(fd_, SOL_PACKET, PACKET_RX_RING, ring);
  set_option(fd_, SOL_PACKET, PACKET_QDISC_BYPASS, yes);
  void* const mapped = mmap(nullptr, kRingBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (mapped == MAP_FAILED) die("map the ring of a packet socket");
  ring_ = static_cast<std::byte*>(mapped);
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(kEtherType);
  address.sll_ifindex = request_of(fd_, name, SIOCGIFINDEX).ifr_ifindex;
  if (bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) die("bind a packet socket");
}

RawAddress RawFrames::listen() {
  word_ = static_cast<std::uint64_t>(now_ns());
  open(static_cast<std::uint32_t>(word_));
  RawAddress mine{};
  std::copy(own_.begin(), own_.end(), mine.mac);
  mine.word = word_;
  return mine;
}

void RawFrames::accept() {
  const std::int64_t late = now_ns() + std::int64_t{kPatienceMs} * 1'000'000;
  while (now_ns() < late) {
    const auto content = next_frame();
    if (content.empty()) continue;
    const bool is_it = content.size() == sizeof word_ && std::memcmp(content.data(), &word_, sizeof word_) == 0;
    if (is_it) std::memcpy(peer_.data(), content.data() - sizeof(FrameHead) + 6, peer_.size());
    release();
    if (is_it) return;
  }
  die("nobody sends a frame for the raw comparison");
}

void RawFrames::connect(const RawAddress& address) {
  open(static_cast<std::uint32_t>(address.word));
  std::copy_n(address.mac, peer_.size(), peer_.begin());
  send(std::as_bytes(std::span(&address.word, 1)));
}

std::span<const std::byte> RawFrames::next_frame() {
  for (;;) {
    std::byte* const slot = ring_ + next_ * slot_bytes_;
    auto* const header = reinterpret_cast<tpacket2_hdr*>(slot);
    if ((std::atomic_ref(header->tp_status).load(std::memory_order_acquire) & TP_STATUS_USER) == 0) return {};
    FrameHead head;
    std::memcpy(&head, slot + header->tp_mac, sizeof head);
    if (head.bytes != 0) return {slot + header->tp_mac + sizeof head, head.bytes};
    if (header->tp_snaplen >= sizeof head && std::memcmp(head.source, own_.data(), own_.size()) != 0)
      credit_ += kCreditFrames;
    release();
  }
}

void RawFrames::release() {
  auto* const header = reinterpret_cast<tpacket2_hdr*>(ring_ + next_ * slot_bytes_);
  std::atomic_ref(header->tp_status).store(TP_STATUS_KERNEL, std::memory_order_release);
  next_ = (next_ + 1) % slots_;
}

void RawFrames::fill_head(void* memory, std::size_t bytes) const {
  FrameHead head;
  std::copy(peer_.begin(), peer_.end(), head.target);
  std::copy(own_.begin(), own_.end(), head.source);
  head.bytes = static_cast<std::uint16_t>(bytes);
  head.link = link_;
  std::memcpy(memory, &head, sizeof head);
}

void RawFrames::send_credit() {
  uncredited_ = 0;
  std::byte frame[64] = {};
  fill_head(frame, 0);
  if (::send(fd_, frame, sizeof frame, 0) < 0) die("a raw credit");
}

// Sends the frames of a piece with one call, a short one from one piece of memory.
void RawFrames::transmit(std::span<const std::byte> content) {
  std::byte small[256];
  if (content.size() <= sizeof small - sizeof(FrameHead)) {
    fill_head(small, content.size());
    std::memcpy(small + sizeof(FrameHead), content.data(), content.size());
    --credit_;
    if (::send(fd_, small, sizeof(FrameHead) + content.size(), 0) < 0) die("a raw frame");
    return;
  }
  FrameHead heads[kAtOnce];
  iovec areas[2 * kAtOnce];
  mmsghdr messages[kAtOnce] = {};
  unsigned n = 0;
  for (; !content.empty(); ++n) {
    const auto piece = content.first(std::min(content.size(), content_bytes_));
    fill_head(&heads[n], piece.size());
    areas[2 * n] = {&heads[n], sizeof heads[n]};
    areas[2 * n + 1] = {const_cast<std::byte*>(piece.data()), piece.size()};
    messages[n].msg_hdr.msg_iov = areas + 2 * n;
    messages[n].msg_hdr.msg_iovlen = 2;
    content = content.subspan(piece.size());
  }
  credit_ -= n;
  for (unsigned sent = 0; sent < n;) {
    const int now = ::sendmmsg(fd_, messages + sent, n - sent, 0);
    if (now < 0) die("raw frames");
    sent += static_cast<unsigned>(now);
  }
}

void RawFrames::send(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    while (credit_ < static_cast<long>(kAtOnce)) next_frame();  // takes credits only: the peer sends nothing else
    const auto piece = bytes.first(std::min(bytes.size(), kAtOnce * content_bytes_));
    transmit(piece);
    bytes = bytes.subspan(piece.size());
  }
}

std::size_t RawFrames::receive_some(std::span<std::byte> bytes) {
  if (!rest_.empty()) {
    const std::size_t n = std::min(bytes.size(), rest_.size());
    std::copy_n(rest_.begin(), n, bytes.begin());
    rest_.erase(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(n));
    return n;
  }
  std::span<const std::byte> content;
  while (content.empty()) content = next_frame();
  const std::size_t n = std::min(bytes.size(), content.size());
  std::memcpy(bytes.data(), content.data(), n);
  rest_.assign(content.begin() + static_cast<std::ptrdiff_t>(n), content.end());
  release();
  if (++uncredited_ == kCreditFrames) send_credit();
  return n;
}

}  // namespace shmemx::bench
