// Endpoints of the strict provider for its tests, and a target in another process.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_rma.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace strict_test {

inline constexpr std::size_t kMemoryBytes = std::size_t{256} << 10;
inline constexpr std::uint64_t kAllAccess = FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;

struct Options {
  const char* mode = "plain";
  int seed = 1;
  std::uint64_t caps = FI_MSG | FI_RMA | FI_MULTI_RECV;
  fi_threading threading = FI_THREAD_SAFE;
  std::uint64_t access = kAllAccess;  // of the node's memory
  bool is_enabled = true;
};

// What others need to reach a node and its memory.
struct Place {
  char name[64];
  std::size_t name_bytes;
  std::uint64_t base;
  unsigned char key[32];
  std::size_t key_bytes;
};

// Returns the offers for these options; null if there are none.
fi_info* get_info(const Options& options, std::uint64_t mode, int mr_mode);

// An endpoint with its queue, its addresses, and one registered range of memory.
struct Node {
  explicit Node(const Options& options = {});
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  void register_memory(std::uint64_t access);
  void close_memory();
  Place place() const;
  // Makes the other node known. Sets `peer`, `remote` and `key`.
  void connect(const Place& other);
  void connect_to_itself() { connect(place()); }

  void* descriptor() const { return fi_mr_desc(registration); }
  std::byte* at(std::size_t offset) { return memory + offset; }
  // Returns a context that stays unused until the node ends.
  void* context();

  // Calls until the result is not -FI_EAGAIN, and reads completions meanwhile. Returns the result.
  ssize_t post(const std::function<ssize_t()>& call);
  void write(std::size_t from, std::size_t to, std::size_t bytes, std::uint64_t flags = 0);
  void read(std::size_t to, std::size_t from, std::size_t bytes);
  void send(std::size_t from, std::size_t bytes);
  void receive(std::size_t to, std::size_t bytes, std::uint64_t flags = 0);
  // Reads the queue once.
  void progress();
  // Reads the queue until it has had `count` completions in all. Returns false after some seconds.
  bool wait_for(std::size_t count);

  fi_info* info = nullptr;
  fid_fabric* fabric = nullptr;
  fid_domain* domain = nullptr;
  fid_av* av = nullptr;
  fid_cq* cq = nullptr;
  fid_ep* ep = nullptr;
  fid_mr* registration = nullptr;
  std::byte* memory = nullptr;
  fi_addr_t peer = FI_ADDR_NOTAVAIL;
  std::uint64_t remote = 0;  // where the peer's memory begins
  std::uint64_t key = 0;
  std::vector<fi_cq_data_entry> completions;
  std::vector<fi_cq_err_entry> errors;
  int refusals = 0;

 private:
  void open_queue();
  std::vector<fi_context2*> contexts_;
};

// A node in a child process. It sleeps, and does nothing for the network, but at the calls of request().
class Target {
 public:
  explicit Target(const Options& options);
  ~Target();
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  const Place& place() const noexcept { return place_; }
  pid_t pid() const noexcept { return pid_; }
  // The target posts a receive buffer for many messages, or buffers for one each, and polls until it has received this
  // number of messages, which begin with ascending numbers. `node` is polled meanwhile. Returns whether they ascend.
  bool receives(Node& node, unsigned messages, bool for_many);
  // The target sleeps on its descriptor until a message comes.
  bool is_woken(Node& node);
  // Returns the word at this offset of the target's memory.
  std::uint64_t word(std::size_t offset);
  void kill();

 private:
  bool request(Node* node, std::uint64_t command, std::uint64_t argument, std::uint64_t& answer);

  pid_t pid_ = -1;
  int socket_ = -1;
  Place place_{};
};

}  // namespace strict_test
