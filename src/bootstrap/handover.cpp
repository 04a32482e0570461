#include "bootstrap/handover.hpp"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/abstract_address.hpp"
#include "bootstrap/wire.hpp"

namespace shmemx::bootstrap {
namespace {

AbstractAddress abstract_address(std::uint64_t socket_id) { return AbstractAddress("shmemx-%016" PRIx64, socket_id); }

bool peer_has_uid(int socket, std::uint64_t uid) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.uid == uid;
}

union ControlBuffer {
  cmsghdr align;
  char bytes[CMSG_SPACE(sizeof(int))];
};

void send_fd(int socket, int fd) {
  char byte = 'a';
  iovec payload{&byte, 1};
  ControlBuffer control{};
  msghdr message{};
  message.msg_iov = &payload;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(rights), &fd, sizeof fd);
  (void)!::sendmsg(socket, &message, MSG_NOSIGNAL);  // a taker that has closed the connection tries again, or is dead
}

UniqueFd receive_fd(int socket) {
  char byte = 0;
  iovec payload{&byte, 1};
  ControlBuffer control{};
  msghdr message{};
  message.msg_iov = &payload;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  ssize_t n = 0;
  do {
    n = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  const cmsghdr* rights = n == 1 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (rights == nullptr || rights->cmsg_type != SCM_RIGHTS || rights->cmsg_len != CMSG_LEN(sizeof(int)))
    return UniqueFd();
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(rights), sizeof fd);
  return UniqueFd(fd);
}

// Returns true if another attempt may succeed: a resource had run out.
bool is_passing(int system_errno) {
  constexpr int kPassing[] = {EINTR, EAGAIN, EMFILE, ENFILE, ENOMEM, ENOBUFS, ECONNRESET};
  return std::find(std::begin(kPassing), std::end(kPassing), system_errno) != std::end(kPassing);
}

long milliseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace

std::string encode(const Offer& offer) {
  char text[6 * 17 + 1];
  std::snprintf(text, sizeof text, "%" PRIx64 ":%" PRIx64 ":%" PRIx64 ":%" PRIx64 ":%" PRIx64 ":%" PRIx64, offer.job_id,
                offer.nonce, offer.socket_id, offer.uid, offer.pid, offer.fd);
  return text;
}

Result<Offer> decode_offer(const std::string& text) {
  Offer offer;
  int end = -1;
  const int n = std::sscanf(text.c_str(), "%" SCNx64 ":%" SCNx64 ":%" SCNx64 ":%" SCNx64 ":%" SCNx64 ":%" SCNx64 "%n",
                            &offer.job_id, &offer.nonce, &offer.socket_id, &offer.uid, &offer.pid, &offer.fd, &end);
  if (n != 6 || end < 0 || static_cast<std::size_t>(end) != text.size()) {
    return Error{Errc::protocol, 0, "an offer of an arena is not readable: '" + text + "'"};
  }
  return offer;
}

Result<std::unique_ptr<ArenaServer>> ArenaServer::start(int arena_fd, const Offer& offer) {
  std::unique_ptr<ArenaServer> server(new ArenaServer());
  server->arena_fd_ = arena_fd;
  server->nonce_ = offer.nonce;
  server->listener_ = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  server->stop_ = UniqueFd(::eventfd(0, EFD_CLOEXEC));
  if (!server->listener_.valid() || !server->stop_.valid()) return system_error("open a socket to hand over the arena");
  const AbstractAddress address = abstract_address(offer.socket_id);
  if (::bind(server->listener_.get(), address.get(), address.bytes()) != 0 ||
      ::listen(server->listener_.get(), kMaxNodePes) != 0) {
    return system_error("listen on a socket to hand over the arena");
  }
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const int failed = ::pthread_create(&server->thread_, nullptr, run, server.get());
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (failed != 0) return Error{Errc::system, failed, "start the thread that hands over the arena"};
  server->running_ = true;
  return server;
}

ArenaServer::~ArenaServer() {
  if (!running_) return;
  const std::uint64_t one = 1;
  (void)!::write(stop_.get(), &one, sizeof one);
  ::pthread_join(thread_, nullptr);
}

