// The peer's memory mapped into this process: one copy, no call.
#include <sys/mman.h>
#include <unistd.h>

#include "common_segment.hpp"
#include "copy.hpp"
#include "mechanism.hpp"

namespace shmemx::bench {
namespace {

class Window final : public Mechanism {
 public:
  Window(Link& link, bool put) : Mechanism(link), put_(put) {}

  // The owner sends the file that holds its memory; the local process maps that part of it.
  void register_mem(const Region& mine) override {
    mine_ = mine;
    const Region theirs = link_.exchange(mine);
    if (!link_.local()) {
      link_.send_fd(mine.fd);
      return;
    }
    const int fd = link_.receive_fd();
    theirs_ = map_shared(fd, theirs.fd_offset, theirs.bytes);
    mapped_bytes_ = theirs.bytes;
    close(fd);
  }
  void deregister_mem() override {
    if (theirs_ != nullptr) munmap(theirs_, mapped_bytes_);
    theirs_ = nullptr;
  }

  void copy_local(const Transfer& transfer) override {
    if (put_) {
      copy_bytes(theirs_ + transfer.dest, mine_.base + transfer.source, transfer.bytes);
      std::atomic_thread_fence(std::memory_order_seq_cst);  // the stores have left this core before the clock is read
    } else {
      copy_bytes(mine_.base + transfer.dest, theirs_ + transfer.source, transfer.bytes);
    }
  }

 private:
  bool put_;
  std::byte* theirs_ = nullptr;
  std::size_t mapped_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Mechanism> make_window_get(Link& link, std::size_t) { return std::make_unique<Window>(link, false); }
std::unique_ptr<Mechanism> make_window_put(Link& link, std::size_t) { return std::make_unique<Window>(link, true); }

}  // namespace shmemx::bench
