// The initiator's side of get: each question asks for what one answer holds, so the target keeps no state; several are
// under way at a time.
#include <algorithm>

#include "onesided/operations.hpp"
#include "onesided/rdma.hpp"
#include "onesided/requests.hpp"
#include "onesided/wire.hpp"

namespace shmemx::onesided {
namespace {

constexpr std::uint32_t kPiecesUnderWay = 16;  // of one blocking get; the table has room for those of many threads

std::size_t room_in_answer(int pe) noexcept {
  return round_down(am::max_payload_bytes(pe) - sizeof(GetReplyHeader), kCacheLine);
}

// A get under way. `open` counts the answers missing; `limited` keeps them few.
struct Getting {
  const char* routine;
  Asker asker;
  bool limited;

  void pace(int pe) const noexcept {
    if (limited) await_answers(routine, pe, *asker.open, kPiecesUnderWay - 1);
  }
};

void get_pieces(const Getting& getting, void* dest, context::Place source, std::size_t bytes) noexcept {
  auto* to = static_cast<std::byte*>(dest);
  const std::size_t room = room_in_answer(source.pe);
  while (bytes != 0) {
    const auto piece = static_cast<std::uint32_t>(std::min(bytes, room));
    getting.pace(source.pe);
    GetHeader header{source.window, source.offset, piece, 0};
    ask(getting.routine, {source.pe, am::kGet, {to, piece, piece, 1}}, header, getting.asker);
    source.offset += piece;
    to += piece;
    bytes -= piece;
  }
}

void get_blocks_gathered(const Getting& getting, std::byte* dest, const context::Place& source,
                         const rma::Strided& shape, std::size_t most) noexcept {
  const auto block_bytes = static_cast<std::uint32_t>(shape.block_bytes);
  for (std::size_t done = 0; done < shape.block_count;) {
    const auto count = static_cast<std::uint32_t>(std::min(most, shape.block_count - done));
    getting.pace(source.pe);
    GetStridedHeader header{
        source.window, source.offset + done * shape.source_step, shape.source_step, block_bytes, count, 0, 0};
    const Placement placement{dest + done * shape.dest_step, shape.dest_step, block_bytes, count};
    ask(getting.routine, {source.pe, am::kGetStrided, placement}, header, getting.asker);
    done += count;
  }
}

// By the network as far as it reaches; the rest is asked for.
void start_get(const Getting& getting, Transfer get, transport::Completion& open) noexcept {
  while (get.bytes != 0) {
    const Part part = start_rdma(get, open);
    if (!part.is_started) get_pieces(getting, get.local, get.place, part.bytes);
    get.skip(part.bytes);
  }
}

Transfer get_of(const char* routine, void* dest, const context::Place& source, std::size_t bytes) noexcept {
  return {routine, Direction::get, source, static_cast<std::byte*>(dest), bytes};
}

void get_each_block(const Getting& getting, std::byte* dest, context::Place source,
                    const rma::Strided& shape) noexcept {
  transport::Completion open;
  const bool by_network = goes_by_rdma(source.pe, shape.block_bytes);
  for (std::size_t i = 0; i < shape.block_count; ++i) {
    if (by_network) {
      start_get(getting, get_of(getting.routine, dest, source, shape.block_bytes), open);
    } else {
      get_pieces(getting, dest, source, shape.block_bytes);
    }
    source.offset += shape.source_step;
    dest += shape.dest_step;
  }
  if (by_network) await_rdma(getting.routine, source.pe, open);
}

}  // namespace

void get(const char* routine, void* dest, context::Place source, std::size_t bytes) noexcept {
  OpenCount open{0};
  const Getting getting{routine, {&open, 0}, true};
  if (goes_by_rdma(source.pe, bytes)) {
    transport::Completion by_network;
    start_get(getting, get_of(routine, dest, source, bytes), by_network);
    await_rdma(routine, source.pe, by_network);
  } else {
    get_pieces(getting, dest, source, bytes);
  }
  await_answers(routine, source.pe, open);
}

void get_strided(const char* routine, void* dest, context::Place source, const rma::Strided& shape) noexcept {
  if (shape.block_bytes == 0) return;
  OpenCount open{0};
  const Getting getting{routine, {&open, 0}, true};
  auto* const to = static_cast<std::byte*>(dest);
  const std::size_t room = std::min(kGatherBytes, room_in_answer(source.pe));
  if (shape.block_bytes <= room / 2) {
    get_blocks_gathered(getting, to, source, shape, room / shape.block_bytes);
  } else {
    get_each_block(getting, to, source, shape);
  }
  await_answers(routine, source.pe, open);
}

void get_nbi(const char* routine, const context::Context& context, void* dest, context::Place source,
             std::size_t bytes) noexcept {
  const Getting getting{routine, asker_of(context), false};
  if (goes_by_rdma(source.pe, bytes))
    return start_get(getting, get_of(routine, dest, source, bytes), rdma_gets_of(context));
  get_pieces(getting, dest, source, bytes);
}

}  // namespace shmemx::onesided
