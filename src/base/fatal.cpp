#include "base/fatal.hpp"

#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/call_site.hpp"
#include "base/colour.hpp"
#include "base/error_line.hpp"
#include "base/host_name.hpp"
#include "base/streams.hpp"

namespace shmemx {
namespace {

constexpr int kLineBytes = 1024;
constexpr int kFatalStatus = 1;

int put_prefix(char* line, const char* code) {
  const DiagnosticIdentity& who = diagnostic_identity();
  if (who.pe < 0) return 0;
  const Colour colour(STDERR_FILENO, code);
  return std::snprintf(line, kLineBytes, "%s[pe %d/%d %s]%s ", colour.begin, who.pe, who.n_pes, host_name().text,
                       colour.end);
}

int put_text(char* line, int used, const char* format, std::va_list arguments) {
  const int wanted = std::vsnprintf(line + used, static_cast<std::size_t>(kLineBytes - used), format, arguments);
  return used + wanted < kLineBytes ? used + wanted : kLineBytes - 1;
}

[[gnu::format(printf, 3, 4)]] int put_formatted(char* line, int used, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  used = put_text(line, used, format, arguments);
  va_end(arguments);
  return used;
}

void write_line(char* line, int length) {
  if (length > kLineBytes - 2) length = kLineBytes - 2;
  line[length++] = '\n';
  // A single write keeps lines of several PEs apart.
  if (::write(STDERR_FILENO, line, static_cast<std::size_t>(length)) < 0) return;
}

void write_remark(const char* code, const char* kind, const char* format, std::va_list arguments) {
  char line[kLineBytes];
  int used = put_prefix(line, code);
  used = put_formatted(line, used, "%s", kind);
  write_line(line, put_text(line, used, format, arguments));
}

// Returns whether this PE is the first one that ends the job. If it stops for a debugger before, only its report is the
// first.
bool may_end_job() {
  const DiagnosticIdentity& who = diagnostic_identity();
  if (who.stop_for_debugger != nullptr) return claim_report();
  return who.claim_job_end == nullptr || who.claim_job_end(kFatalStatus);
}

// Lets a debugger look at this process for as long as it takes, then ends the job for the launcher.
void stop_for_debugger() {
  const DiagnosticIdentity& who = diagnostic_identity();
  if (who.stop_for_debugger == nullptr) return;
  who.stop_for_debugger();
  if (who.claim_job_end != nullptr) who.claim_job_end(kFatalStatus);
}

// Waits until the launcher kills this process: another PE has ended the job and is printing its line, or shows itself
// to a debugger.
[[noreturn]] void wait_for_the_end() {
  const timespec pause{1, 0};
  do {
    ::nanosleep(&pause, nullptr);
  } while (diagnostic_identity().stop_for_debugger != nullptr);
  ::_exit(kFatalStatus);
}

[[noreturn]] void end_with_line(const char* routine, const char* places, const char* format, std::va_list arguments) {
  const DiagnosticIdentity& who = diagnostic_identity();
  if (!may_end_job()) wait_for_the_end();
  char line[kLineBytes];
  int used = put_prefix(line, kRed);
  if (routine != nullptr) used = put_formatted(line, used, "%s: ", routine);
  used = put_text(line, used, format, arguments);
  if (*places != '\0') used = put_formatted(line, used, "; called at %s", places);
  used = put_formatted(line, used, "%s", who.pid == 0 || who.pid == ::getpid() ? ". Job ended." : ". Process ended.");
  flush_standard_streams();
  write_line(line, used);
  stop_for_debugger();
  if (who.end_job != nullptr) who.end_job(kFatalStatus);
  ::_exit(kFatalStatus);
}

}  // namespace

DiagnosticIdentity& diagnostic_identity() noexcept {
  static constinit DiagnosticIdentity identity;
  return identity;
}

bool claim_report() noexcept {
  const DiagnosticIdentity& who = diagnostic_identity();
  return who.claim_report == nullptr || who.claim_report();
}

void fatal(const char* routine, const char* format, ...) noexcept {
  std::string place;
  if (claim_report()) place = call_site_text("/proc/" + std::to_string(::getpid()) + "/exe", call_site());
  std::va_list arguments;
  va_start(arguments, format);
  end_with_line(routine, place.c_str(), format, arguments);
}

void fatal_at(const char* places, const char* format, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, format);
  end_with_line(nullptr, places, format, arguments);
}

void end_process(const char* format, ...) noexcept {
  char line[kLineBytes];
  int used = put_prefix(line, kRed);
  std::va_list arguments;
  va_start(arguments, format);
  used = put_text(line, used, format, arguments);
  va_end(arguments);
  used = put_formatted(line, used, "%s", ". Process ended.");
  write_line(line, used);
  ::_exit(kFatalStatus);
}

void print_error(const char* format, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, format);
  write_remark(kRed, "", format, arguments);
  va_end(arguments);
}

void warn(const char* format, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, format);
  write_remark(kYellow, "shmemx warning: ", format, arguments);
  va_end(arguments);
}

void debug_line(const char* format, ...) noexcept {
  if (!diagnostic_identity().debug) return;
  std::va_list arguments;
  va_start(arguments, format);
  write_remark(kBold, "shmemx: ", format, arguments);
  va_end(arguments);
}

}  // namespace shmemx
