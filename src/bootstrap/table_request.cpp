#include "bootstrap/table_request.hpp"

#include <time.h>

#include <algorithm>
#include <cstring>

#include "base/clock.hpp"

namespace shmemx::bootstrap {
namespace {

constexpr std::uint64_t kTakeMs = 3000;   // threads for messages of PEs that compute look every two seconds
constexpr std::uint64_t kMakeMs = 10000;  // PEs of other hosts have a second, and places of calls take some time

std::atomic_ref<char> shared(char& at) { return std::atomic_ref(at); }

// Waits until the counter has come to `number`.
bool await(const std::atomic<std::uint32_t>& counter, std::uint32_t number, std::uint64_t limit_ms) {
  constexpr timespec kPause{0, 5'000'000};
  const std::uint64_t end = coarse_now_ms() + limit_ms;
  while (static_cast<std::int32_t>(counter.load(std::memory_order_acquire) - number) < 0) {  // table
    if (coarse_now_ms() > end) return false;
    ::nanosleep(&kPause, nullptr);
  }
  return true;
}

std::vector<std::string> lines_in(char* text) {
  std::vector<std::string> lines;
  std::string line;
  for (std::size_t i = 0; i < kTableBytes; ++i) {
    const char c = shared(text[i]).load(std::memory_order_relaxed);  // table
    if (c == '\0') break;
    if (c != '\n') {
      line += c < ' ' ? '?' : c;
      continue;
    }
    lines.push_back(std::move(line));
    line.clear();
  }
  return lines;
}

}  // namespace

// Another request may be answered while this one reads: then that answer serves as well.
std::optional<std::vector<std::string>> request_table(JobHeader* header) {
  const std::uint32_t request = header->table_asked.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (!await(header->table_taken, request, kTakeMs)) return {};
  for (std::uint32_t made = request; await(header->table_made, made, kMakeMs);) {
    std::vector<std::string> lines = lines_in(table_text_of(header));
    std::atomic_thread_fence(std::memory_order_acquire);
    made = header->table_taken.load(std::memory_order_relaxed);  // after the fence
    if (header->table_made.load(std::memory_order_relaxed) == made) return lines;
  }
  return {};
}

std::uint32_t take_table_request(JobHeader& header) noexcept {
  std::uint32_t taken = header.table_taken.load(std::memory_order_relaxed);
  const std::uint32_t asked = header.table_asked.load(std::memory_order_acquire);
  if (asked == taken) return 0;
  return header.table_taken.compare_exchange_strong(taken, asked, std::memory_order_acq_rel) ? asked : 0;
}

// Of two requests that are under way at once, the later one serves both processes.
void give_table(JobHeader& header, std::uint32_t request, const std::vector<std::string>& lines) noexcept {
  if (header.table_taken.load(std::memory_order_acquire) != request) return;
  char* const text = table_text_of(&header);
  std::size_t at = 0;
  for (const std::string& line : lines) {
    if (at + line.size() + 2 > kTableBytes) break;
    for (const char c : line) shared(text[at++]).store(c, std::memory_order_relaxed);  // table
    shared(text[at++]).store('\n', std::memory_order_relaxed);                         // table
  }
  shared(text[at]).store('\0', std::memory_order_relaxed);      // table
  header.table_made.store(request, std::memory_order_release);  // table
}

}  // namespace shmemx::bootstrap
