#include "base/call_site.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/clock.hpp"
#include "base/object_name.hpp"
#include "base/unique_fd.hpp"

extern char** environ;

namespace shmemx {
namespace {

constexpr int kMostFrames = 48;
constexpr std::uint64_t kLookUpNs = 700'000'000;  // of a large program: others wait for the report
constexpr std::size_t kMostText = 200;            // names of templates may be longer than a line

std::string_view file_name(const char* path) {
  const std::string_view whole = path != nullptr ? path : "";
  return whole.substr(whole.rfind('/') + 1);
}

// Functions of this library, where it is linked statically.
bool is_of_library(const std::string& function) {
  return function.starts_with("shmem") || function.starts_with("pshmem") || function.starts_with("_ZN6shmemx") ||
         function.starts_with("_ZNK6shmemx") || function.empty();
}

// Returns "f+0x2a".
std::string with_offset(const std::string& name, std::uintptr_t offset) {
  char text[32];
  std::snprintf(text, sizeof text, "+%#zx", offset);
  return name + text;
}

using Sites = std::vector<std::uintptr_t>;

// Runs addr2line. Returns its output; empty if it is not installed or takes too long.
std::string run_addr2line(const std::string& executable, const Sites& sites, std::uint64_t limit_ns) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  const UniqueFd from(ends[0]);
  UniqueFd to(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, to.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<std::string> words = {"addr2line", "-afiC", "-e", executable};
  for (const std::uintptr_t site : sites) words.push_back(with_offset("", site).substr(1));
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, "addr2line", &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  to.reset();
  if (failed != 0) return {};
  std::string output;
  const std::uint64_t end = now_ns() + limit_ns;
  for (std::uint64_t now = now_ns(); now < end; now = now_ns()) {
    pollfd readable{from.get(), POLLIN, 0};
    if (::poll(&readable, 1, static_cast<int>((end - now) / 1'000'000U) + 1) <= 0) continue;
    char text[512];
    const ssize_t bytes = ::read(from.get(), text, sizeof text);
    if (bytes <= 0) break;
    output.append(text, static_cast<std::size_t>(bytes));
  }
  ::kill(child, SIGKILL);  // it has ended, or takes too long
  ::waitpid(child, nullptr, 0);
  return output;
}

std::string shortened(const std::string& name) {
  return name.size() <= kMostText ? name : name.substr(0, kMostText) + "...";
}

// Returns the line that begins at `at`.
std::string line_at(const std::string& text, std::size_t at) {
  return at < text.size() ? text.substr(at, text.find('\n', at) - at) : std::string();
}

// Takes two lines of addr2line's output from `at` on: "main (ring.c:12)"; empty if they say nothing.
std::string take_pair(const std::string& output, std::size_t& at) {
  const auto take = [&] {
    const std::string line = line_at(output, at);
    at = std::min(output.size(), at + line.size() + 1);
    return line;
  };
  const std::string function = take();
  std::string place = take();
  place = place.substr(0, place.find(" ("));  // a note on discriminators
  if (function.empty() || place.empty() || function.starts_with("??") || place.starts_with("??")) return {};
  return shortened(function) + " (" + std::string(file_name(place.c_str())) + ")";
}

// Takes what addr2line says of a site: its address, a pair of lines, and more of them if that function was inlined.
// Where they say nothing, makes a text of the symbol table.
std::string take_text(const std::string& executable, std::uintptr_t site, const std::string& output, std::size_t& at) {
  constexpr int kMostInlined = 3;  // callers that are shown
  at = std::min(output.size(), at + line_at(output, at).size() + 1);
  std::string text = take_pair(output, at);
  for (int callers = 0; at < output.size() && !line_at(output, at).starts_with("0x"); ++callers) {
    const std::string caller = take_pair(output, at);
    const bool is_known = !caller.empty() && !caller.starts_with("_FUN ");  // what calls a lambda, at the same place
    if (callers < kMostInlined && is_known && !text.empty()) text += ", inlined into " + caller;
  }
  if (!text.empty()) return text;
  const NamedObject symbol = function_at(executable, site);
  if (symbol.name.empty()) return {};
  return with_offset(shortened(demangled(symbol.name)), site - symbol.begin);
}

enum class Owner : std::uint8_t { nobody, library, executable, other };

// Returns whose code it is.
Owner owner_of(std::uintptr_t code) {
  Dl_info own{};
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&owner_of), &own) == 0) return Owner::nobody;
  if (::dladdr(reinterpret_cast<const void*>(code), &info) == 0) return Owner::nobody;
  const void* const executable = executable_begin();
  if (info.dli_fbase != executable)
    return file_name(info.dli_fname).starts_with("libshmemx") ? Owner::library : Owner::other;
  const bool is_linked_in = own.dli_fbase == executable;
  const bool is_own = is_linked_in && is_of_library(function_at("/proc/self/exe", code - load_bias()).name);
  return is_own ? Owner::library : Owner::executable;
}

