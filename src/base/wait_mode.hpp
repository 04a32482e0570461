// What a waiter does when its first polls have not found what it waits for.
#pragma once

#include <cstdint>

namespace shmemx {

enum class WaitMode : std::uint8_t { automatic, spin, block };

}  // namespace shmemx
