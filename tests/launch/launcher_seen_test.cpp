#include <boost/test/unit_test.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "bootstrap/launcher_seen.hpp"

BOOST_AUTO_TEST_SUITE(launcher_seen)

namespace {

std::vector<std::pair<std::string, std::string>> environment;

const char* lookup(const char* variable) {
  for (const auto& [name, value] : environment) {
    if (name == variable) return value.c_str();
  }
  return nullptr;
}

std::string launcher_of(std::vector<std::pair<std::string, std::string>> variables) {
  environment = std::move(variables);
  const auto seen = shmemx::bootstrap::find_launcher(lookup);
  return seen.launcher == nullptr ? "none" : seen.evidence;
}

}  // namespace

BOOST_AUTO_TEST_CASE(sizes_above_one_are_launches) {
  BOOST_CHECK_EQUAL(launcher_of({{"PMI_SIZE", "2"}}), "PMI_SIZE=2");
  BOOST_CHECK_EQUAL(launcher_of({{"OMPI_COMM_WORLD_SIZE", "8"}}), "OMPI_COMM_WORLD_SIZE=8");
  BOOST_CHECK_EQUAL(launcher_of({{"MPI_LOCALNRANKS", "2"}}), "MPI_LOCALNRANKS=2");
  BOOST_CHECK_EQUAL(launcher_of({{"FLUX_JOB_SIZE", "3"}}), "FLUX_JOB_SIZE=3");
}

BOOST_AUTO_TEST_CASE(one_process_or_no_launcher_is_no_launch) {
  BOOST_CHECK_EQUAL(launcher_of({}), "none");
  BOOST_CHECK_EQUAL(launcher_of({{"PMI_SIZE", "1"}}), "none");
  BOOST_CHECK_EQUAL(launcher_of({{"OMPI_COMM_WORLD_SIZE", "1"}, {"PMIX_RANK", "0"}}), "none");
  BOOST_CHECK_EQUAL(launcher_of({{"PMI_SIZE", "many"}}), "none");
}

BOOST_AUTO_TEST_CASE(a_pmix_rank_without_a_size_is_a_launch) {
  BOOST_CHECK_EQUAL(launcher_of({{"PMIX_RANK", "0"}}), "PMIX_RANK=0");
  BOOST_CHECK_EQUAL(launcher_of({{"PMIX_RANK", "3"}}), "PMIX_RANK=3");
}

BOOST_AUTO_TEST_CASE(slurm_steps_are_launches_but_allocations_are_not) {
  BOOST_CHECK_EQUAL(launcher_of({{"SLURM_NTASKS", "4"}}), "none");
  BOOST_CHECK_EQUAL(launcher_of({{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}, {"ENVIRONMENT", "BATCH"}}), "none");
  BOOST_CHECK_EQUAL(launcher_of({{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "4294967291"}}),
                    "none");
  BOOST_CHECK_EQUAL(launcher_of({{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}), "none");
  BOOST_CHECK_EQUAL(launcher_of({{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "0"}}),
                    "SLURM_NTASKS=4");
  BOOST_CHECK_EQUAL(launcher_of({{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}}),
                    "SLURM_STEP_NUM_TASKS=2");
}

BOOST_AUTO_TEST_CASE(a_process_of_an_allocation_outside_its_steps_is_reported) {
  const auto note = [](std::vector<std::pair<std::string, std::string>> variables) {
    environment = std::move(variables);
    return shmemx::bootstrap::describe_allocation(lookup);
  };
  BOOST_CHECK_EQUAL(
      note({{"SLURM_NTASKS", "4"}}),
      "SLURM_NTASKS is 4, but no launcher started this process: it is a job of one PE; for 4 PEs start it "
      "with 'srun -n 4' or 'oshrun -n 4'");
  BOOST_CHECK(!note({{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}, {"ENVIRONMENT", "BATCH"}}).empty());
  BOOST_CHECK(!note({{"SLURM_NTASKS", "4"}, {"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_STEP_ID", "4294967290"}}).empty());
  BOOST_CHECK(note({{"SLURM_NTASKS", "4"}, {"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_STEP_ID", "0"}}).empty());
  BOOST_CHECK(note({{"SLURM_NTASKS", "1"}}).empty());
  BOOST_CHECK(note({}).empty());
}

BOOST_AUTO_TEST_SUITE_END()
