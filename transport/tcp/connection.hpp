// The connection to a PE, or its second rail: two streams, which live longer than the sockets that carry them. The
// outbox numbers the bytes of one stream, received() those of the other one.
//
// state       what may arrive, or happen                                         leads to
// ----------  ------------------------------------------------------------------ ----------------------------------
// connecting  a socket, dialed by this PE or accepted                            up
//             no way leads to the PE any more                                    ended
// up          the resume frame, if it is awaited; messages; control frames
//             a write fails                                                      failed
//             this PE sends a suspend frame                                      leaving
//             another socket                                                     replaced
//             the end of the socket                                              connecting; suspended, ended below
//             the other side's suspend frame                                     suspended; connecting if more is to
//                                                                                be sent or may be missing there
//             the end of the socket behind a shutdown frame; what breaks rules   ended
// failed      as in up, but nothing is written: what has arrived is read
// leaving     as in up, but nothing is written; the end of the socket            as behind the other's suspend frame
// replaced    as in up, but nothing is written: it is read for the last time     connecting, ended
// suspended   a message to be sent, or a socket that the other side has dialed   connecting
//             the shutdown of this PE                                            ended
// ended       nothing; for a second rail that was never up: another try          connecting
//
// Only Resume::lose() ends a connection.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "transport/tcp/decoder.hpp"
#include "transport/tcp/outbox.hpp"
#include "transport/tcp/sealing.hpp"
#include "transport/tcp/socket.hpp"

namespace shmemx::tcp {

class Connection {
 public:
  enum class State : std::uint8_t { connecting, up, failed, leaving, replaced, suspended, ended };

  // `number`: of the PE; that of a second rail is behind those of all PEs.
  Connection(int number, transport::Sink& sink) noexcept : pe(number), in(number, sink) {}

  State state() const noexcept { return state_; }
  bool is(State state) const noexcept { return state_ == state; }
  bool is_open() const noexcept { return state_ >= State::up && state_ <= State::replaced; }
  bool may_write() const noexcept { return state_ == State::up && !is_blocked_ && !is_resuming(); }
  // Returns whether the other side may never take this socket: acknowledgements mean nothing before its resume frame.
  bool awaits_resume() const noexcept { return resume_bytes_ < sizeof resume_frame_; }
  // Returns whether nothing is sent before the resume frame is here, since another socket was there before.
  bool is_resuming() const noexcept { return sockets_ > 1 && awaits_resume(); }
  bool is_idle() const noexcept { return may_write() && out.empty() && in.between_frames() && !in.has_shut_down(); }
  bool is_suspended_by_other() const noexcept { return in.suspends() == sockets_ && is_open() && !is(State::replaced); }
  int fd() const noexcept { return fd_.get(); }
  std::uint64_t sockets() const noexcept { return sockets_; }  // so far, as both sides count them
  std::uint64_t received() const noexcept { return received_; }

  // ---- transitions ----
  // The socket of that number is there. `sealing`: null if nothing is sealed.
  void open(NetworkFd fd, std::uint64_t number, std::unique_ptr<Sealing> sealing, bool awaits_resume) noexcept;
  void fail() noexcept { state_ = State::failed; }
  void leave() noexcept { state_ = State::leaving; }
  void replace() noexcept { state_ = State::replaced; }
  // Closes the socket. The connection has to be made again.
  void close(int epoll) noexcept;
  // A closed connection stays as it is until the next message, and takes little memory. Returns false, and does
  // nothing, if the other side may lack something. `has_left`: it has this PE's suspend frame, or does not need it.
  bool suspend(bool has_left) noexcept;
  void reconnect() noexcept { state_ = State::connecting; }
  void end(int epoll) noexcept;

  // ---- the socket ----
  // As readv(). Counts what is received.
  ssize_t read(const iovec* areas, int n) noexcept;
  // Returns whether read() has bytes of which no event tells.
  bool has_unread() const noexcept { return sealing_ && sealing_->has_unread(); }
  // Reads what the kernel has while the decoder waits, since the socket is about to be closed.
  void keep_unread() noexcept;
  Outbox::Written write() noexcept;
  // Drops from the outbox what the other kernel has acknowledged.
  void drop_acknowledged() noexcept;
  bool is_acknowledged() const noexcept { return out.empty() && !awaits_resume() && unacknowledged_bytes(fd()) == 0; }
  // Whether an event is awaited which tells that the kernel takes more bytes.
  bool is_blocked() const noexcept { return is_blocked_; }
  void set_blocked(bool is_blocked) noexcept { is_blocked_ = is_blocked; }

  // ---- how streams continue ----
  // Sends the resume frame: where the other side's stream goes on. Returns false, with errno set, if that fails.
  bool send_resume() noexcept;
  // Reads the other side's resume frame. As read(); if it is complete, take_resume() follows.
  ssize_t read_resume() noexcept;
  // Continues as the frame says. Returns what is wrong with it.
  std::string take_resume() noexcept;

  const int pe;
  Outbox out;
  Decoder in;

 private:
  ssize_t read_socket(const iovec* areas, int n) noexcept;

  State state_ = State::connecting;
  bool is_blocked_ = false;
  NetworkFd fd_;
  std::unique_ptr<Sealing> sealing_;  // if SHMEMX_NET_MAC is on
  std::uint64_t sockets_ = 0;
  std::uint64_t received_ = 0;
  std::size_t resume_bytes_ = 0;  // of the resume frame that are here
  std::byte resume_frame_[sizeof(FrameHeader)] = {};
};

}  // namespace shmemx::tcp
