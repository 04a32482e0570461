#include "api/atomic.hpp"

#include "api/transfer.hpp"
#include "check/pending.hpp"
#include "check/variables.hpp"

namespace shmemx::api {

context::Location atomic_target_cold(const Context& context, context::Site site, std::uintptr_t address,
                                     std::size_t bytes, int pe) noexcept {
  return context::resolve_word_cold(context, site, address, bytes, pe);
}

void check_fetch(const char* routine, void* fetch, std::size_t bytes) noexcept {
  if (reinterpret_cast<std::uintptr_t>(fetch) < context::kLeastAddress) context::bad_local({routine, "fetch"}, fetch);
  check::check_memory(routine, "fetch", fetch, bytes);
  check::check_writable(routine, "fetch", fetch);
  check::check_writing(routine, "fetch", {fetch, bytes});
}

void note_fetch(const Context& context, const char* routine, void* fetch, std::size_t bytes,
                std::uint32_t near) noexcept {
  check::note_dest(routine, {fetch, bytes}, initiator(context, near));
}

}  // namespace shmemx::api
