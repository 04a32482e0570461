#include "tasks/quiescence.hpp"

#include <boost/test/unit_test.hpp>
#include <random>
#include <vector>

BOOST_AUTO_TEST_SUITE(tasks_quiescence)

namespace {

using shmemx::tasks::Quiescence;
using shmemx::tasks::TaskCounts;

// PEs that send tasks in any order and at any time, tasks that travel for any time, and waves that read the counters of
// each PE at any moment between the waves before and behind, once its program has sent its own tasks.
class RandomJob {
 public:
  RandomJob(std::uint32_t seed, std::size_t n_pes) : random_(seed), pes_(n_pes) {
    for (Pe& pe : pes_) pe.to_send = below(4);
  }

  // Runs until the detector says that nothing is left. Returns whether that is true.
  bool ends_quiescent() {
    std::vector<Quiescence> judges(pes_.size());
    while (true) {
      std::vector<bool> has_read(pes_.size(), false);
      TaskCounts total;
      for (std::size_t left = pes_.size(); left != 0;) {
        step();
        const std::size_t pe = below(pes_.size());
        if (has_read[pe] || pes_[pe].is_before() || below(3) != 0) continue;
        has_read[pe] = true;
        --left;
        total.sent += pes_[pe].counts.sent;
        total.run += pes_[pe].counts.run;
      }
      bool has_ended = false;
      for (Quiescence& judge : judges) has_ended = judge.add_wave(total);
      if (has_ended) return is_quiescent();
    }
  }

 private:
  struct Pe {
    TaskCounts counts;
    std::size_t queued = 0;
    std::size_t to_send = 0;  // by the program, and by the handler that runs
    bool is_running = false;
    bool is_before() const { return !is_running && to_send != 0; }  // the program itself still sends
  };

  std::size_t below(std::size_t most) { return random_() % most; }

  void step() {
    Pe& pe = pes_[below(pes_.size())];
    switch (below(4)) {
      case 0:  // a task arrives
        if (under_way_ == 0) return;
        --under_way_;
        ++pe.queued;
        return;
      case 1:  // a handler begins
        if (pe.is_running || pe.queued == 0 || pe.to_send != 0) return;
        --pe.queued;
        pe.is_running = true;
        pe.to_send = offspring_ == 0 ? 0 : below(3);
        return;
      case 2:
        if (pe.to_send == 0) return;
        --pe.to_send;
        if (offspring_ != 0) --offspring_;
        ++pe.counts.sent;
        ++under_way_;
        return;
      default:  // a handler ends
        if (!pe.is_running || pe.to_send != 0) return;
        pe.is_running = false;
        ++pe.counts.run;
    }
  }

  bool is_quiescent() const {
    std::size_t left = under_way_;
    for (const Pe& pe : pes_) left += pe.queued + pe.to_send + (pe.is_running ? 1 : 0);
    return left == 0;
  }

  std::mt19937 random_;
  std::vector<Pe> pes_;
  std::size_t under_way_ = 0;
  std::size_t offspring_ = 60;
};

}  // namespace

BOOST_AUTO_TEST_CASE(random_jobs_end_when_no_task_is_left) {
  for (std::uint32_t seed = 0; seed < 3000; ++seed) {
    RandomJob job(seed, 1 + seed % 7);
    BOOST_REQUIRE_MESSAGE(job.ends_quiescent(), "seed " << seed);
  }
}

BOOST_AUTO_TEST_CASE(one_balanced_wave_is_not_enough) {
  Quiescence judge;
  BOOST_CHECK(!judge.add_wave({0, 0}));
  BOOST_CHECK(!judge.add_wave({5, 5}));  // read at different moments
  BOOST_CHECK(!judge.add_wave({6, 5}));
  BOOST_CHECK(!judge.add_wave({6, 5}));
  BOOST_CHECK(!judge.add_wave({6, 6}));
  BOOST_CHECK(judge.add_wave({6, 6}));
}

BOOST_AUTO_TEST_SUITE_END()
