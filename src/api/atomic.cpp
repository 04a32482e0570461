#include "api/atomic.hpp"

#include "base/fatal.hpp"
#include "context/address_text.hpp"

namespace shmemx::api {

context::Location atomic_target_cold(const Context& context, context::Site site, std::uintptr_t address,
                                     std::size_t bytes, int pe) noexcept {
  const context::Location target = context::resolve_cold(context, site, address, bytes, pe);
  if (address % bytes != 0) {
    fatal(site.routine, "argument '%s' is %#zx%s, allowed are addresses that are a multiple of the type's size, %zu",
          site.argument, address, context::variable_text(address).c_str(), bytes);
  }
  return target;
}

}  // namespace shmemx::api
