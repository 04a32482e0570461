// What is counted: the family of an operation, and the path to the memory that it reaches.
#pragma once

#include <cstddef>
#include <cstdint>

namespace shmemx::stats {

// receive: of a message; its sender counts it. task: the handler of a task runs; its sender counts a message.
enum class Family : std::uint8_t { put, get, atomic, signal, message, receive, collective, memory, wait, task };
inline constexpr std::size_t kTransfers = 5;  // the first families reach the memory of one other PE
inline constexpr std::size_t kFamilies = 10;
inline constexpr const char* kFamilyNames[kFamilies] = {"put",     "get",        "atomic", "signal", "message",
                                                        "receive", "collective", "memory", "wait",   "task"};

// self: this PE; mapped: a PE of the node, by loads and stores; queue: a PE of the node, by messages through cells;
// network: a PE of another node.
enum class Path : std::uint8_t { self, mapped, queue, network };
inline constexpr std::size_t kPaths = 4;
inline constexpr const char* kPathNames[kPaths] = {"self", "mapped", "queue", "network"};

inline constexpr std::size_t index_of(Family family) noexcept { return static_cast<std::size_t>(family); }
inline constexpr std::size_t index_of(Path path) noexcept { return static_cast<std::size_t>(path); }
inline constexpr bool is_transfer(Family family) noexcept { return index_of(family) < kTransfers; }
// Calls that wait, or may.
inline constexpr bool is_waiting(Family family) noexcept { return !is_transfer(family) && family != Family::task; }

// One call of a routine, as a span describes it. Without initialisers, so that a span that is not used writes nothing.
struct Call {
  const char* routine;  // a string that stays
  Family family;
  Path path;
  std::int32_t pe;        // of the world, of a transfer, or who has sent the task; -1: none
  std::uint32_t context;  // index in the context table, 0: none; of a task the number of its handler
  std::uint64_t bytes;
};

}  // namespace shmemx::stats
