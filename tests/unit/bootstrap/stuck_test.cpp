#include "bootstrap/stuck.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(bootstrap_stuck)

namespace {

using namespace shmemx;
using namespace shmemx::bootstrap;

constexpr int kNone = StuckWatch::kNone;

// An arena whose PEs are records: all but the last wait, the last has departed and waits in finalize.
struct Job {
  UniqueFd fd;
  JobHeader* header;
  std::uint32_t n_pes;
  StuckWatch watch;

  explicit Job(std::uint32_t pes, std::uint32_t of_job = 0) : n_pes(pes) {
    const std::uint32_t all = of_job == 0 ? pes : of_job;
    fd = std::move(create_job_file({all, pes, 7, {1, 2}}).value());
    header = map_job_header(fd.get(), all, 7).value();
    for (std::uint32_t place = 0; place < pes; ++place) {
      record(place).pid = static_cast<std::int32_t>(::getpid());
      waits(place, place + 1 < pes ? PePhase::running : PePhase::departed,
            place + 1 < pes ? "shmem_long_wait_until" : "shmem_finalize");
    }
    watch = StuckWatch(header, Liveness(fd.get()));
  }
  ~Job() { unmap_job_header(header); }

  PeRecord& record(std::uint32_t place) const { return *record_of(header, place); }
  void waits(std::uint32_t place, PePhase phase, const char* routine) const {
    record(place).phase = static_cast<std::uint32_t>(phase);
    set_routine(record(place), routine);
  }
  void answer(std::uint32_t place, std::uint64_t state = 5, std::uint64_t sent = 0, std::uint64_t executed = 0) const {
    IdleReport& idle = record(place).idle;
    idle.state = state;
    idle.sent = sent;
    idle.executed = executed;
    idle.wave = header->idle_wave.load();
  }
  void all_answer() const {
    for (std::uint32_t place = 0; place < n_pes; ++place) answer(place);
  }
  // Looks until a step changes nothing any more, with the same answers.
  int look_with_answers(bool judges_all = false) {
    int found = kNone;
    for (int i = 0; i < 4 && found == kNone; ++i) {
      found = watch.look(0, judges_all);
      if (found == kNone) all_answer();
    }
    return found;
  }
};

// Makes the PE's record one of a process that has ended.
void let_end(PeRecord& record) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  UniqueFd file = std::move(create_job_file(1, 1).value());
  announce_liveness(file.get(), 0, record);  // for the namespace
  record.pid = child;
  record.has_liveness_lock = 0;
}

}  // namespace

BOOST_AUTO_TEST_CASE(two_waves_with_the_same_answers_are_the_proof) {
  Job job(3);
  BOOST_CHECK_EQUAL(job.watch.look(0, false), kNone);
  BOOST_CHECK_EQUAL(job.header->idle_wave.load(), 1U);
  BOOST_CHECK_EQUAL(job.watch.look(0, false), kNone);  // no answers yet: the same wave
  BOOST_CHECK_EQUAL(job.header->idle_wave.load(), 1U);
  job.all_answer();
  BOOST_CHECK_EQUAL(job.watch.look(0, false), kNone);
  BOOST_CHECK_EQUAL(job.header->idle_wave.load(), 2U);
  BOOST_CHECK_EQUAL(job.watch.look(0, false), kNone);
  job.all_answer();
  BOOST_CHECK_EQUAL(job.watch.look(0, false), 2);
}

BOOST_AUTO_TEST_CASE(a_pe_that_has_moved_between_two_waves_proves_nothing) {
  Job job(3);
  for (std::uint64_t round = 1; round < 50; ++round) {
    BOOST_REQUIRE_EQUAL(job.watch.look(0, false), kNone);
    job.answer(0);
    job.answer(1, round);
    job.answer(2);
  }
  job.all_answer();
  BOOST_CHECK_EQUAL(job.watch.look(0, false), kNone);
  job.all_answer();
  BOOST_CHECK_EQUAL(job.watch.look(0, false), 2);
}

BOOST_AUTO_TEST_CASE(a_pe_that_does_not_answer_may_move) {
  Job job(3);
  for (int round = 0; round < 20; ++round) {
    BOOST_REQUIRE_EQUAL(job.watch.look(0, false), kNone);
    job.answer(0);
    job.answer(2);
  }
}

BOOST_AUTO_TEST_CASE(a_pe_that_does_not_wait_may_move) {
  Job job(3);
  BOOST_CHECK_EQUAL(job.watch.look(0, false), kNone);
  job.all_answer();
  set_routine(job.record(1), "");
  BOOST_CHECK_EQUAL(job.watch.look(0, false), kNone);
  set_routine(job.record(1), "shmem_quiet");
  BOOST_CHECK_EQUAL(job.watch.look(0, false), kNone);  // from the beginning: the first wave of a new proof
  job.all_answer();
  BOOST_CHECK_EQUAL(job.watch.look(0, false), kNone);
  job.all_answer();
  BOOST_CHECK_EQUAL(job.watch.look(0, false), 2);
}

