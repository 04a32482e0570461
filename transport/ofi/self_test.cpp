#include "transport/ofi/self_test.hpp"

#include <poll.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <array>
#include <chrono>

#include "transport/ofi/memory.hpp"

namespace shmemx::ofi {
namespace {

constexpr auto kPatience = std::chrono::seconds(2);
constexpr int kSleepMs = 10;
constexpr int kTriesToRest = 100;  // each moves the remaining work a step further

struct Step : Operation {
  Step() noexcept : Operation(Kind::test) {}
  bool is_done = false;
};

using Slot = std::array<std::byte, 64>;

class SelfTest {
 public:
  SelfTest(Fabric& fabric, const std::uint64_t (&secret)[2]) : fabric_(fabric), memory_(fabric, secret, 0) {}

  Status run() {
    SHMEMX_TRY(prepare());
    SHMEMX_TRY(send_message());
    SHMEMX_TRY(write_and_read());
    if (slots_.got != slots_.sent || slots_.read != slots_.sent)
      return Error{Errc::unsupported, 0, "what it sends to itself arrives changed"};
    return {};
  }

 private:
  struct Slots {
    alignas(64) Slot sent{};
    alignas(64) Slot got{};
    alignas(64) Slot written{};
    alignas(64) Slot read{};
  };

  Status prepare();
  Status send_message();
  Status write_and_read();
  template <class Post>
  Status complete(const char* what, Step& step, Post post);
  Status wait_for(const char* what, const Step& step);
  Status progress(int sleep_ms);

  Fabric& fabric_;
  Memory memory_;
  Slots slots_;
  Place place_;
  UsableKey key_;
  fi_addr_t self_ = FI_ADDR_NOTAVAIL;
};

Status SelfTest::prepare() {
  const std::string name = fabric_.name();
  if (name.empty()) return Error{Errc::unsupported, 0, "the endpoint has no name"};
  if (fi_av_insert(fabric_.av.get(), name.data(), 1, &self_, 0, nullptr) != 1)
    return Error{Errc::unsupported, 0, "the endpoint's own address is not accepted"};
  slots_.sent.fill(std::byte{0x5a});
  const auto* base = reinterpret_cast<std::byte*>(&slots_);
  SHMEMX_TRY_ASSIGN(key, memory_.register_range(const_cast<std::byte*>(base), sizeof slots_));
  SHMEMX_TRY_ASSIGN(place, memory_.open_to_others(Bytes(base, sizeof slots_)));
  place_ = std::move(place);
  SHMEMX_TRY_ASSIGN(usable, memory_.use_key(std::as_bytes(std::span(place_.key))));
  key_ = std::move(usable);
  return {};
}

Status SelfTest::send_message() {
  Step receive, send;
  SHMEMX_OFI_TRY(fabric_, fi_recv, fabric_.ep.get(), slots_.got.data(), sizeof(Slot), place_.descriptor, FI_ADDR_UNSPEC,
                 &receive.context);
  SHMEMX_TRY(complete("fi_send", send, [&] {
    return fi_send(fabric_.ep.get(), slots_.sent.data(), sizeof(Slot), place_.descriptor, self_, &send.context);
  }));
  return wait_for("fi_recv", receive);
}

Status SelfTest::write_and_read() {
  Step write, read;
  const std::uint64_t target = place_.address + offsetof(Slots, written);
  iovec source{slots_.sent.data(), sizeof(Slot)};
  fi_rma_iov dest{target, sizeof(Slot), key_.name()};
  fi_msg_rma message{&source, &place_.descriptor, 1, self_, &dest, 1, &write.context, 0};
  SHMEMX_TRY(complete("fi_writemsg", write,
                      [&] { return fi_writemsg(fabric_.ep.get(), &message, FI_COMPLETION | FI_DELIVERY_COMPLETE); }));
  return complete("fi_read", read, [&] {
    return fi_read(fabric_.ep.get(), slots_.read.data(), sizeof(Slot), place_.descriptor, self_, target, key_.name(),
                   &read.context);
  });
}

template <class Post>
Status SelfTest::complete(const char* what, Step& step, Post post) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  ssize_t result = -FI_EAGAIN;
  while ((result = post()) == -FI_EAGAIN) {
    SHMEMX_TRY(progress(0));  // no descriptor becomes readable when there is room again
    if (std::chrono::steady_clock::now() > end)
      return Error{Errc::unsupported, 0, std::string(what) + " to itself is never taken"};
  }
  if (result != 0) return fabric_.failure(what, result);
  return wait_for(what, step);
}

Status SelfTest::wait_for(const char* what, const Step& step) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!step.is_done) {
    SHMEMX_TRY(progress(kSleepMs));
    if (std::chrono::steady_clock::now() > end)
      return Error{Errc::unsupported, 0, std::string(what) + " to itself does not complete"};
  }
  return {};
}

Status SelfTest::progress(int sleep_ms) {
  fi_cq_data_entry entry;
  const ssize_t count = fi_cq_read(fabric_.cq.get(), &entry, 1);
  if (count == 1) {
    static_cast<Step*>(reinterpret_cast<Operation*>(entry.op_context))->is_done = true;
    return {};
  }
  if (count == -FI_EAVAIL) {
    fi_cq_err_entry problem{};
    fi_cq_readerr(fabric_.cq.get(), &problem, 0);
    return fabric_.failure("an operation on itself", -problem.err);
  }
  if (count != -FI_EAGAIN) return fabric_.failure("fi_cq_read", count);
  pollfd descriptor{fabric_.wait_fd, POLLIN, 0};
  if (sleep_ms > 0 && fabric_.may_sleep()) ::poll(&descriptor, 1, sleep_ms);
  return {};
}

}  // namespace

Status test_fabric(Fabric& fabric) {
  const std::uint64_t secret[2] = {reinterpret_cast<std::uintptr_t>(&fabric), 0};
  SelfTest test(fabric, secret);
  Status status = test.run();
  if (!status) fabric.ep.reset();  // before the memory that operations under way may still use
  return status;
}

bool comes_to_rest(Fabric& fabric) {
  pollfd descriptor{fabric.wait_fd, POLLIN, 0};
  for (int i = 0; i < kTriesToRest; ++i) {
    fi_cq_data_entry entry;
    if (fi_cq_read(fabric.cq.get(), &entry, 1) == -FI_EAGAIN && fabric.may_sleep() && ::poll(&descriptor, 1, 0) == 0)
      return true;
  }
  return false;
}

}  // namespace shmemx::ofi