void* ArenaServer::run(void* self) {
  static_cast<ArenaServer*>(self)->serve();
  return nullptr;
}

// Serves all takers at once, so that one which connects and then sleeps delays no other.
void ArenaServer::serve() {
  const std::uint64_t uid = ::geteuid();
  std::vector<UniqueFd> takers;
  std::vector<pollfd> polled;
  for (;;) {
    polled = {{stop_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    for (const UniqueFd& taker : takers) polled.push_back({taker.get(), POLLIN, 0});
    if (::poll(polled.data(), polled.size(), -1) < 0) continue;
    if (polled[0].revents != 0) return;
    for (std::size_t i = takers.size(); i-- > 0;) {
      if (polled[i + 2].revents == 0) continue;
      std::uint64_t shown = 0;
      const ssize_t n = ::recv(takers[i].get(), &shown, sizeof shown, MSG_DONTWAIT);
      if (n == static_cast<ssize_t>(sizeof shown) && shown == nonce_) send_fd(takers[i].get(), arena_fd_);
      takers.erase(takers.begin() + static_cast<std::ptrdiff_t>(i));
    }
    for (;;) {
      UniqueFd taker(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!taker.valid()) break;
      if (peer_has_uid(taker.get(), uid)) takers.push_back(std::move(taker));
    }
  }
}

Result<UniqueFd> take_over_socket(const Offer& offer) {
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return system_error("open a socket");
  const AbstractAddress address = abstract_address(offer.socket_id);
  if (::connect(socket.get(), address.get(), address.bytes()) != 0) {
    return system_error("connect to the socket of its maker");
  }
  if (!peer_has_uid(socket.get(), offer.uid) || offer.uid != ::geteuid()) {
    return Error{Errc::protocol, 0, "the socket of its maker belongs to another user"};
  }
  if (::send(socket.get(), &offer.nonce, sizeof offer.nonce, MSG_NOSIGNAL) !=
      static_cast<ssize_t>(sizeof offer.nonce)) {
    return system_error("ask its maker for the arena");
  }
  errno = ECONNRESET;  // the errno of an end without data
  UniqueFd fd = receive_fd(socket.get());
  if (!fd.valid()) return Error{Errc::protocol, errno, "its maker did not send the descriptor"};
  return fd;
}

// Opens a file only if it has no name, which has no side effects: process numbers of another namespace may make the
// path lead to any file.
Result<UniqueFd> take_through_proc(const Offer& offer) {
  const std::string path = "/proc/" + std::to_string(offer.pid) + "/fd/" + std::to_string(offer.fd);
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return system_error("open " + path);
  if (!S_ISREG(about.st_mode) || about.st_nlink != 0) {
    return Error{Errc::protocol, 0, path + " is not the arena"};
  }
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd.valid()) return system_error("open " + path);
  return fd;
}

Result<UniqueFd> take_arena(const Offer& offer, std::uint32_t n_pes, int patience_ms) {
  const long deadline = milliseconds() + patience_ms;
  for (long pause_ms = 1;; pause_ms = pause_ms < 100 ? pause_ms * 2 : pause_ms) {
    std::string reasons;
    bool may_pass = false;
    for (auto* take : {take_over_socket, take_through_proc}) {
      auto fd = take(offer);
      // The header decides whether this is the arena: a pid may mean another process in another namespace.
      auto header = fd ? map_job_header(fd->get(), n_pes, offer.job_id) : Result<JobHeader*>(fd.error());
      if (header) {
        unmap_job_header(*header);
        return fd;
      }
      may_pass = may_pass || is_passing(header.error().system_errno);
      if (!reasons.empty()) reasons += "; ";
      reasons += header.error().text;
      if (header.error().system_errno != 0) reasons += std::string(": ") + std::strerror(header.error().system_errno);
    }
    if (!may_pass || milliseconds() >= deadline) {
      return Error{Errc::unsupported, 0, "the arena cannot be reached: " + reasons};
    }
    const timespec pause{0, pause_ms * 1'000'000};
    ::nanosleep(&pause, nullptr);
  }
}

}  // namespace shmemx::bootstrap
