#include "output.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/clock.hpp"
#include "base/colour.hpp"

namespace shmemx::launcher {
namespace {

constexpr int kQuietMs = 10;  // output of PEs that have printed reaches oshrun within this time

}  // namespace

long now_ms() { return static_cast<long>(now_ns() / 1'000'000); }

std::string line_of_oshrun(const std::string& text) {
  const Colour colour(STDERR_FILENO, text.starts_with("info: ") ? kBold : kRed);
  return std::string(colour.begin) + "oshrun:" + colour.end + " " + text + "\n";
}

// What PEs have printed before stands in front of the line.
void Output::say(const std::string& text) {
  terminal_.drain(kQuietMs);
  const std::string line = line_of_oshrun(text);
  write_all(STDERR_FILENO, line.data(), line.size());
}

bool Output::forward(int signals, int wait_ms) {
  std::vector<pollfd> polled{{signals, POLLIN, 0}};
  polled.resize(3);
  terminal_.fill_events(&polled[1], now_ms());
  for (const TaggedStream& stream : streams_)
    polled.push_back({stream.fd(), POLLIN, 0});  // -1 if closed, which poll ignores
  if (::poll(polled.data(), polled.size(), wait_ms) < 0) return false;
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    if (polled[i + 3].revents != 0) forward_stream(streams_[i]);
  }
  terminal_.on_events(&polled[1], now_ms());
  return polled[0].revents != 0;
}

void Output::finish(int stop, bool failed) {
  terminal_.finish(stop, failed);
  for (TaggedStream& stream : streams_) {  // all writers are dead, so each pipe ends after its remaining data
    pollfd ready{stream.fd(), POLLIN, 0};
    while (stream.open() && ::poll(&ready, 1, 100) > 0) forward_stream(stream);
    stream.close();
    note_lost(stream);
  }
}

void Output::forward_stream(TaggedStream& stream) {
  stream.forward();
  note_lost(stream);
}

// Reports lost output. A reader that left is not reported: oshrun then ends as a program killed by SIGPIPE.
void Output::note_lost(const TaggedStream& stream) {
  const int error = stream.write_error();
  if (error == 0 || lost_status_ != 0) return;
  lost_status_ = error == EPIPE ? 128 + SIGPIPE : 1;
  if (error == EPIPE) return;
  say(std::string("cannot write to standard ") + (stream.dest() == STDOUT_FILENO ? "output" : "error") + ": " +
      std::strerror(error) + "; output of the PEs is lost");
}

}  // namespace shmemx::launcher
