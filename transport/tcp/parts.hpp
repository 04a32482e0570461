// The parts of the transport, for each other. Each has one task, and keeps what only that needs; what they have in
// common is in `peers` and `poller`.
#pragma once

#include "transport/transport.hpp"

namespace shmemx::tcp {

using transport::Outgoing;
using transport::Sent;
using transport::Urgency;

class Peers;
class Poller;
class Connector;
class Sender;
class Reader;
class Resume;
class Suspension;
class Rails;

struct Parts {
  const transport::Setup& setup;
  Peers& peers;            // the PEs in contact
  Poller& poller;          // when to look at which descriptor
  Connector& connector;    // makes connections
  Sender& sender;          // writes to sockets
  Reader& reader;          // reads from sockets
  Resume& resume;          // sockets that end, and connections that are lost
  Suspension& suspension;  // closes idle sockets when descriptors become few
  Rails& rails;            // two links to one PE
};

}  // namespace shmemx::tcp
