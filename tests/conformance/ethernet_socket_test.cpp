// The transport ethernet over real packet sockets, in a network namespace of its own, whose interfaces are taken down.
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <thread>

#include "base/unique_fd.hpp"
#include "endpoints.hpp"

BOOST_AUTO_TEST_SUITE(ethernet_socket)

using transport_test::AddressBook;
using transport_test::Recorder;
using transport_test::Setup;

namespace {

// Runs a test in a thread with a namespace of its own. Says "skipped: " if the machine does not allow that.
template <class Test>
void in_own_namespace(Test test) {
  std::thread([&] {
    if (::unshare(CLONE_NEWNET) == 0) return test();
    std::perror("skipped: a network namespace");
  }).join();
}

void set_up(const char* interface, bool up) {
  const shmemx::UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::snprintf(request.ifr_name, sizeof request.ifr_name, "%s", interface);
  BOOST_REQUIRE(::ioctl(socket.get(), SIOCGIFFLAGS, &request) == 0);
  request.ifr_flags = static_cast<short>(up ? request.ifr_flags | IFF_UP : request.ifr_flags & ~IFF_UP);
  BOOST_REQUIRE(::ioctl(socket.get(), SIOCSIFFLAGS, &request) == 0);
}

bool is_ready(int descriptor) {
  pollfd entry{descriptor, POLLIN, 0};
  return ::poll(&entry, 1, 20) != 0;
}

}  // namespace

// A sleeper is woken once by an interface that is taken down, and sleeps again then.
BOOST_AUTO_TEST_CASE(an_interface_that_is_taken_down_wakes_once) {
  in_own_namespace([] {
    set_up("lo", true);
    Recorder sink;
    AddressBook book;
    auto opened = transport_test::open_for_test(
        "ethernet", Setup{.me = 0, .n_pes = 2, .secret = {1, 2}, .sink = &sink, .ethernet = {.interface = "lo"}});
    BOOST_REQUIRE(opened);
    BOOST_REQUIRE_MESSAGE(opened->transport, opened->why_not);
    shmemx::transport::Transport& endpoint = *opened->transport;
    endpoint.set_addresses(book);
    endpoint.poll(-1);
    BOOST_REQUIRE(endpoint.arm());
    BOOST_CHECK(!is_ready(endpoint.descriptor()));
    set_up("lo", false);
    BOOST_CHECK(is_ready(endpoint.descriptor()));
    endpoint.poll(-1);
    BOOST_REQUIRE(endpoint.arm());
    BOOST_CHECK(!is_ready(endpoint.descriptor()));
  });
}

BOOST_AUTO_TEST_SUITE_END()
