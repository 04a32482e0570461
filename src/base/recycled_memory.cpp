#include "base/recycled_memory.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

#include "base/cache_line.hpp"
#include "base/fatal.hpp"
#include "base/mutex.hpp"

namespace shmemx {
namespace {

// The memory follows.
struct alignas(kCacheLine) Piece {
  std::size_t bytes;

  std::byte* memory() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};

#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kMostKept = 0;  // kept memory would hide uses after its return
#else
constexpr std::size_t kMostKept = kMostRecycledBytes;
#endif

struct Kept {
  Mutex mutex;
  std::array<Piece*, kMostRecycledPieces> pieces{};  // the first `count` of them, the oldest first
  std::size_t count = 0;
  std::size_t bytes = 0;

  Piece* take(std::size_t wanted) noexcept {
    const std::scoped_lock lock(mutex);
    const auto end = pieces.begin() + count;
    const auto fits = [wanted](const Piece* piece) { return piece->bytes >= wanted && piece->bytes / 4 <= wanted; };
    const auto found = std::find_if(pieces.begin(), end, fits);
    return found == end ? nullptr : remove(found);
  }
  // Returns what has to be freed for it, perhaps itself.
  std::array<Piece*, kMostRecycledPieces> keep(Piece* piece) noexcept {
    std::array<Piece*, kMostRecycledPieces> freed{};
    std::size_t n_freed = 0;
    const std::scoped_lock lock(mutex);
    while (count != 0 && (count == kMostRecycledPieces || bytes + piece->bytes > kMostKept))
      freed[n_freed++] = remove(pieces.begin());
    pieces[count++] = piece;
    bytes += piece->bytes;
    return freed;
  }

 private:
  Piece* remove(Piece** at) noexcept {
    Piece* const piece = *at;
    std::move(at + 1, pieces.begin() + count, at);
    --count;
    bytes -= piece->bytes;
    return piece;
  }
};

// Never destroyed: threads may still return memory while the process exits.
Kept& kept() noexcept {
  static auto* const instance = new Kept;
  return *instance;
}

bool is_recycled(std::size_t bytes) noexcept { return bytes >= kLeastRecycledBytes && bytes <= kMostKept; }

}  // namespace

void ReturnMemory::operator()(std::byte* memory) const noexcept {
  if (memory == nullptr) return;
  Piece* const piece = reinterpret_cast<Piece*>(memory) - 1;
  if (!is_recycled(piece->bytes)) return std::free(piece);
  for (Piece* old : kept().keep(piece)) std::free(old);
}

RecycledMemory try_take_memory(std::size_t bytes) noexcept {
  const std::size_t whole = round_up(bytes, kCacheLine);
  Piece* piece = is_recycled(whole) ? kept().take(whole) : nullptr;
  if (piece == nullptr) {
    void* const fresh = std::aligned_alloc(kCacheLine, sizeof(Piece) + whole);
    if (fresh == nullptr) return nullptr;
    piece = new (fresh) Piece{whole};
  }
  return RecycledMemory(piece->memory());
}

RecycledMemory take_memory(std::size_t bytes) noexcept {
  RecycledMemory memory = try_take_memory(bytes);
  if (memory == nullptr) fatal(nullptr, "no memory: %zu bytes for a call", bytes);
  return memory;
}

std::size_t recycled_bytes() noexcept {
  const std::scoped_lock lock(kept().mutex);
  return kept().bytes;
}

}  // namespace shmemx
