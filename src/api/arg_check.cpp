#include "api/arg_check.hpp"

#include "base/fatal.hpp"

namespace shmemx::api {

coll::Team* team_or_null(shmem_team_t team, const char* routine) noexcept {
  const auto handle = reinterpret_cast<std::uintptr_t>(team);
  context::require_initialized(routine);
  if (handle == 0) return nullptr;
  coll::Team& entry = coll::team_at(handle);
  if (entry.handle != handle) {
    fatal(routine,
          "argument 'team' is %#zx, which is not a live team, allowed are SHMEM_TEAM_WORLD, SHMEM_TEAM_SHARED and "
          "teams that "
          "were split and not yet destroyed",
          handle);
  }
  return &entry;
}

coll::Team& checked_team(shmem_team_t team, const char* routine) noexcept {
  coll::Team* const entry = team_or_null(team, routine);
  if (entry == nullptr) fatal(routine, "argument 'team' is SHMEM_TEAM_INVALID, allowed are teams this PE is in");
  return *entry;
}

Context* context_or_null(shmem_ctx_t ctx, const char* routine) noexcept {
  const auto handle = reinterpret_cast<std::uintptr_t>(ctx);
  if (handle == 0) return nullptr;
  Context& entry = context::context_at(handle);
  if (entry.handle != handle) context::bad_context(routine, handle);
  return &entry;
}

void bad_argument(const char* routine, const char* argument, long long value, const char* allowed) noexcept {
  context::require_initialized(routine);
  fatal(routine, "argument '%s' is %lld, allowed are %s", argument, value, allowed);
}

void bad_memory(const char* routine, const char* argument) noexcept {
  bad_argument(routine, argument, 0, "pointers to as many bytes as the call says");
}

void bad_count(const char* routine, const char* argument, std::size_t count) noexcept {
  context::require_initialized(routine);
  const auto as_signed = static_cast<std::ptrdiff_t>(count);
  constexpr std::ptrdiff_t kMostNegative =
      -(std::ptrdiff_t{1} << 40);  // beyond, it is more likely a product that is too large
  if (as_signed < 0 && as_signed >= kMostNegative) {
    fatal(routine, "argument '%s' is %td (as size_t %zu), allowed are numbers of elements that fit into memory",
          argument, as_signed, count);
  }
  fatal(routine, "argument '%s' is %zu, allowed are numbers of elements that fit into memory", argument, count);
}

}  // namespace shmemx::api
