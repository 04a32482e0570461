#include "api/rma.hpp"

namespace shmemx::api {

void copy_and_wake(context::Target target, const void* source, std::uint64_t bytes) noexcept {
  rma::copy(target.address, source, bytes);
  wake(*target.front);
}

void put_cold(const Context& context, context::Site site, std::uintptr_t dest, const void* source, std::uint64_t bytes, int pe) noexcept {
  copy_and_wake(context::resolve_cold(context, site, dest, bytes, pe), source, bytes);
}

void get_cold(const Context& context, context::Site site, void* dest, std::uintptr_t source, std::uint64_t bytes, int pe) noexcept {
  rma::copy(dest, context::resolve_cold(context, site, source, bytes, pe).address, bytes);
}

}  // namespace shmemx::api
