// Connects to one PE. Its addresses are tried one after the other: the next one as soon as the last has failed, or has
// not replied for a moment. A silent attempt stays open until the deadline, since the machine may be slow. The first
// attempt whose other side proves to be that PE becomes the connection.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "transport/common/handshake.hpp"
#include "transport/common/network_fd.hpp"
#include "transport/tcp/own_addresses.hpp"

namespace shmemx::tcp {

using transport::Challenge;
using transport::ConnectionKeys;
using transport::Hello;
using transport::NetworkFd;
using transport::Response;

inline constexpr std::uint64_t kMillisecond = 1'000'000;  // in nanoseconds

// A socket whose other side has proven to be the PE, and the other way round.
struct Connected {
  NetworkFd fd;
  std::uint64_t number = 0;  // among those of the pair
  ConnectionKeys keys{};
};

// Which address is tried next, and when: one after the other, then all of them in another round.
class DialRounds {
 public:
  void set_patience(std::uint64_t ns) noexcept { patience_ = ns; }
  void limit_patience(std::uint64_t ns) noexcept { patience_ = std::min(patience_, ns); }
  unsigned round() const noexcept { return round_; }
  std::size_t next() const noexcept { return next_; }
  bool is_due(std::uint64_t now) const noexcept { return now >= next_start_; }
  // All earlier attempts of this round have failed: the next one starts at once.
  void hurry() noexcept {
    if (next_ != 0) next_start_ = 0;
  }
  void note_start(std::uint64_t now, bool is_open) noexcept {
    ++next_;
    if (is_open) next_start_ = now + patience_;
  }
  void begin(std::uint64_t start) noexcept {
    ++round_;
    next_ = 0;
    next_start_ = start;
  }

 private:
  std::size_t next_ = 0;
  unsigned round_ = 0;
  std::uint64_t patience_ = 0;  // before the next address is tried, too
  std::uint64_t next_start_ = 0;
};

class Dial {
 public:
  enum class State : std::uint8_t { trying, up, failed };

  // What the dials of a transport have in common.
  struct Share {
    const transport::Setup* setup;
    int epoll = -1;
    std::size_t attempts = 0;     // that are open
    std::size_t connections = 0;  // of the transport, set before step()
    OwnAddresses own = {};
  };

  Dial(int pe, Share& share);
  Dial(const Dial&) = delete;
  Dial& operator=(const Dial&) = delete;
  ~Dial();
  // For a connection that follows another one.
  //
  // Only what is replied on the path of the former one says anything about the PE: at other addresses another machine
  // may answer, or this one itself. A refusal there means that the PE has ended, once the former connection has; as
  // long as that one is open, it may still bring what the PE sent last.
  struct Resumed {
    std::uint64_t connections = 0;  // before this one
    std::uint64_t deadline = 0;     // if no machine replies; otherwise that of the constructor
    Path path = {};                 // of the former connection
    bool has_ended = false;         // the former connection; see also note_end()
    bool has_other = false;         // another connection to the PE decides whether it is lost, so this goes on
    bool is_closing = false;        // this PE shuts down, and so may the other one
  };
  // To be called before the first step(), in this order.
  void set_candidates(const EndpointAddress& endpoint, std::vector<Candidate> candidates);
  void resume(const Resumed& resumed);
  // The former connection has ended.
  void note_end() noexcept { resumed_.has_ended = true; }
  // Adds those that are new. They are tried in this round.
  void add_candidates(std::vector<Candidate> candidates);
  unsigned round() const noexcept { return rounds_.round(); }  // how often all addresses have been tried
  // Makes progress. To be called if one of its descriptors is ready, and at each event of the timer.
  State step(std::uint64_t now) noexcept;
  // Returns whether no attempt is open because the last step() found no descriptor. It is made in a later one.
  bool is_starved() const noexcept { return is_starved_ && !any_open(); }
  Connected take() noexcept { return std::move(connected_); }
  // Returns whether the machine of the PE has replied that nobody listens there.
  bool was_refused() const noexcept;
  // Returns a line for each address: interface, address, what happened.
  std::string table() const;
  // Returns the same in one line.
  std::string paths() const;

 private:
  enum class Stage : std::uint8_t { idle, connecting, greeting, failed };
  struct Attempt {
    Candidate candidate;
    Stage stage = Stage::idle;
    int error = 0;
    const char* note = nullptr;  // the reason, if it is no errno
    bool is_proven = false;      // on the path of the former connection
    std::uint64_t since = 0;     // time of its start
    NetworkFd fd;
    Hello hello{};
    std::size_t got = 0;
    std::byte input[sizeof(Challenge)] = {};
  };

  bool may_take(int fd) const noexcept;
  bool open(Attempt& attempt) noexcept;
  bool start(Attempt& attempt) noexcept;
  void greet(Attempt& attempt) noexcept;
  void read_challenge(Attempt& attempt) noexcept;
  void fail(Attempt& attempt, int error, const char* note) noexcept;
  bool any_open() const noexcept;
  bool is_on_path(const Attempt& attempt) const;
  bool counts(const Attempt& attempt) const noexcept;
  bool any_was_cut_off() const noexcept;
  bool is_hopeless() const noexcept;
  bool is_overdue(std::uint64_t now) const noexcept;
  void give_up_silent(std::uint64_t now) noexcept;
  std::string text_of(const Attempt& attempt) const;
  void start_due(std::uint64_t now) noexcept;
  bool next_round(std::uint64_t now) noexcept;

  int pe_;
  Share* share_;
  std::uint16_t port_ = 0;
  std::vector<Attempt> attempts_;
  DialRounds rounds_;
  std::uint64_t deadline_ = 0;
  std::uint64_t looked_ = 0;  // time of the last step()
  bool is_starved_ = false;
  Resumed resumed_;
  Connected connected_;
};

}  // namespace shmemx::tcp
