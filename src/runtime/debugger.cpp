#include "runtime/debugger.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "base/fatal.hpp"
#include "base/small_file.hpp"

namespace shmemx::runtime {
namespace {

constexpr timespec kDebuggerLook{0, 50'000'000};

constinit bool waits_for_debugger = false;

bool is_traced() noexcept {
  constexpr char kTracer[] = "TracerPid:";
  char text[4096];
  if (!read_small_file("/proc/self/status", text)) return false;
  const char* const tracer = std::strstr(text, kTracer);
  return tracer != nullptr && std::atoi(tracer + sizeof kTracer - 1) != 0;
}

// A debugger that attaches stops this process, and sees it in here. It returns once the debugger lets it go on.
void wait_for_debugger() noexcept {
  if (is_traced()) {
    ::raise(SIGTRAP);
    return;
  }
#ifdef PR_SET_PTRACER
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);  // else Yama allows it to parents of this process only
#endif
  char program[1024];
  const ssize_t length = ::readlink("/proc/self/exe", program, sizeof program - 1);
  program[length > 0 ? length : 0] = '\0';
  warn("waits for a debugger: gdb -p %d %s; goes on to its end when that continues it, Ctrl-C ends the job", ::getpid(),
       program);
  while (!is_traced()) ::nanosleep(&kDebuggerLook, nullptr);
}

void trap() noexcept { ::raise(SIGTRAP); }

}  // namespace

void stop_before_the_end(const config::Config& config) noexcept {
  waits_for_debugger = config.attach_on_abort;
  DiagnosticIdentity& who = diagnostic_identity();
  if (config.trap_on_abort) who.stop_for_debugger = trap;
  if (config.attach_on_abort) who.stop_for_debugger = wait_for_debugger;
}

void wait_for_debugger_if_asked() noexcept {
  if (waits_for_debugger) wait_for_debugger();
}

}  // namespace shmemx::runtime
