#include "worker.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "tasks.hpp"

namespace shmemx::bench {
namespace {

void pin_to(int cpu) {
  if (cpu < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

void carry_out(Tasks& tasks, const Order& order) {
  switch (order.command) {
    case Command::prepare:
      tasks.prepare(order);
      break;
    case Command::verify:
      tasks.verify(order);
      break;
    case Command::time:
      tasks.time(order);
      break;
    case Command::set_up:
      tasks.set_up(order);
      break;
    case Command::processor:
      tasks.processor(order);
      break;
    case Command::disturb:
      tasks.disturb(order);
      break;
    case Command::help:
      tasks.help(order);
      break;
    case Command::overlap:
      tasks.overlap(order);
      break;
    case Command::finish:
      tasks.finish();
      break;
  }
}

void clear(Outcome& outcome) {
  for (Series& series : outcome.series) series.count = 0;
  outcome.probe_before_ns = outcome.probe_after_ns = 0;
  outcome.checks = outcome.failures = 0;
  outcome.why[0] = 0;
}

bool serve(const WorkerPlace& place, Link& link, std::optional<Tasks>& tasks, const Order& order) {
  char reply = kDone;
  try {
    clear(link.outcome());
    if (!tasks) {
      link.meet();
      tasks.emplace(link, *place.info, *place.arena, place.working_set_bytes);
    }
    carry_out(*tasks, order);
  } catch (const std::exception& error) {
    link.give_up(error.what());
    reply = kFailed;
  }
  return write(place.replies, &reply, 1) == 1 && reply == kDone && order.command != Command::finish;
}

}  // namespace

void run_worker(const WorkerPlace& place) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);           // not SIGKILL, so that libraries can remove their files in /dev/shm
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);  // where Yama restricts it, the other process may still read this one
  pin_to(place.cpu);
  {
    Link link(*place.block, place.socket, place.local, place.crowded);
    std::optional<Tasks> tasks;
    Order order{};
    while (read(place.orders, &order, sizeof order) == static_cast<ssize_t>(sizeof order))
      if (!serve(place, link, tasks, order)) break;
  }
  _exit(0);
}

}  // namespace shmemx::bench
