#include "runtime/crash.hpp"

#include <execinfo.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <string>

#include "base/call_site.hpp"
#include "base/error_line.hpp"
#include "base/fatal.hpp"
#include "runtime/debugger.hpp"
#include "runtime/fault.hpp"

namespace shmemx::runtime {
namespace {

constexpr std::array kCrashSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr int kMostFrames = 64;
constexpr int kMostLooks = 600;  // 3 s
constexpr timespec kLook{0, 5'000'000};

// Set before the handlers are.
std::array<struct sigaction, kCrashSignals.size()> handlers_before;
CrashReports reports = CrashReports::all;
std::atomic_flag has_reported;

std::uintptr_t interrupted_at(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return machine.pc;
#else
  static_cast<void>(machine);
  return 0;
#endif
}

// The calls of a thread, from the one that was interrupted on.
struct Calls {
  void* all[kMostFrames];
  int first = 0;
  int count = 0;

  explicit Calls(std::uintptr_t interrupted) : count(::backtrace(all, kMostFrames)) {
    while (first < count && reinterpret_cast<std::uintptr_t>(all[first]) != interrupted) ++first;
    if (first == count) first = 0;
  }
};

void print_fault(const siginfo_t& info, const Calls& calls, const std::string& executable) {
  const std::string text = fault_text(info, calls.all + calls.first, calls.count - calls.first, executable);
  if (!text.empty()) print_error("%s.", text.c_str());
}

void print_calls(int number, const siginfo_t& info, const Calls& calls, const std::string& executable) {
  const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(calls.all[calls.first]);
  const bool is_fault = info.si_code > 0 && number != SIGABRT;
  char address[48] = "";
  if (is_fault) std::snprintf(address, sizeof address, " at address %p", info.si_addr);
  warn("signal %d (%s)%s; the calls, innermost first:", number, ::strsignal(number), address);
  for (int i = calls.first; i < calls.count;) {
    const auto frame = reinterpret_cast<std::uintptr_t>(calls.all[i]);
    const std::string text = frame_text(executable, frame - (frame == at ? 0 : 1));
    const int begin = i;
    while (++i < calls.count && calls.all[i] == calls.all[begin]) {
    }
    warn(i == begin + 1 ? "  %s" : "  %s, %d times", text.c_str(), i - begin);
  }
}

void print_report(int number, const siginfo_t& info, const void* context) {
  const Calls calls(interrupted_at(context));
  const std::string executable = "/proc/" + std::to_string(::getppid()) + "/exe";
  print_fault(info, calls, executable);
  if (reports == CrashReports::all) print_calls(number, info, calls, executable);
}

// The report is made by a child, as this process may have died inside malloc, or its memory may be broken. It is made
// by the system call, so no handler of fork runs.
void report(int number, const siginfo_t& info, const void* context) {
  const auto child = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (child == 0) {
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    for (const int one : kCrashSignals) ::sigaction(one, &standard, nullptr);
    print_report(number, info, context);
    ::_exit(0);
  }
  if (child < 0) return;
  for (int i = 0; i < kMostLooks; ++i) {
    if (::waitpid(child, nullptr, WNOHANG) != 0) return;
    ::nanosleep(&kLook, nullptr);
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

// A fault happens again when this returns, and meets the handler that was there before. A signal that was sent does
// not.
void handle_crash(int number, siginfo_t* info, void* context) {
  if (!has_reported.test_and_set()) report(number, *info, context);
  if (reports == CrashReports::all) wait_for_debugger_if_asked();
  for (std::size_t i = 0; i < kCrashSignals.size(); ++i) {
    if (kCrashSignals[i] == number) ::sigaction(number, &handlers_before[i], nullptr);
  }
  if (info->si_code <= 0) ::raise(number);
}

}  // namespace

void report_crashes(CrashReports which) noexcept {
  constexpr std::size_t kStackBytes = std::size_t{64} << 10;
  static std::array<std::byte, kStackBytes> stack;
  static bool is_installed = false;
  if (is_installed) return;
  is_installed = true;
  reports = which;
  void* frame = nullptr;
  ::backtrace(&frame, 1);  // loads the unwinder now: later may be too late
  stack_t now{};
  const bool has_stack = ::sigaltstack(nullptr, &now) == 0 && (now.ss_flags & SS_DISABLE) == 0;
  const stack_t own{stack.data(), 0, stack.size()};
  if (!has_stack) ::sigaltstack(&own, nullptr);  // of this thread: its stack may have overflown
  struct sigaction action {};
  action.sa_sigaction = handle_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&action.sa_mask);
  const std::size_t n = which == CrashReports::all ? kCrashSignals.size() : 1;
  for (std::size_t i = 0; i < n; ++i) ::sigaction(kCrashSignals[i], &action, &handlers_before[i]);
}

}  // namespace shmemx::runtime
