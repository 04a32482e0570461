// The main of a bench program that samples a table of cases.
//   program [--list] [--case NAME] [--budget MS] [--far NS] [--cpus 0,1] [--pes N] [--serve DIR]
// Alone it measures all its cases and prints one CSV line for each state seen. With --serve it takes one
// order after the other from the pipes in DIR, so that a driver can alternate between several programs; between
// two orders it sleeps in read(). --pes counts for the raw programs only: others are started by a launcher.
#pragma once

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <sstream>
#include <string>

#include "request.hpp"
#include "sampler.hpp"

namespace shmemx::bench {

struct Options {
  bool list = false;
  std::string only;
  std::string serve_directory;
  std::vector<int> cpus;
  int pes = 2;
  SampleLimits limits;
};

inline Options parse_options(int argc, char** argv) {
  static const option kOptions[] = {
      {"list", no_argument, nullptr, 'l'},         {"case", required_argument, nullptr, 'c'},
      {"budget", required_argument, nullptr, 'b'}, {"far", required_argument, nullptr, 'f'},
      {"cpus", required_argument, nullptr, 'u'},   {"pes", required_argument, nullptr, 'n'},
      {"serve", required_argument, nullptr, 's'},  {nullptr, 0, nullptr, 0}};
  Options options;
  for (int c; (c = getopt_long(argc, argv, "", kOptions, nullptr)) != -1;) {
    switch (c) {
      case 'l':
        options.list = true;
        break;
      case 'c':
        options.only = optarg;
        break;
      case 'b':
        options.limits.budget_ms = std::atof(optarg);
        break;
      case 'f':
        options.limits.far_ns = std::atof(optarg);
        break;
      case 'n':
        options.pes = std::atoi(optarg);
        break;
      case 's':
        options.serve_directory = optarg;
        break;
      case 'u': {
        std::istringstream list(optarg);
        for (std::string cpu; std::getline(list, cpu, ',');) options.cpus.push_back(std::atoi(cpu.c_str()));
        break;
      }
      default:
        std::exit(2);
    }
  }
  return options;
}

// Returns the CPUs that this process may use.
inline std::vector<int> usable_cpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(static_cast<int>(cpu));
  return cpus;
}

// Pins each PE to a core of its own if there are enough; otherwise the scheduler decides, as it does for users.
inline void pin(const Options& options, int pe, int pes) {
  if (static_cast<int>(options.cpus.size()) < pes) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(options.cpus[static_cast<std::size_t>(pe)]), &set);
  sched_setaffinity(0, sizeof set, &set);
}

// On another host a PE is not in the driver's session, which has raised weight. With BENCH_RAISED its own session
// gets the same.
inline void raise_weight_of_session() {
  if (std::getenv("BENCH_RAISED") == nullptr) return;
  const int file = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  if (write(file, "-19", 3) != 3) errno = 0;  // an ordinary user may not
  close(file);
}

// Gives all threads of this process real-time priority while a case is measured, if BENCH_REAL_TIME is set and it is
// allowed: other programs then do not take the cores. Only during a case, since launchers need the cores while a job
// starts and ends.
class RealTime {
 public:
  RealTime() { set(SCHED_FIFO, 1); }
  RealTime(const RealTime&) = delete;
  RealTime& operator=(const RealTime&) = delete;
  ~RealTime() { set(SCHED_OTHER, 0); }

 private:
  static void set(int policy, int priority) {
    static const bool wanted = std::getenv("BENCH_REAL_TIME") != nullptr;
    DIR* tasks = wanted ? opendir("/proc/self/task") : nullptr;
    if (tasks == nullptr) return;
    const sched_param parameter{priority};
    while (const dirent* task = readdir(tasks))
      if (task->d_name[0] != '.') sched_setscheduler(std::atoi(task->d_name), policy, &parameter);
    closedir(tasks);
  }
};

