#include "transport/tcp/connection.hpp"

#include <errno.h>
#include <sys/socket.h>

#include <bit>
#include <cstring>

#include "transport/tcp/unmapped.hpp"

namespace shmemx::tcp {

void Connection::open(NetworkFd fd, std::uint64_t number, std::unique_ptr<Sealing> sealing,
                      bool awaits_resume) noexcept {
  fd_ = std::move(fd);
  sealing_ = std::move(sealing);
  sockets_ = number;
  resume_bytes_ = awaits_resume ? 0 : sizeof resume_frame_;
  state_ = State::up;
}

void Connection::close(int epoll) noexcept {
  drop_acknowledged();
  if (in.is_waiting()) keep_unread();
  state_ = State::connecting;
  close_watched(epoll, fd_);
}

bool Connection::suspend(bool has_left) noexcept {
  if (in.between_frames()) in.free_memory();
  // Nothing is written behind the suspend frame, so what is not written is something else.
  if (!out.empty() || out.unacknowledged() > (has_left ? sizeof(FrameHeader) : 0)) return false;
  if (out.is_acknowledged()) out.drop();
  state_ = State::suspended;
  return true;
}

void Connection::end(int epoll) noexcept {
  state_ = State::ended;
  close_watched(epoll, fd_);
  out.drop();
}

// ---- the socket ----

ssize_t Connection::read_socket(const iovec* areas, int n) noexcept {
  if (sealing_) [[unlikely]]
    return sealing_->read(fd_.get(), areas, n);
  return n == 1 ? ::recv(fd_.get(), areas[0].iov_base, areas[0].iov_len, 0) : ::readv(fd_.get(), areas, n);
}

ssize_t Connection::read(const iovec* areas, int n) noexcept {
  const ssize_t got = read_socket(areas, n);
  if (got > 0) received_ += static_cast<std::size_t>(got);
  if (got < 0 && errno == EFAULT) end_with_unmapped(areas, static_cast<std::size_t>(n), "written to");
  return got;
}

void Connection::keep_unread() noexcept {
  if (awaits_resume()) return;
  std::vector<std::byte> unread(std::size_t{64} << 10);
  for (;;) {
    const iovec area{unread.data(), unread.size()};
    const ssize_t got = read(&area, 1);
    if (got <= 0) return;
    in.keep(Bytes(unread).first(static_cast<std::size_t>(got)));
  }
}

Outbox::Written Connection::write() noexcept {
  if (sealing_) [[unlikely]]
    return sealing_->write(out, fd_.get());
  return out.write(fd_.get());
}

// The kernel's count includes the handshake and headers of records, so it is an upper bound. A record of which a part
// is acknowledged is kept whole.
void Connection::drop_acknowledged() noexcept {
  if (awaits_resume()) [[unlikely]]
    return;
  auto unacknowledged = static_cast<std::uint64_t>(unacknowledged_bytes(fd_.get()));
  if (sealing_ && unacknowledged != 0) [[unlikely]]
    unacknowledged += Sealing::kRecordBytes;
  const std::uint64_t sent = out.sent();
  out.acknowledge(sent > unacknowledged ? sent - unacknowledged : 0);
}

// ---- how streams continue ----

bool Connection::send_resume() noexcept {
  const FrameHeader frame{0, FrameKind::resume, 0, std::bit_cast<Header>(received_)};
  const Bytes bytes = std::as_bytes(std::span(&frame, 1));
  if (sealing_) return sealing_->send(fd_.get(), bytes);
  return ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

ssize_t Connection::read_resume() noexcept {
  const iovec rest{resume_frame_ + resume_bytes_, sizeof resume_frame_ - resume_bytes_};
  const ssize_t got = read_socket(&rest, 1);
  if (got > 0) resume_bytes_ += static_cast<std::size_t>(got);
  return got;
}

std::string Connection::take_resume() noexcept {
  FrameHeader frame;
  std::memcpy(&frame, resume_frame_, sizeof frame);
  const auto offset = std::bit_cast<std::uint64_t>(frame.fixed);
  if (frame.kind != FrameKind::resume || frame.message_bytes != 0 || frame.reserved != 0)
    return "it sent another frame than the one that begins a connection";
  if (sockets_ > 1 ? out.rewind(offset) : offset == 0) return {};
  return "it continues at byte " + std::to_string(offset) + ", where bytes " + std::to_string(out.kept_from()) +
         " to " + std::to_string(out.sent()) + " are kept";
}

}  // namespace shmemx::tcp
