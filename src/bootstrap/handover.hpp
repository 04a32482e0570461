// Hands the arena's descriptor from the PE that made it to the other PEs of the node, if no common parent could: over a
// stream socket in the abstract namespace, which leaves no name behind. Both sides check the other's uid. The taker
// sends a nonce that it knows from the launcher's key-value store. If the network namespaces differ, the taker opens
// the maker's descriptor through /proc.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace shmemx::bootstrap {

// What the taker needs. It travels as text through the key-value store.
struct Offer {
  std::uint64_t job_id = 0;
  std::uint64_t nonce = 0;
  std::uint64_t socket_id = 0;  // names the socket; visible to all users, so it is not the nonce
  std::uint64_t uid = 0;
  std::uint64_t pid = 0;
  std::uint64_t fd = 0;
};
std::string encode(const Offer& offer);
Result<Offer> decode_offer(const std::string& text);

// Serves the descriptor from a thread of its own until destroyed. The thread takes no signals and runs no callbacks.
class ArenaServer {
 public:
  static Result<std::unique_ptr<ArenaServer>> start(int arena_fd, const Offer& offer);
  ~ArenaServer();
  ArenaServer(const ArenaServer&) = delete;
  ArenaServer& operator=(const ArenaServer&) = delete;

 private:
  ArenaServer() = default;
  static void* run(void* self);
  void serve();

  UniqueFd listener_;
  UniqueFd stop_;  // eventfd
  int arena_fd_ = -1;
  std::uint64_t nonce_ = 0;
  pthread_t thread_{};
  bool running_ = false;
};

// Takes the arena by socket or through /proc. Tries again for `patience_ms` if the cause of a failure may pass.
Result<UniqueFd> take_arena(const Offer& offer, std::uint32_t n_pes, int patience_ms);

// Each of the two by itself, for tests.
Result<UniqueFd> take_over_socket(const Offer& offer);
Result<UniqueFd> take_through_proc(const Offer& offer);

}  // namespace shmemx::bootstrap