std::uintptr_t call_site_in(void* const* frames, int count) {
  bool is_inside = false;  // in front of this library's frames there may be those of a sanitizer
  for (int i = 0; i < count; ++i) {
    const auto call = reinterpret_cast<std::uintptr_t>(frames[i]) - 1;  // within the call, not behind it
    const Owner owner = owner_of(call);
    is_inside = is_inside || owner == Owner::library;
    if (owner == Owner::library || owner == Owner::nobody || !is_inside) continue;
    return owner == Owner::executable ? call - load_bias() : 0;
  }
  return 0;
}

}  // namespace

CallStack call_stack() noexcept {
  CallStack stack;
  stack.count = ::backtrace(stack.frames, CallStack::kMost);
  return stack;
}

std::uintptr_t call_site(const CallStack& stack) noexcept { return call_site_in(stack.frames, stack.count); }

std::uintptr_t call_site() noexcept {
  void* frames[kMostFrames];
  return call_site_in(frames, ::backtrace(frames, kMostFrames));
}

int frame_of_caller(void* const* frames, int count) noexcept {
  bool is_inside = false;
  for (int i = 0; i < count; ++i) {
    const Owner owner = owner_of(reinterpret_cast<std::uintptr_t>(frames[i]) - 1);
    const bool is_copy = i == 0 && owner == Owner::other;  // memcpy(), perhaps called by this library
    is_inside = is_inside || owner == Owner::library;
    if (owner != Owner::library && !is_copy) return is_inside ? i : -1;
  }
  return -1;
}

std::uintptr_t call_site_before(const void* address) noexcept {
  const std::uintptr_t call = reinterpret_cast<std::uintptr_t>(address) - 1;
  Dl_info info{};
  if (address == nullptr || ::dladdr(reinterpret_cast<const void*>(call), &info) == 0) return 0;
  return info.dli_fbase == executable_begin() ? call - load_bias() : 0;
}

std::string frame_text(const std::string& executable, std::uintptr_t address) {
  char number[32];
  std::snprintf(number, sizeof number, "%#zx", address);
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(address), &info) == 0) return number;
  if (info.dli_fbase == executable_begin()) {
    const std::string text = call_site_text(executable, address - load_bias());
    return text.empty() ? number : text;
  }
  std::string text(file_name(info.dli_fname));
  const bool is_named = info.dli_sname != nullptr;
  const auto begin = reinterpret_cast<std::uintptr_t>(is_named ? info.dli_saddr : info.dli_fbase);
  if (is_named) text += ", " + shortened(demangled(info.dli_sname));
  return with_offset(text, address - begin);
}

std::string call_site_text(const std::string& executable, std::uintptr_t site) {
  if (site == 0) return {};
  const std::string found = run_addr2line(executable, {site}, kLookUpNs);
  std::size_t at = 0;
  return take_text(executable, site, found, at);
}

std::vector<std::string> call_site_texts(const std::string& executable, const Sites& sites) {
  constexpr std::size_t kSitesOfRun = 512;
  constexpr std::uint64_t kRunNs = 20'000'000'000;
  std::vector<std::string> texts;
  for (std::size_t first = 0; first < sites.size(); first += kSitesOfRun) {
    const auto begin = sites.begin() + static_cast<std::ptrdiff_t>(first);
    const Sites some(begin, begin + static_cast<std::ptrdiff_t>(std::min(kSitesOfRun, sites.size() - first)));
    const std::string found = run_addr2line(executable, some, kRunNs);
    std::size_t at = 0;
    for (const std::uintptr_t site : some) texts.push_back(take_text(executable, site, found, at));
  }
  return texts;
}

}  // namespace shmemx
