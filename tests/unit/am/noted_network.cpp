#include "noted_network.hpp"

namespace shmemx::unit {

const char* NotedNetwork::name() const noexcept { return name_; }

transport::Sent NotedNetwork::send(int pe, const transport::Header& head, transport::Bytes, transport::Bytes,
                                   transport::Outgoing*, transport::Urgency) noexcept {
  if (is_full) return transport::Sent::no;
  sent.push_back({pe, head.handler});
  return transport::Sent::yes;
}

}  // namespace shmemx::unit
