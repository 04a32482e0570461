#include "check/leaks.hpp"

#include <algorithm>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/fatal.hpp"
#include "base/hash.hpp"
#include "base/mutex.hpp"
#include "check/blocks.hpp"
#include "check/checks.hpp"
#include "check/report.hpp"

namespace shmemx::check {
namespace {

constexpr std::size_t kMostPlaces = 20;  // each is looked up

struct OpenHandle {
  Handle kind;
  std::uint32_t index;
  Place place;
};

struct OpenHandles {
  Mutex mutex;
  std::vector<OpenHandle> list;
};
// Never destroyed: threads may still use the library while the process exits.
OpenHandles& open_handles() {
  static auto* const instance = new OpenHandles;
  return *instance;
}

enum class Kind : std::uint8_t { block, context, team, lock };

// All of one kind and size that were made at one place.
struct Group {
  Kind kind;
  Place place;
  std::uint64_t bytes;  // of a block
  std::uint64_t count = 1;

  bool joins(const Group& other) const noexcept {
    return kind == other.kind && bytes == other.bytes && place.stack == other.place.stack &&
           std::string_view(place.routine) == other.place.routine;
  }
};
using Groups = std::vector<Group>;

void add(Groups& groups, const Group& one) {
  const auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& group) { return group.joins(one); });
  if (same == groups.end()) {
    groups.push_back(one);
  } else {
    ++same->count;
  }
}

Kind kind_of(Handle handle) {
  if (handle == Handle::lock) return Kind::lock;
  return handle == Handle::team ? Kind::team : Kind::context;
}

Groups find_handles() {
  Groups groups;
  const std::lock_guard guard(open_handles().mutex);
  for (const OpenHandle& open : open_handles().list) add(groups, {kind_of(open.kind), open.place, 0});
  return groups;
}

Groups find_leaks(LeakScope scope) {
  Groups groups;
  const auto add_block = [](void* all, std::uint64_t bytes, const Place& place) {
    add(*static_cast<Groups*>(all), {Kind::block, place, bytes});
  };
  if (scope.blocks) for_each_live_block(add_block, &groups);
  for (const Group& group : find_handles()) {
    if (scope.contexts || group.kind != Kind::context) groups.push_back(group);
  }
  return groups;
}

// A compiler may make several calls of one line.
struct Line {
  Group group;
  std::string place;
};
std::vector<Line> lines_of(const Groups& groups) {
  std::vector<Line> lines;
  for (const Group& group : groups) {
    const Line line{group, place_text(group.place)};
    const auto same = std::find_if(lines.begin(), lines.end(), [&](const Line& other) {
      return other.group.kind == group.kind && other.group.bytes == group.bytes && other.place == line.place;
    });
    if (same == lines.end()) {
      lines.push_back(line);
    } else {
      same->group.count += group.count;
    }
  }
  return lines;
}

void print(const char* routine, const Line& line) {
  const auto& [group, place] = line;
  const auto count = static_cast<unsigned long long>(group.count);
  const auto bytes = static_cast<unsigned long long>(group.bytes);
  const char* const many = count == 1 ? "" : "s";
  const char* const were = count == 1 ? "was" : "were";
  if (group.kind == Kind::block) {
    warn("%s: %llu block%s of %llu byte%s %s not freed: allocated by %s", routine, count, many, bytes,
         bytes == 1 ? "" : "s", were, place.c_str());
  } else if (group.kind == Kind::lock) {
    warn("%s: %llu lock%s %s not cleared: set by %s", routine, count, many, were, place.c_str());
  } else {
    warn("%s: %llu %s%s %s not destroyed: made by %s", routine, count, group.kind == Kind::team ? "team" : "context",
         many, were, place.c_str());
  }
}

}  // namespace

void note_handle(Handle kind, std::uint32_t index, const char* routine) noexcept {
  if (!enabled.has(Checks::leaks)) return;
  const Place place = here(routine);
  const std::lock_guard guard(open_handles().mutex);
  open_handles().list.push_back({kind, index, place});
}

void forget_handle(Handle kind, std::uint32_t index) noexcept {
  if (!enabled.has(Checks::leaks)) return;
  const std::lock_guard guard(open_handles().mutex);
  std::erase_if(open_handles().list, [&](const OpenHandle& open) { return open.kind == kind && open.index == index; });
}

void forget_handles() noexcept {
  const std::lock_guard guard(open_handles().mutex);
  open_handles().list.clear();
}

void report_leaks(const char* routine, LeakScope scope) noexcept {
  Groups groups = find_leaks(scope);
  const std::size_t more = groups.size() > kMostPlaces ? groups.size() - kMostPlaces : 0;
  groups.resize(groups.size() - more);
  for (const Line& line : lines_of(groups)) print(routine, line);
  if (more != 0) warn("%s: %zu more places have left blocks, contexts, teams or locks", routine, more);
}

std::uint64_t context_digest() noexcept {
  Fnv1a hash;
  for (const Group& group : find_handles()) {
    if (group.kind != Kind::context) continue;
    hash.add(group.place.site());
    hash.add(group.count);
  }
  return hash.digest();
}

}  // namespace shmemx::check
