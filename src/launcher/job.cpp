#include "job.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/host_name.hpp"

namespace shmemx::launcher {

using bootstrap::JobState;
using bootstrap::PePhase;

namespace {

constexpr long kGraceMs = 800;          // from SIGTERM to SIGKILL: within two seconds of a death all PEs are gone
constexpr long kForwardGraceMs = 1500;  // the same for a signal from outside, which programs may handle
constexpr long kCheckMs = 500;
constexpr int kNotFoundStatus = 127;  // of shells, and of the dynamic linker

// Describes how a process ended. `cause` tells why the kernel killed it or one of its children, if known.
std::string describe_death(int status, const std::string& cause) {
  if (!WIFSIGNALED(status)) {
    return "exited with status " + std::to_string(WEXITSTATUS(status)) +
           (cause.empty() ? "" : " (its program was killed " + cause + ")");
  }
  const int number = WTERMSIG(status);
  const std::string core = WCOREDUMP(status) ? ", core dumped" : "";
  return "died of signal " + std::to_string(number) + " (" + ::strsignal(number) + (cause.empty() ? "" : " " + cause) +
         core + ")";
}

std::string name_pe(int pe, pid_t pid) {
  return "pe " + std::to_string(pe) + " (pid " + std::to_string(pid) + ", host " + host_name().text + ")";
}

}  // namespace

Result<std::unique_ptr<Job>> Job::create(JobSpec spec) {
  const int n_pes = spec.total_pes();
  if (n_pes > bootstrap::kMaxNodePes)
    return Error{Errc::invalid_argument, 0,
                 std::to_string(n_pes) + " PEs requested on this machine, allowed are 1.." +
                     std::to_string(bootstrap::kMaxNodePes)};
  // The guard starts first, so that it inherits almost nothing.
  SHMEMX_TRY_ASSIGN(guard, Guard::start(static_cast<std::size_t>(n_pes)));
  SHMEMX_TRY_ASSIGN(records, Records::create(n_pes));
  std::unique_ptr<Job> job(new Job(std::move(spec), std::move(records), std::move(guard)));
  if (!job->signals_.valid()) return system_error("open a signalfd");
  if (!job->starter_.valid()) return system_error("open /dev/null");
  return job;
}

Job::Job(JobSpec spec, Records records, Guard guard)
    : Supervisor(std::move(guard), spec.total_pes()),
      spec_(std::move(spec)),
      records_(std::move(records)),
      binding_(spec_.bind, processes_.size()),
      starter_({spec_, records_, signals_, binding_, processes_, output_}) {}

int Job::run() {
  begin_limit(spec_);
  binding_.announce(spec_, output_);
  if (const int failed = starter_.start_all(); failed != 0) end_job(failed);
  deadlines_.check_ms = now_ms() + kCheckMs;
  watch();
  note_absence();
  return status_ != 0 ? status_ : output_.lost_status();
}

// SIGQUIT asks what the PEs do, and changes nothing. So does the first SIGINT from the terminal, before it ends them:
// who presses Ctrl-C often does so because nothing moves. A job of other programs just gets them.
void Job::forward_signal(int number, bool by_key) {
  const bool has_status = state_ == State::running && records_.has_joined_pes();
  if (number == SIGQUIT && has_status) return say_status();
  if (number == SIGINT && !spec_.inspection.gdb_pes.empty() && state_ == State::running) return interrupt_debugged();
  if (number == SIGINT && by_key && has_status && fatal_signal_ == 0 && !spec_.quiet) say_status();
  processes_.signal_all(number);
  if (number == SIGUSR1 || number == SIGUSR2) return;
  processes_.signal_all(SIGCONT);                         // a stopped PE must receive the signal too
  if (fatal_signal_ != 0) deadlines_.kill_ms = now_ms();  // the second signal: kill at once
  if (fatal_signal_ == 0 && state_ != State::ending) deadlines_.kill_ms = now_ms() + kForwardGraceMs;
  fatal_signal_ = number;
}

// Ctrl-C makes the debuggers stop their programs, as without oshrun.
void Job::interrupt_debugged() {
  for (const int pe : processes_.living()) {
    if (spec_.inspection.is_debugged(pe)) processes_.signal(pe, SIGINT);
  }
}

void Job::on_exit(const Processes::Ended& ended) {
  if (ended.pe == spec_.inspection.reader()) output_.terminal().set_reader(0);
  if (state_ == State::ending) return;
  if (follow_job_end()) return;
  if (fatal_signal_ != 0) {
    if (status_ == 0) status_ = status_code(ended.status);
    return;
  }
  if (ended.status != 0) return fail(ended);
  if (spec_.inspection.is_debugged(ended.pe) && check_debugged(ended.pe)) return;
  processes_.note_success(ended.pe);
}

// Ends the job if the debugger of a PE has ended before the program has. Returns false if it has not.
bool Job::check_debugged(int pe) {
  if (records_.phase(pe) == PePhase::finalized || !records_.has_joined_pes()) return false;
  output_.say("the debugger of pe " + std::to_string(pe) +
              " has ended, and its program before shmem_finalize; job ended");
  end_job(1);
  return true;
}

// Ends the job with the status in the job header, if a PE has written one. Returns false if none has.
bool Job::follow_job_end() {
  const bootstrap::JobEnd end = records_.job_end();
  if (end.state == JobState::running) return false;
  end_job(end.state == JobState::aborted ? std::max(end.status, 1) : end.status, end.pe);
  return true;
}

// Handles a PE that ended the job but does not end itself: an exit handler of the program does not return, or a lock
// is never released.
void Job::check_ended() {
  if (records_.job_end().state == JobState::running) return;
  if (state_ == State::end_seen) {
    follow_job_end();
  } else {
    state_ = State::end_seen;
  }
}

// Ends the job because of a PE's status. After shmem_finalize the status still counts, but the other PEs may end by
// themselves.
void Job::fail(const Processes::Ended& ended) {
  const std::string who = name_pe(ended.pe, ended.pid) + " " + describe_death(ended.status, ended.memory_kill);
  if (WIFEXITED(ended.status) && records_.phase(ended.pe) == PePhase::finalized) {
    if (status_ == 0) status_ = status_code(ended.status);
    if (!late_failure_said_) output_.say(who + " after shmem_finalize");
    late_failure_said_ = true;
    return;
  }
  const std::string routine = records_.routine(ended.pe);
  output_.say(who + (routine.empty() ? "" : " while waiting in " + routine) + "; job ended");
  say_likely_cause(ended);
  say_waiting(processes_.living());
  end_job(status_ != 0 ? status_ : status_code(ended.status));
}

void Job::on_clock() {
  const long now = now_ms();
  if (Deadlines::is_due(deadlines_.limit_ms, now) && processes_.running() > 0 && state_ != State::ending) {
    output_.say("time limit of " + limit_text(spec_) + " s reached with " + std::to_string(processes_.running()) +
                " of " + std::to_string(processes_.size()) + " PEs running; job ended");
    say_status();
    end_job(kTimeoutStatus);
  }
  if (state_ == State::ending) deadlines_.limit_ms = deadlines_.check_ms = -1;
  if (Deadlines::is_due(deadlines_.kill_ms, now)) {
    processes_.signal_all(SIGKILL);
    deadlines_.kill_ms = -1;
    if (fatal_signal_ != 0 && status_ == 0) status_ = 128 + fatal_signal_;
  }
  if (Deadlines::is_due(deadlines_.check_ms, now)) {
    check_ended();
    if (state_ != State::ending) check_stuck();
    deadlines_.check_ms = state_ == State::ending ? -1 : now + kCheckMs;
  }
}

// Ends the job if PEs ended with status 0 and never came to shmem_init, while others wait for them there. All other
// waits are the business of the PEs, which know whether anything can still move (bootstrap/stuck.hpp).
void Job::check_stuck() {
  std::vector<int> absent;
  std::vector<int> waiting;
  for (int pe = 0; pe < processes_.size(); ++pe) {
    if (processes_.has_succeeded(pe) && records_.phase(pe) == PePhase::none) absent.push_back(pe);
  }
  if (absent.empty()) return;
  for (int pe : processes_.living()) {
    if (records_.waits_in_init(pe)) waiting.push_back(pe);
  }
  if (waiting.empty()) return;
  output_.say("pe " + bootstrap::list_pes(absent) + " (host " + host_name().text +
              ") ended with status 0 without calling shmem_init, but others wait for it: " +
              records_.describe_waiting(waiting) + "; job ended");
  end_job(1);
}

// The PE that ended the job may still be writing its diagnostic or output. It ends by itself, or is killed after the
// grace period.
void Job::end_job(int status, int ended_by) {
  if (state_ == State::ending) return;
  state_ = State::ending;
  status_ = status;
  deadlines_.kill_ms = now_ms() + kGraceMs;
  for (int pe : processes_.living()) {
    if (pe != ended_by) processes_.signal(pe, SIGTERM);
  }
  processes_.signal_all(SIGCONT);
}

// Notes that no process joined the job: a program built with another library, or started by another launcher inside
// this job, runs as that many jobs of one PE.
void Job::note_absence() {
  const int n_pes = processes_.size();
  if (spec_.quiet || n_pes < 2 || status_ != 0 || fatal_signal_ != 0) return;
  if (records_.has_joined_pes()) return;
  output_.say("info: none of the " + std::to_string(n_pes) +
              " PEs joined the job by shmem_init; an OpenSHMEM program joins it if it is built with this library's "
              "oshcc and no other launcher starts it (-q leaves this line out)");
}

// What a user of that PE would look for first.
void Job::say_likely_cause(const Processes::Ended& ended) {
  const std::string who = "pe " + std::to_string(ended.pe) + ": ";
  const int signal = WIFSIGNALED(ended.status) ? WTERMSIG(ended.status) : 0;
  const std::string refused = records_.refused_allocation(ended.pe);
  const std::string no_pointer = records_.refused_pointer(ended.pe);
  for (const std::string& cause : {refused, no_pointer}) {
    if ((signal == SIGSEGV || signal == SIGBUS) && !cause.empty()) output_.say(who + cause);
  }
  if (signal == SIGABRT && records_.has_symmetric_blocks(ended.pe) && !spec_.quiet)
    output_.say(who +
                "info: if the C library has ended it in free or realloc: memory of shmem_malloc is for shmem_free and "
                "shmem_realloc; SHMEM_CHECK=1 names the call (-q leaves this line out)");
  const bool has_crashed =
      signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL || signal == SIGABRT;
  if (has_crashed && records_.phase(ended.pe) != PePhase::none && !spec_.quiet &&
      std::getenv("SHMEM_BACKTRACE") == nullptr)
    output_.say("info: SHMEM_BACKTRACE=1 shows the calls that led there (-q leaves this line out)");
  const char* const trace = std::getenv("SHMEM_TRACE");
  if (trace != nullptr && records_.phase(ended.pe) != PePhase::none && !spec_.quiet)
    output_.say("info: shmem_trace_join " + std::string(trace) +
                " shows the last calls of all PEs (-q leaves this line out)");
  if (WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == kNotFoundStatus && !records_.has_joined_pes())
    output_.say(who +
                "status 127 says that the program, or a shared library of it, was not found; a program that was not "
                "linked by oshcc needs the library's directory in LD_LIBRARY_PATH");
}

void Job::say_status() {
  for (const std::string& line : records_.status_lines()) output_.say(line);
}

void Job::say_waiting(const std::vector<int>& pes) {
  if (const std::string waiting = records_.describe_waiting(pes); !waiting.empty())
    output_.say("waiting were: " + waiting);
}

}  // namespace shmemx::launcher
