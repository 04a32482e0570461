#include "transport/ethernet/packet_socket.hpp"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>

#include "base/cache_line.hpp"

namespace shmemx::ethernet {
namespace {

constexpr std::size_t kRingBytes = std::size_t{3} << 20;    // less cache than 4 MiB takes, and room for 240 long frames
constexpr std::size_t kBlockBytes = std::size_t{64} << 10;  // of the ring, contiguous in the kernel
constexpr int kSendBufferBytes = 4 << 20;
constexpr std::size_t kMessagesAtOnce = 32;

// What the kernel writes in front of a frame: its own header, the address, and gaps that keep the content aligned.
constexpr std::size_t kSlotHeadBytes = 128;

constexpr std::size_t kPageBytes = 4096;

// Returns the bytes of a slot for frames of this MTU. Long ones begin at pages, short ones share a page evenly: a CPU
// that reads a frame prefetches up to the end of the page, and would take memory away from the one that writes there.
constexpr std::size_t slot_bytes(std::size_t mtu) noexcept {
  const std::size_t least = kSlotHeadBytes + sizeof(EthernetHeader) + mtu;
  return std::min(std::bit_ceil(least), round_up(least, kPageBytes));
}

template <class T>
bool set_option(int fd, int level, int name, const T& value) noexcept {
  return ::setsockopt(fd, level, name, &value, sizeof value) == 0;
}

// Returns whether a frame has found no room: in the socket's buffer, in the queue of the interface, or in memory.
bool is_full(int error) noexcept { return error == EAGAIN || error == ENOBUFS || error == ENOMEM || error == EINTR; }

bool is_with_user(const std::byte* slot) noexcept {
  auto& status = const_cast<std::uint32_t&>(reinterpret_cast<const tpacket2_hdr*>(slot)->tp_status);
  // Edge ring: the kernel releases the slot to this process, which acquires it.
  return (std::atomic_ref(status).load(std::memory_order_acquire) & TP_STATUS_USER) != 0;
}

}  // namespace

PacketSocket::~PacketSocket() {
  if (ring_ != nullptr) ::munmap(ring_, ring_bytes_);
}

Status PacketSocket::open(const Interface& interface, std::size_t mtu, std::uint32_t port) {
  fd_ = transport::NetworkFd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd_.valid() && (errno == EPERM || errno == EACCES))
    return Error{Errc::unsupported, errno, "packet sockets need the capability CAP_NET_RAW"};
  if (!fd_.valid()) return system_error("open a packet socket");
  SHMEMX_TRY(filter(port));
  SHMEMX_TRY(map_ring(mtu));
  const int yes = 1;
  set_option(fd_.get(), SOL_PACKET, PACKET_QDISC_BYPASS, yes);  // faster, where the kernel has it
  if (!set_option(fd_.get(), SOL_SOCKET, SO_SNDBUFFORCE, kSendBufferBytes))
    set_option(fd_.get(), SOL_SOCKET, SO_SNDBUF, kSendBufferBytes);
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(kEtherType);
  address.sll_ifindex = interface.index;
  if (::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return system_error("bind a packet socket to " + interface.name);
  return {};
}

// The socket belongs to no protocol before bind(), so nothing arrives before the filter is there.
Status PacketSocket::filter(std::uint32_t port) {
  constexpr std::uint32_t kPortAt = sizeof(EthernetHeader) + offsetof(FrameHeader, port);
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kPortAt),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ntohl(port), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
      BPF_STMT(BPF_RET | BPF_K, 0),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(code)), code};
  if (!set_option(fd_.get(), SOL_SOCKET, SO_ATTACH_FILTER, program)) return system_error("filter a packet socket");
  return {};
}

