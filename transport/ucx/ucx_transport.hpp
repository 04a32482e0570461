// UCX as a transport: one context, one worker, an endpoint for each PE that this PE exchanges messages with. Messages
// are active messages. Short ones are packed together; the receiver fetches payloads above the eager limit to their
// place.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/contact_table.hpp"
#include "transport/common/keepalive.hpp"
#include "transport/transport.hpp"
#include "transport/ucx/library.hpp"
#include "transport/ucx/long_send.hpp"
#include "transport/ucx/peer.hpp"
#include "transport/ucx/ucx_rma.hpp"

namespace shmemx::ucx {

class UcxTransport final : public Transport {
 public:
  static Result<TransportPtr> open(const Setup& setup);
  ~UcxTransport() override;

  const char* name() const noexcept override { return "ucx"; }
  transport::Capabilities capabilities() const noexcept override;
  std::string endpoint_address() const override;
  void set_addresses(const EndpointAddresses& addresses) noexcept override { addresses_ = &addresses; }
  Sent send(int pe, const Header& fixed, Bytes header, Bytes payload, Outgoing* outgoing,
            Urgency urgency) noexcept override;
  void flush() noexcept override;
  bool poll(int expected) noexcept override;
  int descriptor() const noexcept override { return timer_.descriptor(); }
  bool arm() noexcept override;
  void close(std::uint32_t patience_ms) noexcept override;
  bool abandon(int pe) noexcept override;
  std::string describe(int pe) const override;

  transport::Rma* rma() noexcept override { return &rma_; }
  // For that: lets UCX receive and finish, and leaves the rest to poll().
  void progress() noexcept {
    if (::ucp_worker_progress(library_.worker()) != 0) pace_.is_idle = false;
  }

 private:
  friend class UcxRma;
  friend class UcxLane;

  // PEs that poll() has something to do for.
  struct Lists {
    std::vector<Peer*> open;   // with an open staging
    std::vector<Peer*> fresh;  // have written first and have no endpoint here yet
    std::vector<Peer*> pinged_by;
    std::vector<Peer*> challenged;  // whose hello has to be answered
    std::vector<Peer*> lost;        // not reported yet
  };
  struct Pace {
    bool is_idle = false;          // the last poll of UCX found nothing to do
    std::uint32_t busy_polls = 0;  // polls in this round of the keepalive that found something to do
    std::uint32_t idle_polls = 0;  // that found nothing
    bool is_armed = false;         // the timer may have woken this PE
  };

  UcxTransport(const Setup& setup, Library library, transport::KeepaliveTimer timer);
  Status listen();

  // peers.cpp
  Peer& known(int pe);
  static bool is_control(unsigned kind) noexcept { return kind == kPing || kind == kPong; }
  Peer* authenticate(const Envelope& envelope, const UcpMessage& message, std::uint64_t& number);
  Envelope envelope_of(Peer& peer, unsigned kind, std::uint64_t number, std::size_t bytes) const;
  Peer* connected_peer(int pe);
  bool connect(Peer& peer);
  ucs_status_t make_endpoint(ucp_worker_h worker, Bytes address, const ucp_err_handler_t& on_failure,
                             ucp_ep_h& endpoint) const;
  void lose(Peer& peer, std::string cause);
  void report_lost();
  bool is_keepalive_due() noexcept;
  void end_keepalive_round();
  static void endpoint_failed(void* peer, ucp_ep_h endpoint, ucs_status_t status);

  // send.cpp
  Sent send_short(Peer& peer, const Header& fixed, Bytes header, Bytes payload, Urgency urgency);
  Sent send_long(Peer& peer, const Header& fixed, Bytes header, Bytes payload, Outgoing* outgoing);
  bool push(Peer& peer);
  void push_overdue();
  void signal(Peer& peer, Kind kind);
  void post(Peer& peer, Kind kind, StagingPtr staging);
  void post_handshake(Peer& peer, Kind kind, Bytes content);
  void hand_over(Peer& peer, Kind kind, StagingPtr staging);
  static void staging_ended(void* request, ucs_status_t status, void* staging);
  static void payload_ended(void* request, ucs_status_t status, void* long_send);
  bool post_payload(Peer& peer, std::unique_ptr<LongSend> send, Bytes payload);

  // receive.cpp
  template <Kind kind>
  static ucs_status_t received(void* self, const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                               const ucp_am_recv_param_t* param);
  ucs_status_t take(const UcpMessage& message);
  bool take_handshake(const UcpMessage& message);
  void send_challenges();
  void connect_new();
  void reply_to_pings();

  // close.cpp
  template <class Done>
  void progress_until(std::uint64_t deadline_ns, Done done) noexcept;
  void open_sessions(std::uint64_t deadline_ns) noexcept;
  void wait_for_peers(std::uint64_t deadline_ns) noexcept;

  Setup setup_;
  Library library_;
  transport::Keepalive keepalive_;
  transport::KeepaliveTimer timer_;
  const EndpointAddresses* addresses_ = nullptr;
  bool is_closing_ = false;
  Pace pace_;
  InboxEvents events_;
  Contacts<Peer> peers_;
  Lists lists_;
  StagingPool pool_;
  UcxRma rma_;
};

}  // namespace shmemx::ucx
