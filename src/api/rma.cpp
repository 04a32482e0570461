#include "api/rma.hpp"

namespace shmemx::api {

void put_bytes(void* dest, const void* source, std::uint64_t bytes, int pe, const Context& context,
               const char* routine) noexcept {
  const context::Target target = context::resolve(context, {routine, "dest"}, dest, bytes, pe);
  if (is_remote(target)) [[unlikely]]
    return onesided::put(routine, place_of(context, target, pe), source, bytes);
  rma::copy(target.address, source, bytes);
  wake(*target.doorbell);
}

void put_nbi_bytes(void* dest, const void* source, std::uint64_t bytes, int pe, const Context& context,
                   const char* routine) noexcept {
  const context::Target target = context::resolve(context, {routine, "dest"}, dest, bytes, pe);
  if (is_remote(target)) [[unlikely]]
    return onesided::put_nbi(routine, context, place_of(context, target, pe), source, bytes);
  rma::copy(target.address, source, bytes);
  wake(*target.doorbell);
}

void get_bytes(void* dest, const void* source, std::uint64_t bytes, int pe, const Context& context,
               const char* routine) noexcept {
  const context::Target target = context::resolve(context, {routine, "source"}, source, bytes, pe);
  if (is_remote(target)) [[unlikely]]
    return onesided::get(routine, dest, place_of(context, target, pe), bytes);
  rma::copy(dest, target.address, bytes);
  if (bytes <= sizeof(std::uint64_t)) {
    std::uint64_t value = 0;
    std::memcpy(&value, dest, bytes);
    return note_read(target.address, value);
  }
  if (!context::all_mapped) [[unlikely]]
    am::poll();
}

void get_nbi_bytes(void* dest, const void* source, std::uint64_t bytes, int pe, const Context& context,
                   const char* routine) noexcept {
  const context::Target target = context::resolve(context, {routine, "source"}, source, bytes, pe);
  if (is_remote(target)) [[unlikely]]
    return onesided::get_nbi(routine, context, dest, place_of(context, target, pe), bytes);
  rma::copy(dest, target.address, bytes);
}

}  // namespace shmemx::api
