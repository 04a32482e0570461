#include "api/atomic.hpp"

namespace shmemx::api {

context::Location atomic_target_cold(const Context& context, context::Site site, std::uintptr_t address,
                                     std::size_t bytes, int pe) noexcept {
  const context::Location target = context::resolve_cold(context, site, address, bytes, pe);
  if (address % bytes != 0) {
    bad_argument(site.routine, site.argument, static_cast<long long>(address),
                 "addresses that are a multiple of the type's size");
  }
  return target;
}

}  // namespace shmemx::api