Status PacketSocket::map_ring(std::size_t mtu) {
  const int version = TPACKET_V2;
  if (!set_option(fd_.get(), SOL_PACKET, PACKET_VERSION, version))
    return system_error("set the version of a packet socket's ring");
  frame_bytes_ = slot_bytes(mtu);
  frames_of_block_ = static_cast<std::uint32_t>(kBlockBytes / frame_bytes_);
  tpacket_req request{};
  request.tp_block_size = kBlockBytes;
  request.tp_block_nr = kRingBytes / kBlockBytes;
  request.tp_frame_size = static_cast<unsigned>(frame_bytes_);
  request.tp_frame_nr = request.tp_block_nr * frames_of_block_;
  if (!set_option(fd_.get(), SOL_PACKET, PACKET_RX_RING, request)) return system_error("make a packet socket's ring");
  frames_ = request.tp_frame_nr;
  void* const ring = ::mmap(nullptr, kRingBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (ring == MAP_FAILED) return system_error("map a packet socket's ring");
  ::madvise(ring, kRingBytes, MADV_DONTFORK);  // a child's copy would keep the socket
  ring_ = slot_ = static_cast<std::byte*>(ring);
  ring_bytes_ = kRingBytes;
  return {};
}

bool PacketSocket::has_frame() const noexcept { return is_with_user(slot()); }

Bytes PacketSocket::receive() noexcept {
  const std::byte* const frame = slot();
  if (!is_with_user(frame)) return {};
  tpacket2_hdr header;
  std::memcpy(&header, frame, sizeof header);
  if (header.tp_snaplen < sizeof(EthernetHeader)) return {frame, 1};  // no frame of ours
  return {frame + header.tp_net, header.tp_snaplen - sizeof(EthernetHeader)};
}

void PacketSocket::release() noexcept {
  auto* const header = reinterpret_cast<tpacket2_hdr*>(slot());
  std::atomic_ref(header->tp_status).store(TP_STATUS_KERNEL, std::memory_order_release);  // ring
  slot_ += frame_bytes_;
  if (++in_block_ != frames_of_block_) return;
  in_block_ = 0;
  slot_ += kBlockBytes - frames_of_block_ * frame_bytes_;
  if (slot_ == ring_ + ring_bytes_) slot_ = ring_;
}

int PacketSocket::take_error() noexcept {
  int error = 0;
  socklen_t bytes = sizeof error;
  return ::getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &bytes) == 0 ? error : 0;
}

std::uint64_t PacketSocket::overflowed() const noexcept {
  tpacket_stats counts{};
  socklen_t bytes = sizeof counts;
  if (::getsockopt(fd_.get(), SOL_PACKET, PACKET_STATISTICS, &counts, &bytes) == 0) overflowed_ += counts.tp_drops;
  return overflowed_;
}

std::size_t PacketSocket::send(std::span<const OutgoingFrame> frames) noexcept {
  if (frames.size() == 1 && frames[0].rest.empty()) {
    const ssize_t bytes = ::send(fd_.get(), frames[0].head.data(), frames[0].head.size(), MSG_DONTWAIT);
    return bytes < 0 ? not_sent(1) : sent(1);
  }
  iovec areas[2 * kMessagesAtOnce];
  mmsghdr messages[kMessagesAtOnce];
  const std::size_t n = std::min(frames.size(), kMessagesAtOnce);
  for (std::size_t i = 0; i < n; ++i) {
    areas[2 * i] = {const_cast<std::byte*>(frames[i].head.data()), frames[i].head.size()};
    areas[2 * i + 1] = {const_cast<std::byte*>(frames[i].rest.data()), frames[i].rest.size()};
    messages[i] = {};
    messages[i].msg_hdr.msg_iov = areas + 2 * i;
    messages[i].msg_hdr.msg_iovlen = frames[i].rest.empty() ? 1 : 2;
  }
  const int n_sent = ::sendmmsg(fd_.get(), messages, static_cast<unsigned>(n), MSG_DONTWAIT);
  return n_sent < 0 ? not_sent(frames.size()) : sent(static_cast<std::size_t>(n_sent));
}

// Returns what send() has to return after an error: how many of the frames are lost.
std::size_t PacketSocket::not_sent(std::size_t frames) noexcept {
  error_ = is_full(errno) ? 0 : errno;
  return error_ == 0 ? 0 : frames;
}

}  // namespace shmemx::ethernet
