// Wrong uses of remote tasks end the job with one line.
// tasks_test OSHRUN MISUSE_PE TASKS_PE: a driver, not a PE.
#include <cstdio>
#include <string>
#include <vector>

#include "../support/job.hpp"

namespace {

struct Wrong {
  const char* name;
  std::vector<const char*> words;
  std::vector<std::string> environment = {};
};

const std::vector<Wrong> kWrong = {
    {"unregistered",
     {"[pe 2/3 ", "shmemx_task_send:", "PE 0 has sent a task to handler 77, which this PE has not registered"}},
    {"nested_run", {"[pe 2/3 ", "shmemx_scheduler_run: called by the handler of a task"}},
    {"second_thread",
     {"[pe 2/3 ", "shmemx_scheduler_poll: called while another thread of this PE is in the scheduler",
      "allowed is one"}},
    {"left_at_finalize", {"[pe 2/3 ", "shmem_finalize: 3 tasks are queued on this PE and not run; allowed are none"}},
    {"multicast_at_finalize", {"shmem_finalize: 1 task is queued on this PE and not run; allowed are none"}},
    {"multicast_at_exit", {"shmem_finalize: 1 task is queued on this PE and not run; allowed are none"}},
    {"multicast_at_finalize",
     {"shmem_finalize: 1 task is queued on this PE and not run; allowed are none"},
     {"SHMEMX_PES_PER_NODE=1", "SHMEMX_TRANSPORT=tcp"}},
    {"multicast_at_exit",
     {"shmem_finalize: 1 task is queued on this PE and not run; allowed are none"},
     {"SHMEMX_PES_PER_NODE=1", "SHMEMX_TRANSPORT=tcp"}},
    {"after_at_finalize",
     {"[pe 2/3 ", "shmem_finalize: 1 task waits on this PE for a request that is not complete; allowed are none"}},
    {"finalize_in_handler", {"[pe 2/3 ", "shmem_finalize: called by the handler of a task"}},
    {"too_many",
     {"shmemx_task_send:", "bytes of tasks are queued on PE 2, the last ones of PE 0; allowed are 4194304",
      "SHMEMX_TASKS_MAX"},
     {"SHMEMX_TASKS_MAX=4m"}},
    {"active_number",
     {"[pe 2/3 ", "shmemx_task_register: argument 'id' is 9, the number of a handler of active messages"}},
    {"bad_number", {"[pe 2/3 ", "shmemx_task_send:", "'id'", "65536", "allowed are 0..65535"}},
    {"array_is_gone",
     {"[pe 2/3] shmemx::object_array: PE 0 has sent a task for object 2 of an array that this PE has no more",
      "call shmemx_scheduler_quiesce before. Job ended."}},
    {"keep_outside", {"[pe 2/3 ", "shmemx_task_keep: called outside of a task's handler"}},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  int failures = 0;
  for (const Wrong& wrong : kWrong) {
    const job::Result result = job::run({.command = {argv[1], "-n", "3", "--timeout", "60", argv[3], wrong.name},
                                         .environment = wrong.environment,
                                         .limit_seconds = 70});
    const std::string error = job::diagnostic_error(result, wrong.words);
    if (error.empty()) continue;
    ++failures;
    std::fprintf(stderr, "%s: %s (status %d)\n%s", wrong.name, error.c_str(), result.status, result.err.c_str());
  }
  std::printf("%zu wrong uses, %d failures\n", kWrong.size(), failures);
  return failures == 0 ? 0 : 1;
}
