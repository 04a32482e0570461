#include "transport/transport.hpp"

namespace shmemx::transport {

// What a network without RMA answers; nobody asks it for more, see Capabilities.

Result<std::string> Transport::register_memory(std::byte*, std::size_t) { return std::string(); }

void Transport::unregister_memory(std::byte*) noexcept {}

bool Transport::put(int, Bytes, std::uint64_t, Bytes, Completion&) noexcept { return false; }

bool Transport::get(int, Bytes, std::uint64_t, std::span<std::byte>, Completion&) noexcept { return false; }

}  // namespace shmemx::transport
