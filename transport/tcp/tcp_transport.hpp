// The transport "tcp": one connection for each pair of PEs that exchange messages. The PE that sends first makes it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/contact_table.hpp"
#include "transport/tcp/acceptor.hpp"
#include "transport/tcp/address.hpp"
#include "transport/tcp/decoder.hpp"
#include "transport/tcp/dial.hpp"
#include "transport/tcp/open.hpp"
#include "transport/tcp/outbox.hpp"
#include "transport/tcp/sealing.hpp"

namespace shmemx::tcp {

using transport::ConnectionKeys;
using transport::Outgoing;
using transport::Sent;
using transport::Urgency;

class TcpTransport final : public transport::Transport, private Acceptor::Owner {
 public:
  explicit TcpTransport(const transport::Setup& setup);
  Status open();

  const char* name() const noexcept override { return "tcp"; }
  transport::Capabilities capabilities() const noexcept override;
  std::string endpoint_address() const override;
  void set_addresses(const transport::EndpointAddresses& addresses) noexcept override { addresses_ = &addresses; }
  Sent send(int pe, const Header& fixed, Bytes header, Bytes payload, Outgoing* outgoing,
            Urgency urgency) noexcept override;
  void flush() noexcept override;
  bool poll(int expected) noexcept override;
  int descriptor() const noexcept override { return epoll_.get(); }
  bool arm() noexcept override;
  void close(std::uint32_t patience_ms) noexcept override;
  std::string describe(int pe) const override;

  // For tests: requests the suspension of the connection to `pe`, as make_room() does. Returns false if it is not idle.
  bool suspend(int pe) noexcept;
  // For tests: opens a second rail to `pe` on any interface. Returns true when it is there.
  bool open_rail(int pe) noexcept;
  // For tests: moves the connection to `pe` to another one. Returns false if there is none, or if it moves already.
  bool move(int pe) noexcept;
  // For tests: resets the connection to `pe`, as a machine between the two may do. Returns false if there is none.
  bool reset(int pe) noexcept;

 private:
  enum class State : std::uint8_t {
    connecting,  // by its Dial; without one, by the other side
    up,
    leaving,    // the suspend frame has been sent: nothing more is, and the other side is to close
    suspended,  // without a connection, until the next message
    ended,      // shut down in order, or lost
  };
  // Of the two rails to a PE: how fast the other side acknowledges.
  struct Speed {
    double bytes_per_ns = 0;  // 0 if it is not known
    unsigned samples = 0;
    std::uint64_t since = 0;  // begin of the sample, 0 if nothing is under way
    std::uint64_t from = 0;   // offset in the stream at that time
    std::uint64_t seen = 0;   // time of the last look
    std::uint64_t until = 0;  // offset of the end of the last part, up to which it is measured
  };
  struct Peer {
    Peer(int number, transport::Sink& sink) noexcept : pe(number), in(number, sink) {}
    int pe;
    State state = State::connecting;
    bool blocked = true;             // the kernel takes no more bytes until epoll reports EPOLLOUT
    bool gathered = false;           // listed in gathered_
    bool lending = false;            // listed in lending_
    bool measured = false;           // listed in measured_
    bool broken = false;             // cannot be written to any more; what it has sent before is still read
    bool unconfirmed = false;        // the other side's resume frame is missing: it may never take this connection
    bool is_replaced = false;        // another connection is there, and this one is read for the last time
    bool is_given_up = false;        // its Dial has failed for good: poll() is about to report the loss
    bool is_shut_down = false;       // the shutdown frame has been appended
    bool was_closed = false;         // the last connection: by the other side
    bool was_read = false;           // the last read has brought something
    std::uint64_t used = 0;          // turn_ when something was last sent or received
    std::uint64_t paused_until = 0;  // it is not read before; 0: it is
    std::uint64_t connections = 0;   // so far, as both sides count them
    std::uint64_t received = 0;      // bytes of its stream
    std::size_t resume_bytes = 0;    // of the resume frame that are here
    std::byte resume_frame[sizeof(FrameHeader)] = {};
    Path path;                       // of the last connection
    std::uint64_t silent_since = 0;  // nothing has come from the other side since then; 0: unknown, or not silent
    std::uint64_t split_number = 0;  // of the next split message
    std::uint64_t arrange_ns = 0;    // when to look at its links the next time
    std::uint64_t stays_until = 0;   // the first rail does not move to a faster link before
    bool is_moving = false;          // connected, and `dial` tries another interface
    Speed speed;
    unsigned turns_alone = 0;  // a slow second rail: payloads that it got nothing of
    double share = 0;          // a second rail: of long payloads
    NetworkFd fd;
    Outbox out;
    Decoder in;
    std::unique_ptr<Sealing> sealing;  // of the connection, if SHMEMX_NET_MAC is on
    std::unique_ptr<Dial> dial;
    std::string failure;  // the cause for lost(), if it is known before poll()

