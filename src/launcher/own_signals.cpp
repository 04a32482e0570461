#include "own_signals.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

namespace shmemx::launcher {
namespace {

bool is_ignored(int signal_number) {
  struct sigaction action {};
  return ::sigaction(signal_number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

OwnSignals::OwnSignals() {
  ::signal(SIGCHLD, SIG_DFL);  // if SIGCHLD stays ignored, the exit status of PEs is lost
  sigset_t taken;
  ::sigemptyset(&taken);
  for (int number :
       {SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT, SIGWINCH, SIGPIPE, SIGTTIN})
    ::sigaddset(&taken, number);
  if (is_ignored(SIGHUP))
    ::sigdelset(&taken, SIGHUP);  // started by nohup; a blocked signal would be delivered to signalfd all the same
  ::sigemptyset(&ignored_keys_);
  for (int number : {SIGINT, SIGQUIT, SIGTSTP}) {
    if (is_ignored(number)) ::sigaddset(&ignored_keys_, number);
  }
  ::sigprocmask(SIG_BLOCK, &taken, &before_);
  // Only blocked, so that a missing reader, or a terminal that others read, appears as an error of write or read.
  ::sigdelset(&taken, SIGPIPE);
  ::sigdelset(&taken, SIGTTIN);
  fd_ = UniqueFd(::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
}

std::optional<OwnSignals::Signal> OwnSignals::next() {
  signalfd_siginfo info{};
  while (::read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    const int number = static_cast<int>(info.ssi_signo);
    const bool by_key = info.ssi_code == SI_KERNEL;
    if (!by_key || ::sigismember(&ignored_keys_, number) != 1) return Signal{number, by_key};
  }
  return std::nullopt;
}

void OwnSignals::keep_ending_ones() {
  sigset_t ends;
  ::sigemptyset(&ends);
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::sigaddset(&ends, number);
  ::signalfd(fd_.get(), &ends, SFD_CLOEXEC | SFD_NONBLOCK);
}

void OwnSignals::stop_oshrun(bool by_key) {
  sigset_t stops;
  ::sigemptyset(&stops);
  ::sigaddset(&stops, SIGTSTP);
  if (by_key) ::sigprocmask(SIG_UNBLOCK, &stops, nullptr);
  ::kill(::getpid(), by_key ? SIGTSTP : SIGSTOP);  // returns here when the shell continues oshrun
  ::sigprocmask(SIG_BLOCK, &stops, nullptr);
}

}  // namespace shmemx::launcher
