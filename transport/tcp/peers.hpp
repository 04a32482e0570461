// The PEs in contact, and behind them their second rails.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/contact_table.hpp"
#include "transport/tcp/connection.hpp"
#include "transport/tcp/dial.hpp"
#include "transport/tcp/speed.hpp"

namespace shmemx::tcp {

// If the socket is empty in the middle of a long payload, the receiver is faster than the sender. What arrives while
// nobody reads is processed by the core that it arrives on, between hosts of one machine the sender's; what arrives
// during a read by the reader. Few long reads instead of many short ones leave that work to the faster side.
class Pause {
 public:
  bool is_on() noexcept {
    if (until_ == 0) return false;
    if (now_ns() < until_) return true;
    until_ = 0;
    return false;
  }
  void note_read() noexcept { was_read_ = true; }
  // The socket is empty. `missing`: bytes of a long payload.
  void note_empty(std::size_t missing) noexcept {
    if (std::exchange(was_read_, false) && missing > kMissing) until_ = now_ns() + kPauseNs;
  }

 private:
  // As long as a near sender takes for two of the packets that the kernel cuts, of 64 KiB each. With less than kMissing
  // it could delay the end.
  static constexpr std::uint64_t kPauseNs = 18'000;
  static constexpr std::size_t kMissing = std::size_t{192} << 10;

  std::uint64_t until_ = 0;  // it is not read before; 0: it is
  bool was_read_ = false;    // the last read has brought something
};

// Why a connection has no socket that works.
struct Ending {
  std::string cause;               // for lost(), if it is known
  bool was_closed = false;         // the last socket: by the other side
  std::uint64_t silent_since = 0;  // nothing has come from the other side since then; 0: unknown, or not silent
};

// How a PE's two links share long payloads. See rails.hpp.
struct Sharing {
  std::uint64_t split_number = 0;  // of the next split message
  std::uint64_t arrange_ns = 0;    // when to look at its links the next time
  std::uint64_t stays_until = 0;   // the first rail does not move to a faster link before
  unsigned turns_alone = 0;        // a slow second rail: payloads that it got nothing of
  std::uint64_t long_bytes = 0;    // a second rail: of long payloads sent while it was there,
  std::uint64_t part_bytes = 0;    //   and what of them it carried
  Speed speed;
};

struct Peer final : Connection {
  using Connection::Connection;

  enum class Dialing : std::uint8_t {
    no,
    connects,  // `dial` makes the connection, or another one for it
    moves,     // `dial` tries another interface for a connection that works
    given_up,  // it has failed for good: poll() is about to report the loss
  };

  Dialing dialing = Dialing::no;
  bool is_gathered = false;  // in the lists of Sender and Rails: flush() is to write,
  bool is_lending = false;   //   payloads are sent from where they lie,
  bool is_measured = false;  //   the speed is measured
  std::uint64_t used = 0;    // turn when something was last sent or received
  Path path;                 // of the last socket
  Pause pause;
  Ending ending;
  Sharing sharing;
  std::unique_ptr<Dial> dial;
};

class Peers {
 public:
  explicit Peers(const transport::Setup& setup)
      : setup_(&setup), contacts_(2 * static_cast<std::size_t>(setup.n_pes)) {}

  Peer* find(int number) const noexcept { return contacts_.find(number); }
  Peer& get(int number) noexcept;
  const std::vector<Peer*>& list() const noexcept { return contacts_.list(); }
  bool is_rail(const Connection& peer) const noexcept { return peer.pe >= setup_->n_pes; }
  int pe_of(const Connection& peer) const noexcept { return peer.pe % setup_->n_pes; }
  // Returns the first rail, or null if it has ended.
  Peer* first_of(const Connection& rail) const noexcept;
  Peer* rail_of(const Connection& first) const noexcept { return contacts_.find(first.pe + setup_->n_pes); }

  // Those that are connected, and some that no longer are, until sweep().
  const std::vector<Peer*>& up() const noexcept { return up_; }
  void note_up(Peer& peer);
  void note_end() noexcept { some_ended_ = true; }
  void sweep() noexcept;
  // Whoever has sent something last.
  Peer* hot() const noexcept { return hot_; }
  void note_use(Peer& peer) noexcept { peer.used = turn_; }
  void note_received(Peer& peer) noexcept {
    hot_ = &peer;
    peer.used = turn_;
  }
  std::uint64_t next_turn() noexcept { return ++turn_; }

  // A peer whose end poll() has to look at, since only poll() may call the sink.
  void note_failing(Peer& peer) { failing_.push_back(&peer); }
  bool has_failing() const noexcept { return !failing_.empty(); }
  std::vector<Peer*> take_failing() noexcept { return std::exchange(failing_, {}); }

  bool is_closing() const noexcept { return is_closing_; }
  void begin_close() noexcept { is_closing_ = true; }
  void clear() noexcept;

 private:
  const transport::Setup* setup_;
  Contacts<Peer> contacts_;
  std::vector<Peer*> up_;
  std::vector<Peer*> failing_;
  Peer* hot_ = nullptr;
  std::uint64_t turn_ = 0;  // polls
  bool some_ended_ = false;
  bool is_closing_ = false;
};

}  // namespace shmemx::tcp
