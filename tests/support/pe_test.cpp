#include "pe_test.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace pe_test {
namespace {

constexpr int kMaxReports = 20;  // of one PE; further failures are only counted

Case* first_case = nullptr;
Case** last_link = &first_case;
const char* current_case = "(before the first case)";
thread_local std::string current_note;
std::atomic<long> check_count{0};
std::atomic<int> failure_count{0};

}  // namespace

Registrar::Registrar(const char* name, int min_pes, void (*run)()) : entry{name, min_pes, run, nullptr} {
  *last_link = &entry;
  last_link = &entry.next;
}

Note::Note(std::string text) : previous_(current_note) {
  current_note = previous_.empty() ? std::move(text) : previous_ + ", " + text;
}

Note::~Note() { current_note = previous_; }

void count_check() noexcept { check_count.fetch_add(1, std::memory_order_relaxed); }

void report_failure(const char* file, int line, const std::string& text) {
  if (failure_count.fetch_add(1) >= kMaxReports) return;
  const char* base = std::strrchr(file, '/');
  std::fprintf(stderr, "%s:%d: [pe %d/%d] case %s%s%s: %s\n", base ? base + 1 : file, line, me(), pes(), current_case,
               current_note.empty() ? "" : ", ", current_note.c_str(), text.c_str());
}

bool check_true(bool ok, const char* expression, const char* file, int line) {
  count_check();
  if (!ok) report_failure(file, line, std::string(expression) + " is false");
  return ok;
}

int run_all(const char* area, const char* filter) {
  int ran = 0;
  int skipped = 0;
  const bool verbose = std::getenv("SHMEMX_TEST_VERBOSE") != nullptr;
  const char* const left_out = std::getenv("SHMEMX_TEST_WITHOUT");
  for (Case* c = first_case; c != nullptr; c = c->next) {
    if (filter != nullptr && std::strstr(c->name, filter) == nullptr) continue;
    if (left_out != nullptr && std::strstr(c->name, left_out) != nullptr) continue;
    if (pes() < c->min_pes) {
      ++skipped;
      continue;
    }
    current_case = c->name;
    const long checks_before = check_count.load();
    const double start = now();
    shmem_barrier_all();
    c->run();
    shmem_barrier_all();
    ++ran;
    if (me() == 0 && check_count.load() == checks_before) report_failure(c->name, 0, "the case checked nothing");
    if (me() == 0 && verbose) {
      std::fprintf(stderr, "  %-60s %8.3f s, %ld checks\n", c->name, now() - start, check_count.load() - checks_before);
    }
  }
  if (ran == 0 && skipped == 0) report_failure(area, 0, "no case matches the filter");
  if (me() == 0) {
    std::printf("%s: %d PEs, %d cases run, %d need more PEs, %ld checks on PE 0, %d failed there\n", area, pes(), ran,
                skipped, check_count.load(), failure_count.load());
    std::fflush(stdout);
  }
  return failure_count.load();
}

double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

double stress_seconds(double fallback) {
  const char* text = std::getenv("SHMEMX_TEST_SECONDS");
  return text != nullptr ? std::atof(text) : fallback;
}

}  // namespace pe_test
