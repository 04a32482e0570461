#include "interpose/control.hpp"

#include <shmemx.h>

#include <atomic>
#include <cstring>

#include "interpose/errors.hpp"
#include "interpose/waiting.hpp"

namespace shmemx::interpose::control {
namespace {

using Word = std::atomic_ref<std::uint64_t>;

Word word_at(std::byte* memory, std::size_t word) noexcept {
  return Word(*reinterpret_cast<std::uint64_t*>(memory + word));
}

// A process whose words are not mapped here gets a message: it has no reply, and is executed behind the small puts that
// its sender has started before.
constexpr int kNotifyMessage = 255;  // the active message of that number belongs to this library
struct Notice {
  std::uint64_t control;  // memory of the window at its process
  std::uint64_t word;
};
// Behind it may be a list of small puts.
constexpr std::size_t kMostBytes = sizeof(Notice) + GatheredPuts::kListBytes;
// Owners of memory that messages name, by its address.
constinit LastingMap<std::uint64_t, Window> controls;

void on_notice(int, const void* payload, std::size_t bytes, void*) {
  Notice notice{};
  if (bytes < sizeof notice) return;
  std::memcpy(&notice, payload, sizeof notice);
  const Window* const window = controls.map.find(notice.control);
  if (window == nullptr || notice.word > control::bytes(window->size) - sizeof(std::uint64_t)) return;
  const Own& own = window->own;
  const std::byte* const list = static_cast<const std::byte*>(payload) + sizeof notice;
  if (bytes != sizeof notice && !GatheredPuts::execute(list, bytes - sizeof notice, static_cast<std::byte*>(own.base),
                                                       static_cast<std::size_t>(own.bytes)))
    return;
  word_at(window->own.control, notice.word).fetch_add(1, std::memory_order_acq_rel);  // notify
}

}  // namespace

int rounds(int size) noexcept {
  int count = 0;
  while ((1 << count) < size) ++count;
  return count;
}
std::size_t completions() noexcept { return 0; }
std::size_t round(int number) noexcept { return kLine * (2 + static_cast<std::size_t>(number)); }
std::size_t posts(int size, int rank) noexcept {
  return round(rounds(size)) + sizeof(std::uint64_t) * static_cast<std::size_t>(rank);
}
std::size_t bytes(int size) noexcept { return posts(size, size); }

int notify(Window& window, Target& target, std::size_t word) {
  if (const int code = attach(window, target); code != MPI_SUCCESS) return code;
  if (target.control_mapped != nullptr) {
    word_at(target.control_mapped, word).fetch_add(1, std::memory_order_acq_rel);  // notify
    return MPI_SUCCESS;
  }
  const Notice notice{target.offer.control_address, word};
  shmemx_am_send(target.pe, kNotifyMessage, &notice, sizeof notice);
  return MPI_SUCCESS;
}

int notify_behind_puts(Window& window, Target& target, std::size_t word) {
  if (target.gathered == nullptr || target.gathered->is_empty()) return notify(window, target, word);
  std::byte message[kMostBytes];
  const Notice notice{target.offer.control_address, word};
  std::memcpy(message, &notice, sizeof notice);
  const std::size_t bytes = target.gathered->take(message + sizeof notice);
  shmemx_am_send(target.pe, kNotifyMessage, message, sizeof notice + bytes);
  return MPI_SUCCESS;
}

void receive_notices() { shmemx_am_register(kNotifyMessage, on_notice, nullptr); }
void begin(Window& window) { controls.map.insert(reinterpret_cast<std::uintptr_t>(window.own.control), &window); }
void end(const Window& window) { controls.map.remove(reinterpret_cast<std::uintptr_t>(window.own.control)); }

bool has(const Window& window, std::size_t word, std::uint64_t value) noexcept {
  return word_at(window.own.control, word).load(std::memory_order_acquire) >= value;  // notify
}

void await(const Window& window, std::size_t word, std::uint64_t value) {
  wait_until([&] { return has(window, word, value); });
}

void take(const Window& window, std::size_t word, std::uint64_t value) noexcept {
  word_at(window.own.control, word).fetch_sub(value, std::memory_order_acq_rel);  // notify
}

void set_exposed(const Window& window, bool is_exposed) noexcept {
  word_at(window.own.control, kExposure).store(is_exposed ? 1 : 0, std::memory_order_seq_cst);  // exposure
}

namespace {

// Like notify(), for a word that this process alone increases: `value` is what it becomes. A store does not wait for the
// line, which the target polls.
int notify_alone(Window& window, Target& target, std::size_t word, std::uint64_t value) {
  if (const int code = attach(window, target); code != MPI_SUCCESS) return code;
  if (target.control_mapped == nullptr) return notify(window, target, word);
  word_at(target.control_mapped, word).store(value, std::memory_order_release);  // notify
  return MPI_SUCCESS;
}

}  // namespace

// Dissemination: in each round the process 2^round further on is notified.
int barrier(Window& window) {
  const std::uint64_t passed = ++window.epochs.barriers;
  for (int number = 0; (1 << number) < window.size; ++number) {
    Target& next = window.targets[static_cast<std::size_t>((window.own.rank + (1 << number)) % window.size)];
    if (const int code = notify_alone(window, next, round(number), passed); code != MPI_SUCCESS) return code;
    await(window, round(number), passed);
  }
  return MPI_SUCCESS;
}

}  // namespace shmemx::interpose::control
