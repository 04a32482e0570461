// What a call waits for, as people are shown it: the arguments of the routine. The waiting PE writes it into its record
// before it sleeps; oshrun, or a PE that reports, makes text of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace shmemx::bootstrap {

struct Awaited {
  enum class Kind : std::uint8_t {
    nothing,  // that is known
    word,     // a value at an address
    words,    // values of an array
    lock,     // that another PE has, or awaits before this one
    message,
    team,      // other members
    operation  // a request; only within its PE
  };
  enum class Space : std::uint8_t { elsewhere, heap, executable };

  static constexpr std::uint64_t kNoCount = ~std::uint64_t{0};

  Kind kind = Kind::nothing;
  Space space = Space::elsewhere;
  std::uint8_t comparison = 0;  // SHMEM_CMP_EQ and its kin; 0: the word is read
  std::uint8_t word_bytes = 8;
  bool is_signed = false;
  std::uint64_t at = 0;     // an address; in the heap an offset, in the executable an address of its file. Of a team:
                            // its index, and its size above bit 31. Of an operation: the request's name
  std::uint64_t value = 0;  // that is compared. Of a team: its first PE, and the stride above bit 31
  std::uint64_t now = 0;    // what is there instead
  std::uint64_t count = kNoCount;  // elements; of a message that this PE sends, bytes
  std::int32_t pe = -1;            // the sender, the PE in front of this one, or the root; -1: any, none
  std::int32_t tag = -1;           // -1: any

  // Is it the same but for the value that is there?
  bool is_like(const Awaited& other) const;
};

// Of signed and unsigned integers of 1 to 8 bytes.
struct WordForm {
  std::uint8_t comparison;  // 0: the word is read
  std::uint8_t word_bytes;
  bool is_signed;
};
template <class T>
constexpr WordForm word_form(int comparison) {
  return {static_cast<std::uint8_t>(comparison), sizeof(T), static_cast<T>(-1) < T{}};
}
inline Awaited awaited_word(const void* address, WordForm form) {
  Awaited awaited;
  awaited.kind = Awaited::Kind::word;
  awaited.comparison = form.comparison;
  awaited.word_bytes = form.word_bytes;
  awaited.is_signed = form.is_signed;
  awaited.at = reinterpret_cast<std::uintptr_t>(address);
  return awaited;
}
template <class T>
Awaited awaited_word(const T* address, int comparison, T value, T now) {
  Awaited awaited = awaited_word(address, word_form<T>(comparison));
  awaited.value = static_cast<std::uint64_t>(value);
  awaited.now = static_cast<std::uint64_t>(now);
  return awaited;
}

// As it lies in a record. Other processes read it at any time; a mixture of two does no harm.
struct AwaitedWords {
  std::atomic<std::uint64_t> form;  // kind, space, comparison, size and sign
  std::atomic<std::uint64_t> at;
  std::atomic<std::uint64_t> value;
  std::atomic<std::uint64_t> now;
  std::atomic<std::uint64_t> count;
  std::atomic<std::uint64_t> pe_and_tag;
  std::uint64_t reserved[2];
};
void store(const Awaited& awaited, AwaitedWords& words);
Awaited load(const AwaitedWords& words);

// Returns "counter+0x10" for what begins at `at`.
std::string place_text(const std::string& executable, const Awaited& awaited);

// Returns "(counter+0x10, SHMEM_CMP_EQ, 5), now 4", what follows the name of the routine; empty if there is nothing to
// say. What differs among several PEs is shown as a range, or as "...". `executable`: a path that can be opened.
std::string awaited_text(const std::string& executable, const std::vector<Awaited>& all);

}  // namespace shmemx::bootstrap
