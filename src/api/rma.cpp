#include "api/rma.hpp"

namespace shmemx::api {

void put_bytes(void* dest, const void* source, std::uint64_t bytes, std::uint32_t near, const Context& context,
               const char* routine) noexcept {
  const context::Location target = context::resolve_near(context, {routine, "dest"}, dest, bytes, near);
  if (!target.is_mapped()) [[unlikely]]
    return onesided::put(routine, context, target.place, source, bytes);
  rma::copy(target.address, source, bytes);
  wake(*target.doorbell);
}

void put_nbi_bytes(void* dest, const void* source, std::uint64_t bytes, std::uint32_t near, const Context& context,
                   const char* routine) noexcept {
  const context::Location target = context::resolve_near(context, {routine, "dest"}, dest, bytes, near);
  if (!target.is_mapped()) [[unlikely]]
    return onesided::put_nbi(routine, context, target.place, source, bytes);
  rma::copy(target.address, source, bytes);
  wake(*target.doorbell);
}

void get_bytes(void* dest, const void* source, std::uint64_t bytes, std::uint32_t near, const Context& context,
               const char* routine) noexcept {
  const context::Location target = context::resolve_near(context, {routine, "source"}, source, bytes, near);
  if (!target.is_mapped()) [[unlikely]]
    return onesided::get(routine, dest, target.place, bytes);
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
  const context::Location target = context::resolve_near(context, {routine, "source"}, source, bytes, near);
  if (!target.is_mapped()) [[unlikely]]
    return onesided::get_nbi(routine, context, dest, target.place, bytes);
  rma::copy(dest, target.address, bytes);
}

}  // namespace shmemx::api
