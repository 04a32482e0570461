// Measures the CPU time of a PE's helper thread while nothing travels. The PE itself sleeps, or computes. CPU time of
// all threads but the calling one, by wall time.
#include <dirent.h>
#include <sys/syscall.h>

#include <fstream>

#include "../support/program.hpp"

namespace {
using namespace shmemx::bench;

// The first word of schedstat is nanoseconds on a CPU.
double cpu_ns_of(const std::string& thread) {
  std::ifstream file("/proc/self/task/" + thread + "/schedstat");
  double ns = 0;
  return file >> ns ? ns : 0;
}

double helpers_cpu_ns() {
  const std::string own = std::to_string(syscall(SYS_gettid));
  DIR* tasks = opendir("/proc/self/task");
  if (tasks == nullptr) die("/proc/self/task does not open");
  double sum = 0;
  while (const dirent* task = readdir(tasks))
    if (task->d_name[0] != '.' && task->d_name != own) sum += cpu_ns_of(task->d_name);
  closedir(tasks);
  return sum;
}

void rest(long ms) { sleep_ms(ms); }
void compute(long ms) {
  const std::int64_t until = now_ns() + ms * 1'000'000;
  while (now_ns() < until) {
  }
}

struct Pastime {
  const char* name;
  void (*pass)(long ms);
};
constexpr Pastime kPastimes[] = {{"PE asleep", rest}, {"PE computes", compute}};

void measure(Work& work, const Pastime& pastime, long ms) {
  work.job->sync();
  pastime.pass(200);  // the work that the barrier left is done by then
  const double cpu = helpers_cpu_ns();
  const std::int64_t begin = now_ns();
  pastime.pass(ms);
  const double percent = 100 * (helpers_cpu_ns() - cpu) / static_cast<double>(now_ns() - begin);
  if (work.pe == 0)
    print_result({"net_agent_idle_cpu", work.pes, 0, "%", pastime.name, "", summarize({percent}, false)});
  work.job->sync();
}
}  // namespace

int main(int argc, char** argv) {
  const Options options = parse_options(argc, argv);
  Job job(options.pes, std::size_t{1} << 17);
  Work work = make_work(job, 4096);
  pin(options, job.pe(), job.pes());
  for (const Pastime& pastime : kPastimes) measure(work, pastime, static_cast<long>(options.limits.budget_ms));
  return 0;
}
