#include "api/rma.hpp"

namespace shmemx::api {

void put_bytes(void* dest, const void* source, std::uint64_t bytes, int pe, const Context& context,
               const char* routine) noexcept {
  const context::Target target = context::resolve(context, {routine, "dest"}, dest, bytes, pe);
  rma::copy(target.address, source, bytes);
  wake(*target.front);
}

void get_bytes(void* dest, const void* source, std::uint64_t bytes, int pe, const Context& context,
               const char* routine) noexcept {
  rma::copy(dest, context::resolve(context, {routine, "source"}, source, bytes, pe).address, bytes);
}

}  // namespace shmemx::api
