// Probes of a network that does not say whether its put and get need the target's CPU.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "rdma_life.hpp"

BOOST_AUTO_TEST_SUITE(onesided_rdma_probe)

namespace {

using namespace shmemx;
using onesided::ProbeBlock;
using Step = onesided::RmaProbeRequest::Step;
using State = onesided::RmaProbeReply::State;
using unit::kLong;
using unit::Life;
using unit::Log;

struct UnprovenLife : Life {
  UnprovenLife() : Life(config::NetRma::automatic, Network::unproven) {}

  // What the log says about one put and one get of a long block, without the probe's own accesses.
  Log use() {
    put_of_program(0, kLong);
    onesided::flush("quiet", {});
    BOOST_CHECK(has(0, kLong));
    std::vector<std::byte> back(kLong);
    network.log.clear();
    put_of_program(0, kLong);
    onesided::flush("quiet", {});
    onesided::get("get", context::default_context(), back.data(), at(0), kLong);
    BOOST_CHECK(std::memcmp(back.data(), source.data(), kLong) == 0);
    return network.log;
  }
  std::size_t probes() const { return network.count("probe still"); }

  // A step of another PE's probe of this one. Returns the reply.
  onesided::RmaProbeReply step_of_other(const onesided::RmaProbeRequest& request) {
    const am::Locked endpoint;
    network.request_probe(request);
    return network.probe_answers.back();
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_proven_is_used) {
  UnprovenLife life;
  life.put_of_program(0, kLong);
  BOOST_CHECK_EQUAL(life.probes(), 1u);
  BOOST_CHECK_EQUAL(life.network.count("probe result puts gets"), 1u);
  BOOST_CHECK((life.use() == Log{"start put", "put", "start get", "get"}));
}

BOOST_AUTO_TEST_CASE(puts_that_need_the_target_go_by_messages) {
  UnprovenLife life;
  life.network.puts_alone = false;
  BOOST_CHECK((life.use() == Log{"message put", "message key request", "start get", "get"}));
}

BOOST_AUTO_TEST_CASE(gets_that_need_the_target_go_by_messages) {
  UnprovenLife life;
  life.network.gets_alone = false;
  life.put_of_program(0, kLong);
  BOOST_CHECK_EQUAL(life.network.count("probe result puts"), 1u);
  life.network.log.clear();
  life.put_of_program(kLong, 8);
  onesided::flush("quiet", {});
  BOOST_CHECK_EQUAL(life.network.count("put"), 1u);
  BOOST_CHECK(!onesided::has_rdma(unit::kOther, onesided::Direction::get));
  BOOST_CHECK(onesided::has_rdma(unit::kOther, onesided::Direction::put));
}

BOOST_AUTO_TEST_CASE(a_network_of_software_is_not_used) {
  UnprovenLife life;
  life.network.puts_alone = life.network.gets_alone = false;
  life.put_of_program(0, kLong);
  onesided::flush("quiet", {});
  BOOST_CHECK_EQUAL(life.network.count("probe result"), 1u);
  BOOST_CHECK_EQUAL(life.network.count("message put"), 1u);
  BOOST_CHECK_EQUAL(life.network.count("message key request"), 0u);
  BOOST_CHECK(!onesided::has_rdma(unit::kOther, onesided::Direction::put));
  life.put_of_program(0, kLong);
  life.put_nbi(0, kLong);
  onesided::flush("quiet", {});
  BOOST_CHECK_EQUAL(life.network.count("message put"), 3u);
  BOOST_CHECK_EQUAL(life.network.count("probe key"), 1u);
}

BOOST_AUTO_TEST_CASE(a_setting_needs_no_probe) {
  Life life(config::NetRma::on, Life::Network::unproven);
  life.network.puts_alone = false;
  life.put_of_program(0, kLong);
  BOOST_CHECK_EQUAL(life.network.count("probe key"), 0u);
  BOOST_CHECK_EQUAL(life.network.count("put"), 1u);
}

BOOST_AUTO_TEST_CASE(a_target_that_opens_nothing_is_reached_by_messages) {
  UnprovenLife life;
  life.network.opens = false;
  life.put_of_program(0, kLong);
  life.put_of_program(kLong, kLong);
  onesided::flush("quiet", {});
  BOOST_CHECK((life.network.log == Log{"probe key", "message put", "message put"}));
}

BOOST_AUTO_TEST_CASE(a_busy_target_is_asked_again) {
  UnprovenLife life;
  life.network.busy_replies = 2;
  life.put_of_program(0, kLong);
  BOOST_CHECK_EQUAL(life.network.count("probe busy"), 2u);
  BOOST_CHECK_EQUAL(life.network.count("probe result puts gets"), 1u);
}

// PE 0 of two that probe each other does not keep still for PE 1.
BOOST_AUTO_TEST_CASE(of_two_that_probe_each_other_one_keeps_still) {
  UnprovenLife life;
  life.network.requests_back = true;
  life.put_of_program(0, kLong);
  BOOST_REQUIRE_EQUAL(life.network.probe_answers.size(), 1u);
  BOOST_CHECK(life.network.probe_answers[0].state == State::busy);
  BOOST_CHECK_EQUAL(life.network.count("probe result puts gets"), 1u);
}

BOOST_AUTO_TEST_CASE(a_target_sees_puts_that_arrive_while_it_keeps_still) {
  UnprovenLife life;
  const auto opened = life.step_of_other({.ticket = 1, .step = Step::key});
  BOOST_CHECK(opened.state == State::open);
  BOOST_CHECK_EQUAL(opened.key_bytes, std::strlen("key"));
  auto& block = *reinterpret_cast<ProbeBlock*>(life.network.last_registered);
  std::atomic<bool> is_seen{false};
  std::thread initiator([&] {
    for (std::uint64_t number = 2; !is_seen.load(); std::this_thread::yield()) {
      if (block.still.load(std::memory_order_acquire) != ProbeBlock::kStill) continue;
      block.number.store(number | ProbeBlock::kHasGot, std::memory_order_release);
      number += 2;
    }
  });
  // The initiator may not run while the target keeps still, which is a short time.
  onesided::RmaProbeReply shown{};
  for (std::uint32_t ticket = 2; ticket < 300 && shown.puts == 0; ++ticket)
    shown = life.step_of_other({.ticket = ticket, .step = Step::keep_still});
  is_seen = true;
  initiator.join();
  BOOST_CHECK(shown.state == State::open);
  BOOST_CHECK_EQUAL(shown.puts, 1);
  BOOST_CHECK_EQUAL(block.still.load(), 0u);
}

BOOST_AUTO_TEST_CASE(a_target_sees_that_nothing_arrives_and_learns_the_result) {
  UnprovenLife life;
  life.step_of_other({.ticket = 1, .step = Step::key});
  const auto shown = life.step_of_other({.ticket = 2, .step = Step::keep_still});
  BOOST_CHECK(shown.state == State::open);
  BOOST_CHECK_EQUAL(shown.puts, 0);
  life.step_of_other({.ticket = 3, .step = Step::result, .is_certain = 1, .puts = 0, .gets = 1});
  const auto known = life.step_of_other({.ticket = 4, .step = Step::key});
  BOOST_CHECK(known.state == State::known);
  BOOST_CHECK(known.puts == 0 && known.gets == 1);
  life.put_of_program(0, kLong);  // it probes no more itself
  onesided::flush("quiet", {});
  BOOST_CHECK((life.network.log == Log{"register 4096", "message put"}));
}

BOOST_AUTO_TEST_CASE(a_result_that_is_not_certain_is_not_kept) {
  UnprovenLife life;
  life.step_of_other({.ticket = 1, .step = Step::key});
  life.step_of_other({.ticket = 3, .step = Step::result, .is_certain = 0});
  BOOST_CHECK(life.step_of_other({.ticket = 4, .step = Step::key}).state == State::open);
}

BOOST_AUTO_TEST_CASE(a_network_that_is_not_used_opens_nothing) {
  UnprovenLife life;
  life.network.names_itself = false;
  BOOST_CHECK(life.step_of_other({.ticket = 1, .step = Step::key}).state == State::closed);
}

BOOST_AUTO_TEST_SUITE_END()
