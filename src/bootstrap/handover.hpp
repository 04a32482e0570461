// How the PE that made the arena gives its descriptor to the other PEs of the node when no common parent could:
// over a stream socket in the abstract namespace, where nothing has a name that could be left behind. Both sides
// check the other's uid; the taker shows a nonce that it knows from the launcher's key-value store. Where the
// network namespaces differ, the taker opens the giver's descriptor through /proc.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace shmemx::bootstrap {

// What the taker needs to know. Travels as text through the key-value store.
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

// Tries all ways; for `patience_ms` again and again where what is missing may come back.
Result<UniqueFd> take_arena(const Offer& offer, std::uint32_t n_pes, int patience_ms);

// The two ways by themselves, for tests.
Result<UniqueFd> take_over_socket(const Offer& offer);
Result<UniqueFd> take_through_proc(const Offer& offer);

}  // namespace shmemx::bootstrap