inline Work make_work(Job& job, std::size_t buffer_bytes) {
  raise_weight_of_session();
  Work work;
  work.job = &job;
  work.pe = job.pe();
  work.pes = job.pes();
  work.peer = (job.pe() + 1) % job.pes();
  work.shared = static_cast<Shared*>(job.allocate(sizeof(Shared)));
  work.source = static_cast<std::byte*>(job.allocate(buffer_bytes));
  work.dest = static_cast<std::byte*>(job.allocate(buffer_bytes));
  std::memset(work.source, 1 + job.pe(), buffer_bytes);
  work.peer_shared = job.remote(work.shared, work.peer);
  work.peer_source = job.remote(work.source, work.peer);
  work.peer_dest = job.remote(work.dest, work.peer);
  return work;
}

// Runs one case on all PEs; PE 0 writes the results to `fd`.
inline void run_case(Work& work, const Case& what, int method, const SampleLimits& limits, int fd) {
  const RealTime real_time;
  work.bytes = what.bytes;
  work.method = method;
  if (work.pe != 0) {
    follow(work, what);
    return;
  }
  Leader leader(work, what, limits);
  leader.run();
  for (const Side side : {Side::own, Side::rival}) {
    const char* note = side == Side::rival ? kRivalNote : what.note;
    for (auto& [state, samples] : leader.samples(side)) {
      Result result{what.name, work.pes, what.bytes, unit_name(what.unit), state, note, {}};
      result.summary = summarize(samples, high_is_good(what.unit));
      write_line(fd, csv_line(result));
    }
  }
}

constexpr unsigned kLongestCaseSeconds = 60;

inline void serve(Work& work, std::span<const Case> cases, const Options& options) {
  const std::string directory = options.serve_directory;
  const int in = open((directory + "/cmd." + std::to_string(work.pe)).c_str(), O_RDONLY | O_CLOEXEC);
  const int out = work.pe == 0 ? open((directory + "/out").c_str(), O_WRONLY | O_CLOEXEC) : -1;
  if (in < 0 || (work.pe == 0 && out < 0)) die("the driver's pipes do not open");
  if (out >= 0) write_line(out, "ready\n");
  SampleLimits limits = options.limits;
  Request request;
  while (read(in, &request, sizeof request) == sizeof request && request.case_index >= 0) {
    limits.budget_ms = request.budget_ms;
    alarm(kLongestCaseSeconds);  // ends a process that lost its job
    run_case(work, cases[static_cast<std::size_t>(request.case_index)], request.method, limits, out);
    alarm(0);
    if (out >= 0) write_line(out, "end\n");
  }
}

inline void list_cases(std::span<const Case> cases) {
  for (const Case& what : cases)
    std::printf("%s,%zu,%s,%s,%d,%d\n", what.name, what.bytes, unit_name(what.unit), what.note, what.raw_methods,
                what.peer_methods);
}

inline int run_program(int argc, char** argv, std::span<const Case> cases, std::size_t buffer_bytes) {
  Options options = parse_options(argc, argv);
  if (options.list) {
    list_cases(cases);
    return 0;
  }
  if (options.cpus.empty()) options.cpus = usable_cpus();
  Job job(options.pes, 2 * buffer_bytes + sizeof(Shared) + (std::size_t{1} << 16));
  Work work = make_work(job, buffer_bytes);
  work.crowded = job.pes() > std::max(static_cast<long>(options.cpus.size()), sysconf(_SC_NPROCESSORS_ONLN));
  pin(options, job.pe(), job.pes());
  job.sync();
  if (!options.serve_directory.empty()) {
    serve(work, cases, options);
  } else {
    if (job.pe() == 0) write_line(STDOUT_FILENO, std::string(csv_header()) + "\n");
    for (const Case& what : cases)
      if (options.only.empty() || options.only == what.name) run_case(work, what, 0, options.limits, STDOUT_FILENO);
  }
  job.sync();
  return 0;
}

}  // namespace shmemx::bench
