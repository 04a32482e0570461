// Stands at the address of PE 1 of a job of two, until it is left, and sends to PE 0 what the test requires.
#pragma once

#include <sys/ioctl.h>
#include <sys/socket.h>

#include <bit>
#include <boost/test/unit_test.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.hpp"
#include "endpoints.hpp"
#include "transport/common/handshake.hpp"
#include "transport/tcp/address.hpp"
#include "transport/tcp/frame.hpp"
#include "transport/tcp/socket.hpp"

namespace transport_test {

class ActedPe {
 public:
  explicit ActedPe(Endpoints& job) : job_(&job), address_(job.book().addresses[1]) {
    std::uint16_t port = 0;
    auto opened = shmemx::tcp::open_listener(port);
    BOOST_REQUIRE(opened);
    listener_ = std::move(*opened);
    shmemx::tcp::EndpointAddress endpoint;
    BOOST_REQUIRE(shmemx::tcp::unpack_address(bytes_of(address_), endpoint));
    endpoint.port = port;
    job.book().addresses[1] = shmemx::tcp::pack_address(endpoint);
  }
  // Accepts the next connection of PE 0, and leaves its response unread.
  shmemx::UniqueFd accept() {
    shmemx::transport::Hello hello;
    shmemx::UniqueFd fd;
    const auto has_come = [&] {
      if (!fd.valid()) fd = try_accept();
      return fd.valid() && available(fd) >= sizeof hello;
    };
    BOOST_REQUIRE(job_->poll_until(has_come, 1));
    BOOST_REQUIRE_EQUAL(::recv(fd.get(), &hello, sizeof hello, 0), static_cast<ssize_t>(sizeof hello));
    const Setup setup{.me = 1, .n_pes = 2, .secret = {Options{}.secret, ~Options{}.secret}};
    const shmemx::transport::Challenge challenge = make_challenge(setup, hello, 0);
    send(fd, std::as_bytes(std::span(&challenge, 1)));
    return fd;
  }
  // The same; then the connection is PE 0's, and has begun.
  shmemx::UniqueFd accept_and_begin() {
    shmemx::UniqueFd fd = accept();
    shmemx::transport::Response response;
    BOOST_REQUIRE(job_->poll_until([&] { return available(fd) >= sizeof response; }, 1));
    BOOST_REQUIRE_EQUAL(::recv(fd.get(), &response, sizeof response, 0), static_cast<ssize_t>(sizeof response));
    send_frame(fd, {0, shmemx::tcp::FrameKind::resume, 0, std::bit_cast<Header>(std::uint64_t{0})});
    return fd;
  }
  // Returns an invalid descriptor if nobody connects.
  shmemx::UniqueFd try_accept() { return shmemx::UniqueFd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)); }
  static std::size_t available(const shmemx::UniqueFd& fd) {
    int bytes = 0;
    BOOST_REQUIRE_EQUAL(::ioctl(fd.get(), FIONREAD, &bytes), 0);
    return static_cast<std::size_t>(bytes);
  }
  static void send(const shmemx::UniqueFd& fd, Bytes bytes) {
    BOOST_REQUIRE_EQUAL(::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  // Returns a frame, the parts of its message, and padding.
  static std::vector<std::byte> frame_of(shmemx::tcp::FrameHeader frame, const std::vector<Bytes>& parts) {
    for (const Bytes& part : parts) frame.message_bytes += static_cast<std::uint32_t>(part.size());
    std::vector<std::byte> all(sizeof frame);
    std::memcpy(all.data(), &frame, sizeof frame);
    for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
    all.resize(all.size() + shmemx::tcp::padding_of(frame.message_bytes));
    return all;
  }
  static void send_frame(const shmemx::UniqueFd& fd, const shmemx::tcp::FrameHeader& frame,
                         const std::vector<Bytes>& parts = {}) {
    send(fd, frame_of(frame, parts));
  }
  // PE 1 is at its address again.
  void leave() {
    job_->book().addresses[1] = address_;
    listener_.reset();
  }

 private:
  Endpoints* job_;
  std::string address_;
  shmemx::transport::NetworkFd listener_;
};

}  // namespace transport_test
