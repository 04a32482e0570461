// What PEs of other machines say of their waits. PEs of this arena read each other's records; one of another arena is
// asked by a message, and whichever thread of it handles messages answers with a copy of its record.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "bootstrap/wire.hpp"
#include "runtime/collective_words.hpp"
#include "windows/arena.hpp"

namespace shmemx::runtime {

// Up to 47 characters, in words that others may read at any time.
using TextWords = std::array<std::atomic<std::uint64_t>, 6>;
std::string text_in(const TextWords& words);

// The latest answer of a PE. Its wait says nothing before the first one.
struct ForeignPe {
  int pe = 0;
  bootstrap::PeRecord record{};  // phase, process, routine, call site and what is awaited; the rest is 0
  bootstrap::CollectiveWait wait{};
  std::atomic<std::uint64_t> turn{0};        // of the wait of this PE that the latest answer is for
  std::atomic<std::uint64_t> lacks_turn{0};  // the same, if that wait cannot end before the other PE goes on
  std::atomic<std::uint64_t> waited_ns{0};   // in the routine, when it answered
  std::atomic<std::uint64_t> replied_ms{0};  // 0: never
  TextWords host{};
  TextWords doing{};  // if it does not wait
};

// Called once, when the arena's header is mapped, and at each init before the first message.
void open_inquiries(windows::Arena& arena);
void set_inquiry_handlers() noexcept;

// Sends a request to a PE of another arena, unless one has just been sent, the PE has left, or nothing can be sent
// now. `mine`: the collective that this PE waits in. The answer arrives in a later poll. Never waits.
void send_inquiry(int pe, const Said& mine) noexcept;

// Sends it for a table of all PEs, which this PE is about to print: the other one's arena prints none for a while.
void send_inquiry_for_table(int pe) noexcept;
// Returns whether the PE has announced that it leaves the job. It answers nothing more.
bool has_left(int pe) noexcept;

// Returns what has been heard of a PE of another arena. The object stays.
ForeignPe& foreign_pe(int pe) noexcept;
// Returns those that have answered in wait `turn` of this PE.
std::vector<ForeignPe*> heard_in(std::uint64_t turn);

// Returns whether another PE has asked where the program has called what this PE waits in.
bool site_is_wanted() noexcept;

}  // namespace shmemx::runtime
