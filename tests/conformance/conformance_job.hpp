// Jobs of the transport under test, and messages with numbers in their headers.
#pragma once

#include <boost/test/unit_test.hpp>

#include "endpoints.hpp"

namespace transport_test {

// Checks that there are `n` messages from `source`, with 0, 1, 2... in their headers.
inline void check_sequence(const Recorder& sink, int source, unsigned n) {
  unsigned next = 0;
  for (const Message& message : sink.messages) {
    if (message.source != source) continue;
    BOOST_REQUIRE_EQUAL(number_of(message), next);
    ++next;
  }
  BOOST_CHECK_EQUAL(next, n);
}

inline bool got(Endpoints& job, int pe, std::size_t n, int silent = -1) {
  return job.poll_until([&] { return job.sink(pe).messages.size() >= n; }, silent);
}

struct Job : Endpoints {
  Job() : Endpoints(transport_name()) {}
  explicit Job(const Options& options) : Endpoints(transport_name(), options) {}
};

}  // namespace transport_test
