// conformance <transport>[:<MTU>] [Boost.Test options]: runs the cases for all transports on one. Exits with 1 and the
// reason if the transport cannot be used on this machine.
#define BOOST_TEST_NO_MAIN
#include <boost/test/unit_test.hpp>
#include <cstdio>

#include "endpoints.hpp"

namespace transport_test {

namespace {

std::string& chosen() {
  static std::string name;
  return name;
}

bool init() { return true; }

}  // namespace

const std::string& transport_name() { return chosen(); }

}  // namespace transport_test

int main(int argc, char** argv) {
  using namespace transport_test;
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s <transport> [options]\n", argv[0]);
    return 2;
  }
  chosen() = argv[1];
  {
    Recorder sink;
    auto opened = open_for_test(chosen(), {.sink = &sink, .ethernet = {.interface = "lo"}});
    if (!opened) {
      std::fprintf(stderr, "%s\n", opened.error().text.c_str());
      return 2;
    }
    if (!opened->transport) {
      std::fprintf(stderr, "%s cannot be used here: %s\n", chosen().c_str(), opened->why_not.c_str());
      return 1;
    }
    opened->transport->close(0);
  }
  argv[1] = argv[0];
  return boost::unit_test::unit_test_main(&init, argc - 1, argv + 1);
}
