// The rendezvous of a long message. The sender offers it (RTS). The receive that takes it chooses an LMT, and either
// moves the bytes by itself and reports the end (done), or answers (CTS) so that the sender acts. A cookie carries or
// asks for a further section of a description. Between nodes the first bytes leave with the RTS, so that the network
// does not stand idle until the CTS is there.
//
//   sender     rts -> waiting -> cts:  moving | queued data    -> complete
//                             -> cookie: queued section        -> waiting
//                             -> done                          -> complete
//   receiver   matched -> moving -> queued done                -> complete
//                      -> queued cts -> waiting for data or done | moving -> complete
#pragma once

#include "base/contact_table.hpp"
#include "pt2pt/lmt/transfers.hpp"
#include "pt2pt/matching.hpp"
#include "pt2pt/platform.hpp"
#include "pt2pt/request.hpp"
#include "pt2pt/send_queue.hpp"

namespace shmemx::pt2pt {

class Rendezvous {
 public:
  struct Parts {
    Platform& platform;
    const Settings& settings;
    MatchingContexts& matching;
    SendQueue& send_queue;
    Transfers& transfers;
    Requests& requests;
  };
  void start(const Parts& parts) noexcept;
  // Forgets offers whose first data have not arrived completely.
  void clear() noexcept;

  // Send the control message of `request.next`. Return false, without a change, if there is no room.
  bool push_rts(Request& send) noexcept;
  bool push_cts(Request& receive) noexcept;
  bool push_cookie(Request& request) noexcept;
  bool push_done(Request& request) noexcept;
  // Goes on after a CTS has been sent.
  void sent_cts(Request& receive) noexcept;

  // Receiver: begins the transfer of an offered message to the receive that takes it.
  void begin(ReceiveRequest& receive, int source, const Offer& offer, std::size_t offered) noexcept;
  // As above, for an unexpected offer.
  void take(ReceiveRequest& receive, Unexpected& message) noexcept;

  // Handle the control messages of a peer.
  void on_rts(int source, Payload payload) noexcept;
  void on_cts(int source, Payload payload) noexcept;
  void on_cookie(int source, Payload payload) noexcept;
  void on_done(int source, Payload payload) noexcept;
  // Data of a transfer through cells or a network.
  void on_data(int source, const DataHeader& header, Payload data) noexcept;
  // Returns where the first data belong that come with an offer from another node if a receive waits for it whose
  // memory is one range; null: the offer is delivered with them; declined(): more than this PE would keep.
  std::byte* offer_placement(int source, Payload header, std::size_t bytes) noexcept;
  void offer_placed(int source, std::size_t bytes) noexcept;
  // Returns where a payload from another node belongs; null: it is delivered with its header.
  std::byte* placement(int source, Payload header, std::size_t bytes) noexcept;
  // The network has written a payload to that place.
  void placed(int source, Payload header, std::size_t bytes) noexcept;

 private:
  // The receives that the first data of offers are written to, in the order of the offers.
  struct OfferedTo {
    ReceiveRequest* first = nullptr;
    ReceiveRequest* last = nullptr;
  };

  std::size_t most_offered(const SendRequest& send) noexcept;
  bool push_internode_rts(SendRequest& send, const RtsHeader& rts) noexcept;
  bool take_offer(int source, Payload payload, Offer& offer, Payload& data) noexcept;
  static void take_offered(ReceiveRequest& receive, Payload data) noexcept;
  static void end_if_complete(ReceiveRequest& receive) noexcept;
  template <class Header>
  bool send_described(Request& request, am::HandlerId id, const Header& header, bool describes,
                      LmtChoice choice) noexcept;
  // Returns the request of a pool that `source` may name: it waits for that PE. Null if there is none.
  template <class T>
  T* find(RequestPool<T>& pool, int source, RequestId id) noexcept;
  Request* find_either(int source, RequestId id) noexcept;
  void leave_shared(int source, RequestId id) noexcept;
  ReceiveRequest* find_data_taker(int source, const DataHeader& header, std::size_t bytes) noexcept;

  Platform* platform_ = nullptr;
  const Settings* settings_ = nullptr;
  MatchingContexts* matching_ = nullptr;
  SendQueue* send_queue_ = nullptr;
  Transfers* transfers_ = nullptr;
  Requests* requests_ = nullptr;
  ContactTable<OfferedTo> offered_to_;  // by source
};

}  // namespace shmemx::pt2pt