BOOST_AUTO_TEST_CASE(messages_that_have_not_been_executed_may_move_a_pe) {
  Job job(3);
  for (int round = 0; round < 10; ++round) {
    BOOST_REQUIRE_EQUAL(job.watch.look(0, false), kNone);
    job.answer(0, 5, 10, 3);
    job.answer(1, 5, 4, 10);
    job.answer(2, 5, 0, 0);  // one of PE 1 is still under way to somebody
  }
  for (int round = 0; round < 2; ++round) {
    BOOST_REQUIRE_EQUAL(job.watch.look(0, false), kNone);
    job.answer(0, 5, 10, 3);
    job.answer(1, 5, 4, 10);
    job.answer(2, 5, 0, 1);
  }
  BOOST_CHECK_EQUAL(job.watch.look(0, false), 2);
}

BOOST_AUTO_TEST_CASE(pes_that_meet_a_departed_one_in_finalize_do_not_wait_in_vain) {
  Job job(3);
  for (const std::uint32_t place : {0U, 1U}) job.waits(place, PePhase::running, "shmem_finalize");
  BOOST_CHECK_EQUAL(job.look_with_answers(), kNone);
  job.waits(1, PePhase::running, "shmem_barrier_all");
  BOOST_CHECK_EQUAL(job.look_with_answers(), 2);
}

BOOST_AUTO_TEST_CASE(nobody_waits_in_vain_while_no_pe_has_ended) {
  Job job(3);
  job.waits(2, PePhase::running, "shmem_quiet");
  BOOST_CHECK_EQUAL(job.look_with_answers(), kNone);
}

BOOST_AUTO_TEST_CASE(all_pes_wait_in_vain_where_nothing_outside_of_the_job_could_end_it) {
  Job job(3);
  job.waits(2, PePhase::running, "shmem_quiet");
  BOOST_CHECK_EQUAL(job.look_with_answers(true), StuckWatch::kNobody);
  job.waits(1, PePhase::running, "");
  BOOST_CHECK_EQUAL(job.look_with_answers(true), kNone);
}

BOOST_AUTO_TEST_CASE(where_all_are_judged_a_pe_that_has_ended_is_still_the_reason) {
  Job job(3);
  BOOST_CHECK_EQUAL(job.look_with_answers(true), 2);
}

BOOST_AUTO_TEST_CASE(a_process_that_is_gone_needs_not_answer) {
  Job job(3);
  for (const std::uint32_t place : {0U, 1U}) job.waits(place, PePhase::running, "shmem_finalize");
  job.waits(2, PePhase::running, "");
  let_end(job.record(2));
  BOOST_CHECK_EQUAL(job.watch.look(0, false), kNone);
  job.answer(0);
  job.answer(1);
  BOOST_CHECK_EQUAL(job.watch.look(0, false), kNone);
  job.answer(0);
  job.answer(1);
  BOOST_CHECK_EQUAL(job.watch.look(0, false), 2);
}

BOOST_AUTO_TEST_CASE(a_process_that_ends_during_init_is_found) {
  Job job(2);
  job.waits(0, PePhase::attached, "shmem_init");
  job.waits(1, PePhase::attached, "");
  let_end(job.record(1));
  BOOST_CHECK_EQUAL(job.look_with_answers(), 1);
}

BOOST_AUTO_TEST_CASE(the_lowest_pe_that_waits_observes) {
  Job job(3);
  for (int round = 0; round < 5; ++round) {
    BOOST_CHECK_EQUAL(job.watch.look(1, false), kNone);
    job.all_answer();
  }
  BOOST_CHECK_EQUAL(job.header->idle_wave.load(), 0U);
  job.waits(0, PePhase::running, "");
  let_end(job.record(0));
  BOOST_CHECK_EQUAL(job.watch.look(1, false), kNone);
  BOOST_CHECK_EQUAL(job.header->idle_wave.load(), 1U);
}

// They say so by messages.
BOOST_AUTO_TEST_CASE(pes_of_other_arenas_have_to_leave_first) {
  Job job(2, 4);
  job.waits(1, PePhase::running, "shmem_quiet");
  job.header->foreign_left = 1;
  BOOST_CHECK_EQUAL(job.look_with_answers(), kNone);
  job.header->foreign_left = 2;
  BOOST_CHECK_EQUAL(job.look_with_answers(), StuckWatch::kForeign);
}

BOOST_AUTO_TEST_SUITE_END()