    // The connection follows another one: nothing is sent before the resume frame is here.
    bool is_resuming() const noexcept { return unconfirmed && connections > 1; }
  };

  Acceptor::Answer may_answer(int pe, std::uint64_t connections) noexcept override;
  std::uint64_t connections_with(int pe) noexcept override;
  void arrived(int pe, NetworkFd connection, std::uint64_t number, const ConnectionKeys& keys) noexcept override;
  void left(int pe) noexcept override;
  bool kept_waiting(int pe) noexcept override;
  bool no_descriptors() noexcept override;

  Peer& contact(int pe) noexcept;
  void start_dial(Peer& peer) noexcept;
  void begin_dial(Peer& peer) noexcept;
  std::string links_of(int pe) const;
  void add_paths(Peer& peer) noexcept;
  std::vector<Candidate> candidates_to(const Peer& peer, const EndpointAddress& endpoint) const;
  void step_dial(Peer& peer) noexcept;
  std::string failure_of(const Peer& peer) const;
  void give_up(Peer& peer) noexcept;
  void note_path(Peer& peer) noexcept;
  struct Connection {
    NetworkFd fd;
    std::uint64_t number;  // among those of the pair
    ConnectionKeys keys;
    bool was_dialed;  // by this PE
  };
  void connected(Peer& peer, Connection connection) noexcept;
  void append_shutdown(Peer& peer) noexcept;
  void gather(Peer& peer) noexcept;
  Sent send_large(Peer& peer, const Header& fixed, Bytes header, Bytes payload, Outgoing* outgoing,
                  Urgency urgency) noexcept;
  bool write(Peer& peer) noexcept;
  std::string cause_of(int error) const;
  void write_failed(Peer& peer, int error) noexcept;
  static Outbox::Written write_out(Peer& peer) noexcept;
  void block(Peer& peer) noexcept;
  static ssize_t read(Peer& peer, const iovec* areas, int n) noexcept;
  static bool is_paused(Peer& peer) noexcept;
  bool has_ended(Peer& peer, ssize_t got) noexcept;
  static bool has_unread(const Peer& peer) noexcept { return peer.sealing && peer.sealing->has_unread(); }
  bool receive(Peer& peer) noexcept;
  bool drain(Peer& peer) noexcept;
  void ended(Peer& peer, int error) noexcept;
  void lose(Peer& peer, const std::string& cause) noexcept;
  bool receive_directly(int expected) noexcept;
  bool handle_events() noexcept;
  bool handle_peer_event(int pe, std::uint32_t events) noexcept;
  void handle_timer() noexcept;
  bool handle_failing() noexcept;
  void watch_all() noexcept;
  void unwatch_all() noexcept;
  void update_timer(bool is_sleeping = false) noexcept;
  void sweep() noexcept;
  bool all_gone() noexcept;

  // suspending.cpp
  static bool is_open(const Peer& peer) noexcept { return peer.state == State::up || peer.state == State::leaving; }
  static bool is_idle(const Peer& peer) noexcept;
  void make_room(const Peer* spared) noexcept;
  void close_acknowledged() noexcept;
  void leave(Peer& peer) noexcept;
  void heed_suspend(Peer& peer) noexcept;
  void suspended(Peer& peer, bool has_left) noexcept;
  void reopen(Peer& peer) noexcept;
  void use_room() noexcept;

