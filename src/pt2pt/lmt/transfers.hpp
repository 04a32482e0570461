// The transfers whose bytes this PE moves, part by part in each poll. What an LMT may use of the rest of
// pt2pt is here.
#pragma once

#include "base/clock.hpp"
#include "base/contact_table.hpp"
#include "pt2pt/lmt/measured.hpp"
#include "pt2pt/platform.hpp"
#include "pt2pt/request.hpp"
#include "pt2pt/send_queue.hpp"
#include "rma/cma.hpp"

namespace shmemx::pt2pt {

class Transfers {
 public:
  void start(Platform& platform, const Settings& settings, SendQueue& send_queue) noexcept;
  void clear() noexcept;

  Platform& platform() noexcept { return *platform_; }
  const Settings& settings() const noexcept { return *settings_; }

  // Moves a part of the request now, and further parts in each progress().
  void start_moving(Request& request) noexcept;
  // Ends a transfer all of whose bytes have been moved.
  void finish_moving(Request& request) noexcept;
  // Ends a step of a transfer whose other side describes its memory. Asks for the next section if this one is used up.
  void end_part(Request& request) noexcept;
  // Stops and reports the peer. Returns false, for Lmt::move.
  bool reject(Request& request, const char* what) noexcept;
  // Sends the bytes in cells.
  void send_in_cells(SendRequest& send) noexcept { send_queue_->enqueue(send, Next::data); }

  // Stops moving: this side waits for the end, which the other one announces.
  void leave_to_peer(Request& request) noexcept;

  // Returns the process number of a PE if CMA can reach its memory, else 0. Probes once for each PE.
  pid_t cma_pid(int pe, const rma::CmaProbe& probe) noexcept;

  // What receives have taken. begin_timing() is called when an LMT has been chosen between two, end_timing() when the
  // bytes of any receive have arrived.
  Measured& measured() noexcept { return measured_; }
  void begin_timing(ReceiveRequest& receive) noexcept { receive.chosen_ns = now_ns(); }
  void end_timing(const Request& request) noexcept;

  // Returns the copy buffer of this PE; null if a receive uses it, or there is none.
  CopyBuffer* free_buffer() noexcept {
    return buffer_user_ == nullptr ? platform_->copy_buffer(settings_->me) : nullptr;
  }
  // Reserves it until finish_moving().
  CopyBuffer* take_buffer(const Request& receive) noexcept {
    CopyBuffer* const buffer = free_buffer();
    buffer_user_ = &receive;
    return buffer;
  }
  // Numbers of transfers whose copy is shared; 0 is none.
  std::uint32_t next_shared() noexcept { return ++shared_ != 0 ? shared_ : ++shared_; }

  bool is_empty() const noexcept { return movers_ == nullptr; }
  // Returns true if something moved.
  bool progress() noexcept;

 private:
  void stop_moving(Request& request) noexcept;

  Platform* platform_ = nullptr;
  const Settings* settings_ = nullptr;
  SendQueue* send_queue_ = nullptr;
  Request* movers_ = nullptr;
  const Request* buffer_user_ = nullptr;  // the receive that uses the copy buffer
  std::uint32_t shared_ = 0;
  ContactTable<rma::CmaPeer> cma_peers_;
  Measured measured_;
};

}  // namespace shmemx::pt2pt
