// Posted receive buffers, and the messages that are placed into them.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "shared.hpp"

namespace strict_provider {

struct Endpoint;
struct Region;
struct Completion;

struct ReceivePost {
  const char* call;
  std::span<const iovec> local;
  void* const* descriptors;
  void* context;
  std::uint64_t flags;
};

class Receiver {
 public:
  explicit Receiver(Endpoint& endpoint) noexcept;

  // Returns 0, or -FI_EAGAIN.
  ssize_t post(const ReceivePost& post);
  // Gives the oldest receive of this context up. Returns false if there is none.
  bool cancel(void* context);
  void progress();
  // Returns true if there is a message for which a buffer is posted, or RMA to be carried out.
  bool has_work() noexcept;
  void set_least_room(std::size_t bytes) noexcept { least_room_ = bytes; }
  std::size_t least_room() const noexcept { return least_room_; }
  void finish();

 private:
  struct Buffer {
    const char* call;
    std::vector<iovec> local;
    std::vector<Region*> regions;
    void* context;
    std::size_t used = 0;
    bool is_for_many;
    bool is_signalled;
    std::vector<iovec> rest() const;
    std::size_t room() const noexcept;
  };

  bool take(Cell& cell);
  void carry_out(Cell& cell);
  int place(const MessageHeader& header, const std::byte* payload, const std::vector<iovec>& parts);
  void check_untouched(const Buffer& buffer, std::size_t bytes) const;
  void complete(const Buffer& buffer, Completion& completion);
  void release_first(bool tells);
  void end(Buffer& buffer);

  Endpoint& endpoint_;
  Inbox inbox_;
  std::deque<Buffer> buffers_;
  std::size_t least_room_ = 64;
};

}  // namespace strict_provider