  // resuming.cpp
  void drop_acknowledged(Peer& peer) noexcept;
  void release_lent() noexcept;
  void interrupted(Peer& peer, bool was_closed, const std::string& cause) noexcept;
  void retire(Peer& peer) noexcept;
  bool replace(Peer& peer) noexcept;
  void confirm(Peer& peer) noexcept;
  bool read_resume(Peer& peer) noexcept;
  void take_resume(Peer& peer) noexcept;
  void check_links() noexcept;
  void check_link(Peer& peer) noexcept;
  Dial::Resumed resumed(const Peer& peer) const;
  const std::vector<LocalAddress>& own() const noexcept { return share_.own.list(); }

  // moving.cpp
  bool is_over(const Peer& peer) noexcept;
  Peer* begin_rail(Peer& peer) noexcept;
  void arrange_links(Peer& peer, Peer& rail) noexcept;
  template <class MayUse>
  void move(Peer& peer, const MayUse& may_use) noexcept;
  void stop_dial(Peer& peer) noexcept;

  // rails.cpp. A second rail is a peer whose number is that of the PE and n_pes.
  struct Split {
    Outgoing first;
    Outgoing second;
    Outgoing* whole;
  };
  bool is_rail(int number) const noexcept { return number >= setup_.n_pes; }
  Peer& add_peer(int number) noexcept;
  void arrange_for_rail(const Peer& rail, std::vector<Candidate>& candidates) noexcept;
  Peer* rail_to(Peer& peer) noexcept;
  std::size_t share_of_rail(Peer& peer, Peer& rail, std::size_t bytes) noexcept;
  static void measure(Peer& peer, std::uint64_t now) noexcept;
  void begin_measuring(Peer& peer, std::uint64_t now) noexcept;
  void measure_all() noexcept;
  static bool is_much_slower(const Peer& one, const Peer& other) noexcept;
  bool send_split(Peer& peer, const Header& fixed, Bytes header, Bytes payload, Outgoing& outgoing) noexcept;
  void lend(Peer& peer) noexcept;
  Peer* first_rail(int rail) noexcept;
  void match_parts(Peer& one) noexcept;
  void match_parts(Peer& first, Peer& rail) noexcept;
  static void keep_unread(Peer& peer) noexcept;
  bool read_unread() noexcept;
  std::string rail_text(int pe) const;

  transport::Setup setup_;
  const transport::EndpointAddresses* addresses_ = nullptr;
  NetworkFd epoll_;
  NetworkFd timer_;
  NetworkFd wake_fd_;
  Acceptor acceptor_;
  std::uint64_t machine_ = 0;
  Dial::Share share_;
  std::unique_ptr<transport::NhHash> hash_;     // for records, if SHMEMX_NET_MAC is on
  std::vector<std::unique_ptr<Split>> splits_;  // under way
  bool may_split_ = false;                      // this machine has several interfaces, perhaps not all of them ready
  bool any_rail_ = false;                       // for tests
  bool some_unread_ = false;                    // a decoder goes on, and nothing reports what was read for it before
  Contacts<Peer> peers_;                        // PEs, and behind them their second rails
  std::vector<Peer*> up_;                       // connected
  std::vector<Peer*> dialing_;
  std::vector<Peer*> gathered_;
  std::vector<Peer*> lending_;   // send payloads from where they lie, or have sent them
  std::vector<Peer*> measured_;  // send parts of payloads, and are not acknowledged yet
  std::vector<Peer*> failing_;   // for poll(), which may call the sink
  Peer* hot_ = nullptr;          // sent something last
  std::uint64_t turn_ = 0;       // polls
  unsigned blocked_ = 0;         // peers that are connected and blocked
  // A watched socket makes each packet dearer. While this PE reads its few sockets itself all the time, they are not
  // watched, and wake_fd_ is readable instead: a thread that sleeps on the epoll instance wakes up, and calls arm()
  // before it sleeps again.
  bool watching_ = true;
  unsigned reads_ = 0;                     // reads that returned bytes, since arm()
  std::uint64_t writes_ = 0;               // to sockets
  std::uint64_t acknowledged_writes_ = 0;  // of those, all that are known to have arrived at the other kernels
  std::uint64_t checked_ns_ = 0;           // time of the last check_links()
  long timer_ns_ = 0;                      // interval of the timer, 0 while it does not run
  bool some_ended_ = false;                // up_ holds peers that are no longer connected
  bool has_room_ = false;                  // a connection has been suspended since others waited for descriptors
  bool closing_ = false;
};

}  // namespace shmemx::tcp
