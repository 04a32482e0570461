// The initiator's side of get: each question asks for what one answer holds, so the target keeps no state; several are
// under way at a time.
#include <algorithm>

#include "atomic/requests.hpp"
#include "rma/remote.hpp"
#include "rma/wire.hpp"

namespace shmemx::rma {
namespace {

using atomic::Asker;
using atomic::OpenCount;

constexpr std::uint32_t kPiecesUnderWay = 16;  // of one blocking get; the table has room for those of many threads

std::size_t room_in_answer(int pe) noexcept {
  return round_down(channel::max_payload_bytes(pe) - sizeof(GetReplyHeader), kCacheLine);
}

// A get under way. `open` counts the answers missing; `limited` keeps them few.
struct Getting {
  const char* routine;
  Asker asker;
  bool limited;

  void pace(int pe) const noexcept {
    if (limited) atomic::await_answers(routine, pe, *asker.open, kPiecesUnderWay - 1);
  }
};

void get_pieces(const Getting& getting, void* dest, RemotePlace source, std::size_t bytes) noexcept {
  auto* to = static_cast<std::byte*>(dest);
  const std::size_t room = room_in_answer(source.pe);
  while (bytes != 0) {
    const auto piece = static_cast<std::uint32_t>(std::min(bytes, room));
    getting.pace(source.pe);
    GetHeader header{source.window, source.offset, piece, 0};
    atomic::ask(getting.routine, {source.pe, channel::kGet, {to, piece, piece, 1}}, header, getting.asker);
    source.offset += piece;
    to += piece;
    bytes -= piece;
  }
}

void get_blocks_gathered(const Getting& getting, std::byte* dest, const RemotePlace& source, const Strided& shape,
                         std::size_t most) noexcept {
  const auto block_bytes = static_cast<std::uint32_t>(shape.block_bytes);
  for (std::size_t done = 0; done < shape.block_count;) {
    const auto count = static_cast<std::uint32_t>(std::min(most, shape.block_count - done));
    getting.pace(source.pe);
    GetStridedHeader header{
        source.window, source.offset + done * shape.source_step, shape.source_step, block_bytes, count, 0, 0};
    const atomic::Landing landing{dest + done * shape.dest_step, shape.dest_step, block_bytes, count};
    atomic::ask(getting.routine, {source.pe, channel::kGetStrided, landing}, header, getting.asker);
    done += count;
  }
}

}  // namespace

void get_remote(const char* routine, void* dest, RemotePlace source, std::size_t bytes) noexcept {
  OpenCount open{0};
  get_pieces({routine, {&open, 0}, true}, dest, source, bytes);
  atomic::await_answers(routine, source.pe, open);
}

void get_strided_remote(const char* routine, void* dest, RemotePlace source, const Strided& shape) noexcept {
  if (shape.block_bytes == 0) return;
  OpenCount open{0};
  const Getting getting{routine, {&open, 0}, true};
  auto* to = static_cast<std::byte*>(dest);
  const std::size_t room = std::min(kGatherBytes, room_in_answer(source.pe));
  if (shape.block_bytes <= room / 2) {
    get_blocks_gathered(getting, to, source, shape, room / shape.block_bytes);
  } else {
    for (std::size_t i = 0; i < shape.block_count; ++i) {
      get_pieces(getting, to, source, shape.block_bytes);
      source.offset += shape.source_step;
      to += shape.dest_step;
    }
  }
  atomic::await_answers(routine, source.pe, open);
}

void get_nbi_remote(const char* routine, const context::Context& context, void* dest, RemotePlace source,
                    std::size_t bytes) noexcept {
  get_pieces({routine, atomic::asker_of(context), false}, dest, source, bytes);
}

}  // namespace shmemx::rma
