#include "races/report.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>
#include <string>
#include <vector>

#include "base/call_site.hpp"
#include "base/host_name.hpp"
#include "base/object_name.hpp"
#include "races/blocks.hpp"

namespace shmemx::races {
namespace {

constexpr std::uint32_t kMostReports = 1024;  // of a job
constexpr std::size_t kMostCalls = 8;         // shown of a stack

std::atomic<std::uint32_t> n_found{0};
std::atomic<std::uint32_t> n_printed{0};

// Where one side stands: the routine of the library, if it is one, and the return addresses from the innermost call on.
struct Stack {
  const char* routine = nullptr;
  std::vector<std::uint32_t> sites;
};

Stack stack_of(const Where& where) {
  Stack stack;
  if (where.pc != 0) stack.sites.push_back(where.pc);
  for (std::uint32_t node = where.node; node != 0 && stack.sites.size() < kMostCalls;) {
    const Call call = job.calls().at(node);
    if (call.routine != 0) stack.routine = routine_text(call.routine);
    if (call.site != 0) stack.sites.push_back(call.site);
    node = call.parent;
  }
  return stack;
}

std::uint64_t place_number(const Where& where) noexcept {
  if (where.pc != 0) return where.pc;
  const Call call = job.calls().at(where.node);
  return std::uint64_t{call.routine} << 32 | call.site;
}

// Notes the pair of places. Returns false if the job knows it, or has enough reports.
bool is_new_pair(const Race& race) noexcept {
  std::uint64_t a = place_number(race.later.where);
  std::uint64_t b = place_number(race.earlier.where);
  if (a > b) std::swap(a, b);
  const std::uint64_t pair = (a * 0x9e3779b97f4a7c15U) ^ std::rotl(b, 21);
  JobHeader& header = job.header();
  const std::lock_guard guard(header.reports_lock);
  if (header.n_reports == kMostReports) return false;
  std::uint64_t* const end = header.reports + header.n_reports;
  if (std::find(header.reports, end, pair) != end) return false;
  header.reports[header.n_reports++] = pair;
  return true;
}

// Texts of all sites, by one run of addr2line.
std::vector<std::string> texts_of(const Stack& a, const Stack& b) {
  std::vector<std::uintptr_t> addresses;
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(executable_begin()) - load_bias();
  for (const Stack* const stack : {&a, &b}) {
    for (const std::uint32_t site : stack->sites) addresses.push_back(begin + site - 1);
  }
  return call_site_texts("/proc/" + std::to_string(::getpid()) + "/exe", addresses);
}

std::string in_bytes(std::uint64_t bytes) { return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes"); }

std::string who(const SlotOwner& owner) {
  std::string text = "PE " + std::to_string(owner.pe);
  if (owner.component == Component::thread && owner.thread != 0) text += ", thread " + std::to_string(owner.thread);
  return text;
}

// Returns "shmem_long_put by PE 0, 8 bytes" or "load by PE 1, 4 bytes".
std::string access_text(const Access& access, const Stack& stack) {
  const SlotOwner& owner = job.owner_of(access.stamp.slot);
  const char* const plain = is_store(access.kind) ? "store" : "load";
  const bool is_atomic = access.kind == Kind::atomic_load || access.kind == Kind::atomic_update;
  std::string text = stack.routine != nullptr
                         ? std::string(stack.routine) + (is_store(access.kind) ? " (stores)" : " (loads)")
                         : std::string(is_atomic ? "atomic " : "") + plain;
  return text + " by " + who(owner) + ", " + in_bytes(static_cast<unsigned>(std::popcount(access.bytes)));
}

void add_stack(std::string& text, const std::vector<std::string>& places, std::size_t first, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& place = places[first + i];
    text += i == 0 ? " at " : "\n      called at ";
    text += place.empty() ? "an unknown place" : place;
    if (place.rfind("main ", 0) == 0) break;
  }
  text += "\n";
}

std::string position(std::uint64_t offset, const std::string& object) {
  return (offset == 0 ? "at the begin of " : in_bytes(offset) + " into ") + object;
}

std::string heap_text(const Symmetric& place) {
  HeapBlock block{};
  if (!find_block(place.offset, block)) return "in the symmetric heap";
  const Stack stack = stack_of(block.allocated);
  const std::vector<std::string> texts = texts_of(stack, {});
  std::string text = position(place.offset - block.begin, "a symmetric block of " + in_bytes(block.bytes));
  if (stack.routine != nullptr) text += std::string(" from ") + stack.routine;
  if (!texts.empty() && !texts[0].empty()) text += " at " + texts[0];
  return text;
}

std::string object_text(const Race& race) {
  Symmetric place{};
  if (!job.locate_cell(&race.cell, place)) {
    const NamedObject object = variable_at(race.address);
    if (object.name.empty()) return "in private memory of PE " + std::to_string(job.my_pe());
    return position(race.address - object.begin, "'" + object.name + "' of PE " + std::to_string(job.my_pe()));
  }
  place.offset += race.address % 8;
  const std::string of_pe = ", of PE " + std::to_string(place.pe);
  if (place.window == Window::heap) return heap_text(place) + of_pe;
  const auto own = reinterpret_cast<std::uintptr_t>(job.own_address(place));
  const NamedObject object = variable_at(own);
  if (object.name.empty()) return "in static data" + of_pe;
  return position(own - object.begin, "'" + object.name + "'") + of_pe;
}

std::string remedy(const Race& race) {
  const SlotOwner& a = job.owner_of(race.later.stamp.slot);
  const SlotOwner& b = job.owner_of(race.earlier.stamp.slot);
  const SlotOwner& open = b.component != Component::thread ? b : a;
  const std::string initiator = "PE " + std::to_string(open.pe);
  const auto is_atomic = [](Kind kind) { return kind == Kind::atomic_load || kind == Kind::atomic_update; };
  if (is_atomic(race.later.kind) != is_atomic(race.earlier.kind) && a.component == Component::thread &&
      b.component == Component::thread)
    return "atomic only with other atomic routines: use one for both, or synchronise between them";
  if (open.component == Component::fetches)
    return "shmem_quiet of " + initiator + " between them, as the operation uses both buffers until then";
  if (open.component == Component::requests)
    return "completion by " + initiator + " between them, as by shmemx_wait: the operation uses its buffers until then";
  if (open.component == Component::deliveries && a.pe == b.pe && a.component == b.component)
    return "shmem_fence or shmem_quiet of " + initiator + " between them";
  if (open.component == Component::deliveries && a.pe == b.pe) return "shmem_quiet of " + initiator + " between them";
  if (open.component == Component::deliveries)
    return "shmem_quiet of " + initiator +
           " after its operation and a synchronisation of both PEs, as shmem_barrier_all is";
  if (a.pe == b.pe) return "a lock, a barrier or a join of the threads";
  return "a barrier, or a signal or flag of the one PE for which the other waits";
}

std::string text_of(const Race& race) {
  const Stack later = stack_of(race.later.where);
  const Stack earlier = stack_of(race.earlier.where);
  const std::vector<std::string> places = texts_of(later, earlier);
  std::string text = "[pe " + std::to_string(job.my_pe()) + "/" + std::to_string(job.n_pes()) + " " + host_name().text +
                     "] data race " + object_text(race) + ":\n    " + access_text(race.later, later);
  add_stack(text, places, 0, later.sites.size());
  text += "    " + access_text(race.earlier, earlier);
  add_stack(text, places, later.sites.size(), earlier.sites.size());
  return text + "    missing: " + remedy(race) + "\n";
}

void print(const std::string& text) noexcept {
  // A single write keeps reports of several PEs apart.
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

}  // namespace

void report(Thread& thread, const Race& race) noexcept {
  n_found.fetch_add(1, std::memory_order_relaxed);  // a statistic
  if (!is_new_pair(race)) return;
  ++thread.in_library;
  print(text_of(race));
  --thread.in_library;
  n_printed.fetch_add(1, std::memory_order_relaxed);
}

std::uint32_t n_reports() noexcept { return n_found.load(std::memory_order_relaxed); }

void print_summary() noexcept {
  const std::uint32_t n = n_printed.load(std::memory_order_relaxed);
  const std::string found = n == 0 ? std::string("other PEs have reported what it found")
                                   : std::to_string(n) + (n == 1 ? " report" : " reports") + " by this PE";
  print("[pe " + std::to_string(job.my_pe()) + "/" + std::to_string(job.n_pes()) + " " + host_name().text +
        "] shmemx warning: the program has data races: " + found + "\n");
}

}  // namespace shmemx::races
