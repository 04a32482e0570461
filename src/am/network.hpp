// The channel's way to PEs of other nodes: messages through transports, and the counts that tell a sender what has been
// done. What a PE has finished of another's messages is told with every message that goes there, and by a message of
// its own when none goes.
#pragma once

#include <atomic>
#include <vector>

#include "am/channel.hpp"
#include "transport/transport.hpp"

namespace shmemx::am {

// Head::flags: no flush waits for this message, so its acknowledgement need not travel alone.
inline constexpr std::uint8_t kUncounted = 0x01;

// What transports call, under the endpoint's lock.
class NetworkSink final : public transport::Sink {
 public:
  void deliver(int source, const transport::Header& head, Bytes payload) noexcept override;
  std::byte* placement(int source, const transport::Header& head, Bytes header,
                       std::size_t body_bytes) noexcept override;
  void placed(int source, const transport::Header& head, Bytes header, std::size_t body_bytes) noexcept override;
  void lost(int pe, const std::string& cause) noexcept override;
};
// The one of this process; transports are opened with it before the channel is set up.
NetworkSink& network_sink() noexcept;

// The progress thread of the networks, as this layer sees it.
struct NetworkThread {
  std::atomic<bool> sleeps_long{false};  // it does not notice by itself that something is held back
  void (*wake)() = nullptr;              // set by runtime before the thread starts
};
inline constinit NetworkThread network_thread;

// Grows with each batch of messages that is begun; any thread.
std::uint32_t gathered_batches() noexcept;
// What can be slept on; at most transport::kMaxTransports.
std::vector<int> network_descriptors();

// By set_handler().
void declare_traits(HandlerId id, HandlerTraits traits) noexcept;
// By set_up().
void connect_networks(const Setup& setup) noexcept;

}  // namespace shmemx::am
