#include "api/rma.hpp"

namespace shmemx::api {

void put_bytes(void* dest, const void* source, std::uint64_t bytes, std::uint32_t near, const Context& context,
               const char* routine) noexcept {
  const context::Target target = context::resolve_near(context, {routine, "dest"}, dest, bytes, near);
  if (is_remote(target)) [[unlikely]]
    return onesided::put(routine, place_of(context, target, context::pe_at(context, near)), source, bytes,
                         onesided::options_of(context));
  rma::copy(target.address, source, bytes);
  wake(*target.doorbell);
}

void put_nbi_bytes(void* dest, const void* source, std::uint64_t bytes, std::uint32_t near, const Context& context,
                   const char* routine) noexcept {
  const context::Target target = context::resolve_near(context, {routine, "dest"}, dest, bytes, near);
  if (is_remote(target)) [[unlikely]]
    return onesided::put_nbi(routine, context, place_of(context, target, context::pe_at(context, near)), source, bytes);
  rma::copy(target.address, source, bytes);
  wake(*target.doorbell);
}

void get_bytes(void* dest, const void* source, std::uint64_t bytes, std::uint32_t near, const Context& context,
               const char* routine) noexcept {
  const context::Target target = context::resolve_near(context, {routine, "source"}, source, bytes, near);
  if (is_remote(target)) [[unlikely]]
    return onesided::get(routine, dest, place_of(context, target, context::pe_at(context, near)), bytes);
  rma::copy(dest, target.address, bytes);
  if (bytes <= sizeof(std::uint64_t)) {
    std::uint64_t value = 0;
    std::memcpy(&value, dest, bytes);
    return note_read(target.address, value);
  }
  handle_messages_of_reader();
}

void get_nbi_bytes(void* dest, const void* source, std::uint64_t bytes, std::uint32_t near, const Context& context,
                   const char* routine) noexcept {
  const context::Target target = context::resolve_near(context, {routine, "source"}, source, bytes, near);
  if (is_remote(target)) [[unlikely]]
    return onesided::get_nbi(routine, context, dest, place_of(context, target, context::pe_at(context, near)), bytes);
  rma::copy(dest, target.address, bytes);
}

}  // namespace shmemx::api
