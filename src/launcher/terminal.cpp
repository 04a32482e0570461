#include "terminal.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "waiting_reader.hpp"

namespace shmemx::launcher {
namespace {

constexpr std::size_t kMostOutput = std::size_t{64} << 10;  // unwritten; more stays with the PEs
constexpr long kShortestPauseMs = 1;
constexpr long kLongestPauseMs = 100;
constexpr long kBackgroundMs = 500;  // between looks who is in the foreground

dev_t device_of(int fd) {
  struct stat about {};
  return ::fstat(fd, &about) == 0 ? about.st_rdev : 0;
}

// Opens the same terminal once more, so that its flags are not those of other processes.
UniqueFd open_again(int fd) {
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  UniqueFd again(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!again.valid()) again = UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
  return again;
}

UniqueFd open_slave(int master) {
  UniqueFd slave(::ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  char name[64];
  if (!slave.valid() && ::ptsname_r(master, name, sizeof name) == 0)
    slave = UniqueFd(::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
  return slave;
}

// Returns the modes of a pseudo-terminal whose lines are edited and whose output is changed by the terminal.
termios delegated(termios modes) {
  modes.c_lflag |= EXTPROC;
  modes.c_oflag &= OPOST;
  return modes;
}

bool is_alike(const termios& a, const termios& b) {
  return a.c_iflag == b.c_iflag && a.c_oflag == b.c_oflag && a.c_lflag == b.c_lflag &&
         std::equal(std::begin(a.c_cc), std::end(a.c_cc), std::begin(b.c_cc));
}

}  // namespace

bool is_in_foreground(int terminal) {
  const pid_t foreground = ::tcgetpgrp(terminal);
  return foreground == ::getpgrp() || (foreground < 0 && errno == ENOTTY);
}

bool has_controlling_terminal() {
  return UniqueFd(::open("/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)).valid();
}

void Terminal::open() {
  int fd = STDIN_FILENO;
  while (fd <= STDERR_FILENO && ::isatty(fd) == 0) ++fd;
  if (fd > STDERR_FILENO || ::tcgetattr(fd, &original_) != 0) return;
  UniqueFd master(::posix_openpt(O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!master.valid() || ::unlockpt(master.get()) != 0) return;
  UniqueFd slave = open_slave(master.get());
  const termios modes = delegated(original_);
  const int on = 1;
  if (!slave.valid() || ::tcsetattr(slave.get(), TCSANOW, &modes) != 0 || ::ioctl(master.get(), TIOCPKT, &on) != 0)
    return;
  device_ = device_of(fd);
  real_ = open_again(fd);
  master_ = std::move(master);
  slave_ = std::move(slave);
  follow_size();
}

bool Terminal::stands_for(int fd) const { return is_open() && ::isatty(fd) != 0 && device_of(fd) == device_; }

void Terminal::fill_events(pollfd* polled, long now_ms) {
  if (now_ms >= look_at_ms_) look_at_ms_ = -1;
  polled[0] = {-1, 0, 0};
  polled[1] = {-1, 0, 0};
  if (!is_open()) return;
  const bool reads = reader_ > 0 && input_.empty() && look_at_ms_ < 0;
  const int real_events = (reads ? POLLIN : 0) | (output_.empty() ? 0 : POLLOUT);
  const int pty_events = (output_.size() < kMostOutput ? POLLIN : 0) | (input_.empty() ? 0 : POLLOUT);
  if (real_events != 0) polled[0] = {real_.get(), static_cast<short>(real_events), 0};
  if (pty_events != 0) polled[1] = {master_.get(), static_cast<short>(pty_events), 0};
}

void Terminal::on_events(const pollfd* polled, long now_ms) {
  if ((polled[1].revents & POLLIN) != 0) take_output();
  if ((polled[0].revents & POLLOUT) != 0) write_output();
  if ((polled[0].revents & POLLIN) != 0) take_input(now_ms);
  if ((polled[1].revents & POLLOUT) != 0) write_input();
  if ((polled[0].revents & (POLLHUP | POLLERR | POLLNVAL)) == 0) return;
  real_.reset();  // the terminal is gone: nothing comes from it, and what PEs print is lost
  output_.clear();
}

// Sets modes of the terminal, in so far as they are modes and not the line's speed. Requires that oshrun is in the
// foreground.
void Terminal::show(const termios& modes) {
  termios now;
  if (::tcgetattr(real_.get(), &now) != 0) return;
  termios wanted = now;
  wanted.c_iflag = modes.c_iflag;
  wanted.c_lflag = modes.c_lflag & ~static_cast<tcflag_t>(EXTPROC);
  wanted.c_oflag = (original_.c_oflag & ~static_cast<tcflag_t>(OPOST)) | (modes.c_oflag & OPOST);
  std::copy(std::begin(modes.c_cc), std::end(modes.c_cc), std::begin(wanted.c_cc));
  if (!is_alike(now, wanted)) ::tcsetattr(real_.get(), TCSANOW, &wanted);
}

void Terminal::follow_modes() {
  termios modes;
  if (::tcgetattr(slave_.get(), &modes) != 0) return;
  const termios wanted = delegated(modes);
  if (!is_alike(modes, wanted)) ::tcsetattr(slave_.get(), TCSANOW, &wanted);  // stty sane, for example
  if (!is_alike(wanted, delegated(original_))) follows_ = true;
  if (follows_ && real_.valid() && is_in_foreground(real_.get())) show(wanted);
}

void Terminal::follow_size() {
  winsize real{};
  winsize own{};
  if (::ioctl(real_.get(), TIOCGWINSZ, &real) != 0 || ::ioctl(slave_.get(), TIOCGWINSZ, &own) != 0) return;
  if (std::memcmp(&real, &own, sizeof real) != 0) ::ioctl(master_.get(), TIOCSWINSZ, &real);  // tells PE 0's group
}

void Terminal::on_foreground() {
  if (!is_open() || !real_.valid()) return;
  look_at_ms_ = -1;
  pause_ms_ = 0;
  follow_size();
  if (follows_) follow_modes();
}

void Terminal::leave_foreground() {
  if (follows_ && real_.valid() && is_in_foreground(real_.get())) show(original_);
}

// The first byte of what is read tells whether data follow or something else has happened.
void Terminal::take_output() {
  char block[4096];
  const ssize_t bytes = ::read(master_.get(), block, sizeof block);
  if (bytes <= 0) return;
  if (block[0] != TIOCPKT_DATA) return follow_modes();
  if (!real_.valid()) return;
  output_.append(block + 1, static_cast<std::size_t>(bytes) - 1);
  write_output();
}

void Terminal::write_output() {
  pollfd ready{real_.get(), POLLOUT, 0};
  while (!output_.empty() && ::poll(&ready, 1, 0) > 0 && (ready.revents & POLLOUT) != 0) {
    const ssize_t bytes = ::write(real_.get(), output_.data(), output_.size());
    if (bytes > 0) output_.erase(0, static_cast<std::size_t>(bytes));
    if (bytes < 0 && errno == EAGAIN) return;
    if (bytes < 0 && errno != EINTR) output_.clear();  // as if nobody looked
  }
}

// A line is for PE 0 only if one of its processes waits for it. Single characters are: it has asked for them.
bool Terminal::may_read() {
  termios modes;
  if (::tcgetattr(slave_.get(), &modes) != 0) return false;
  if ((modes.c_lflag & EXTPROC) == 0) follow_modes();
  if ((modes.c_lflag & ICANON) == 0) return true;
  pollfd given{slave_.get(), POLLIN, 0};  // poll also brings in what has been written just now
  if (::poll(&given, 1, 0) != 0) return false;
  return reads_terminal(reader_, device_of(slave_.get())) != Reading::no;
}

void Terminal::take_input(long now_ms) {
  if (!is_in_foreground(real_.get())) {
    look_at_ms_ = now_ms + kBackgroundMs;
    return;
  }
  if (!may_read()) {
    pause_ms_ = std::clamp(2 * pause_ms_, kShortestPauseMs, kLongestPauseMs);
    look_at_ms_ = now_ms + pause_ms_;
    return;
  }
  look_at_ms_ = -1;
  pause_ms_ = 0;
  termios modes;
  if (::tcgetattr(slave_.get(), &modes) != 0) return;
  const bool is_line = (modes.c_lflag & ICANON) != 0;
  char text[4096];
  ssize_t bytes = ::read(real_.get(), text, is_line ? 1 : sizeof text);
  if (bytes < 0) return;
  input_.assign(text, static_cast<std::size_t>(bytes));
  if (bytes == 0) input_.assign(1, static_cast<char>(modes.c_cc[VEOF]));
  // What was typed while another program had single characters comes as one piece: byte by byte to the line's end.
  pollfd ready{real_.get(), POLLIN, 0};
  while (is_line && bytes > 0 && input_.back() != '\n' && input_.size() < sizeof text && ::poll(&ready, 1, 0) > 0) {
    bytes = ::read(real_.get(), text, 1);
    if (bytes > 0) input_ += text[0];
  }
  write_input();
}

void Terminal::write_input() {
  const ssize_t bytes = ::write(master_.get(), input_.data(), input_.size());
  if (bytes > 0) input_.erase(0, static_cast<std::size_t>(bytes));
}

void Terminal::drain(int quiet_ms) {
  if (!is_open()) return;
  pollfd ready{master_.get(), POLLIN, 0};
  for (int i = 0; i < 100 && output_.size() < kMostOutput && ::poll(&ready, 1, quiet_ms) > 0; ++i) {
    if ((ready.revents & POLLIN) == 0) break;
    take_output();
  }
}

void Terminal::finish(int stop, bool failed) {
  if (!is_open()) return;
  reader_ = 0;
  if (failed) leave_foreground();
  slave_.reset();  // the last output comes in front of the pseudo-terminal's end
  pollfd ready[] = {{master_.get(), POLLIN, 0}, {real_.get(), 0, 0}, {stop, POLLIN, 0}};
  for (;;) {
    ready[0].fd = output_.size() < kMostOutput ? master_.get() : -1;
    ready[1].events = output_.empty() ? 0 : POLLOUT;
    if (::poll(ready, 3, output_.empty() ? 100 : -1) <= 0 || ready[2].revents != 0) break;
    if ((ready[1].revents & (POLLHUP | POLLERR)) != 0) break;
    if ((ready[1].revents & POLLOUT) != 0) write_output();
    if (ready[0].fd >= 0 && (ready[0].revents & POLLIN) != 0) {
      take_output();
    } else if (ready[0].revents != 0 && output_.empty()) {
      break;
    }
  }
  master_.reset();
}

}  // namespace shmemx::launcher
