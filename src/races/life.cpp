#include "races/life.hpp"

#include <dlfcn.h>
#include <pshmem.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/fatal.hpp"
#include "races/report.hpp"
#include "races/requests.hpp"
#include "races/team.hpp"

namespace shmemx::races {
namespace {

constexpr int kStatus = 66;

int n_starts = 0;

// The program's status stays if it is not 0.
void leave_process(int status, void*) noexcept {
  if (n_reports() == 0) return;
  print_summary();
  if (status != 0) return;
  std::fflush(nullptr);
  ::_exit(kStatus);
}

// A child of fork is no PE.
void stop_in_child() noexcept {
  become(nullptr);
  is_internal = true;
}

[[gnu::constructor]] void prepare() noexcept {
  memory_map.open();
  marks.open();
  ::on_exit(leave_process, nullptr);  // first, so that it runs last
  ::pthread_atfork(nullptr, nullptr, stop_in_child);
}

}  // namespace

StartOfLibrary::StartOfLibrary() noexcept : was_internal_(is_internal) { is_internal = true; }
StartOfLibrary::~StartOfLibrary() { is_internal = was_internal_; }

void begin_watching() noexcept {
  if (n_starts++ != 0) return;
  if (!job.open()) {
    if (pshmem_my_pe() == 0)
      warn("-fshmem-races: the PEs are not on one machine or are more than %d, so no races are looked for", kMostPes);
    return;
  }
  memory_map.forget();
  become(make_first_thread());
}

void end_watching() noexcept {
  if (--n_starts != 0) return;
  job.close();
  become(nullptr);
  forget_contexts();
  forget_teams();
  forget_requests();
}

void* next_definition(const char* name) noexcept { return ::dlsym(RTLD_NEXT, name); }

}  // namespace shmemx::races
