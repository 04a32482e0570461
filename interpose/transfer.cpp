#include "interpose/transfer.hpp"

#include <cstring>

#include "interpose/job.hpp"
#include "interpose/piece_walk.hpp"

namespace shmemx::interpose {
namespace {

// Small puts without a request. Returns false if this one leaves at once: nothing is on the way in front of it. In an
// epoch of MPI_Win_start it waits for MPI_Win_complete, whose notice takes it along.
bool gathers(const Transfer& transfer, std::size_t bytes) {
  Target& target = *transfer.target;
  if (transfer.direction != Direction::put || transfer.counter != nullptr || bytes > GatheredPuts::kLargest ||
      many_threads) {
    target.has_other.store(true, std::memory_order_relaxed);
    return false;
  }
  const bool follows = transfer.has_notice || target.has_put.load(std::memory_order_relaxed);
  if (follows && target.gathered == nullptr) target.gathered = std::make_unique<GatheredPuts>();
  target.has_put.store(true, std::memory_order_relaxed);
  return follows;
}

int gather(Target& target, std::uint64_t there, std::uint64_t here, std::size_t bytes) {
  GatheredPuts& puts = *target.gathered;
  int code = MPI_SUCCESS;
  if (puts.is_full()) code = class_of(puts.send(target.data));
  puts.add(there, pointer(here), bytes);
  return code;
}

int move_block(const Transfer& transfer, std::uint64_t there, std::uint64_t here, std::size_t bytes) {
  const Target& target = *transfer.target;
  if (try_copy(transfer.direction, target, there, here, bytes)) return MPI_SUCCESS;
  if (gathers(transfer, bytes)) return gather(*transfer.target, there, here, bytes);
  const int code = transfer.direction == Direction::put
                       ? shmemx_window_put_nbi(target.data, pointer(there), pointer(here), bytes, transfer.counter)
                       : shmemx_window_get_nbi(target.data, pointer(here), pointer(there), bytes, transfer.counter);
  return class_of(code);
}

int move_lists(const Transfer& transfer, const std::vector<shmemx_iov_t>& there,
               const std::vector<shmemx_iov_t>& here) {
  const shmemx_window_t data = transfer.target->data;
  transfer.target->has_other.store(true, std::memory_order_relaxed);
  const int code =
      transfer.direction == Direction::put
          ? shmemx_window_putv_nbi(data, there.data(), there.size(), here.data(), here.size(), transfer.counter)
          : shmemx_window_getv_nbi(data, here.data(), here.size(), there.data(), there.size(), transfer.counter);
  return class_of(code);
}

// Both sides consist of the same pieces, each of `Bytes` bytes.
template <std::size_t Bytes>
void copy_blocks(const Transfer& transfer, const std::byte* mapped) {
  const Layout& there = *transfer.there;
  const Layout& here = *transfer.here;
  const auto to_there = reinterpret_cast<std::uintptr_t>(mapped);
  const std::size_t items = transfer.bytes / there.bytes;
  for (std::size_t item = 0; item < items; ++item) {
    const std::uint64_t far = to_there + item * static_cast<std::uint64_t>(there.extent);
    const std::uint64_t near = transfer.here_address + item * static_cast<std::uint64_t>(here.extent);
    for (std::size_t i = 0; i < there.data.pieces.size(); ++i) {
      void* const a = pointer(far + static_cast<std::uint64_t>(there.data.pieces[i].offset));
      void* const b = pointer(near + static_cast<std::uint64_t>(here.data.pieces[i].offset));
      transfer.direction == Direction::put ? std::memcpy(a, b, Bytes) : std::memcpy(b, a, Bytes);
    }
  }
}

// Mapped memory in blocks of a frequent length. Returns false for all else.
bool try_copy_blocks(const Transfer& transfer) {
  const Layout& there = *transfer.there;
  const Layout& here = *transfer.here;
  const Target& target = *transfer.target;
  if (target.mapped == nullptr || there.blocks.bytes != here.blocks.bytes ||
      there.data.pieces.size() != here.data.pieces.size() || !there.data.loops.empty() || !here.data.loops.empty() ||
      transfer.bytes % there.bytes != 0)
    return false;
  const std::byte* const mapped = target.mapped + (transfer.there_address - target.offer.base);
  switch (there.blocks.bytes) {
    case 8:
      copy_blocks<8>(transfer, mapped);
      return true;
    case 16:
      copy_blocks<16>(transfer, mapped);
      return true;
    case 32:
      copy_blocks<32>(transfer, mapped);
      return true;
    case 64:
      copy_blocks<64>(transfer, mapped);
      return true;
    default:
      return false;
  }
}

// Returns those of several items, if the distance goes on from one item to the next. `bytes`: of all items together.
Blocks blocks_of(const Layout& layout, std::size_t bytes) {
  const auto pieces = static_cast<std::ptrdiff_t>(layout.data.count());
  const bool goes_on = bytes <= layout.bytes || pieces * layout.blocks.step == layout.extent;
  return layout.blocks.step != 0 && layout.blocks.bytes != 0 && goes_on ? layout.blocks : Blocks{};
}

// Equal blocks at equal distances on both sides. Returns false for all else.
bool try_move_blocks(const Transfer& transfer, int& code) {
  Blocks there = blocks_of(*transfer.there, transfer.bytes);
  Blocks here = blocks_of(*transfer.here, transfer.bytes);
  if (transfer.there->dense) there = {here.bytes, static_cast<std::ptrdiff_t>(here.bytes)};
  if (transfer.here->dense) here = {there.bytes, static_cast<std::ptrdiff_t>(there.bytes)};
  if (there.bytes == 0 || there.bytes != here.bytes || transfer.bytes % there.bytes != 0) return false;
  Target& target = *transfer.target;
  target.has_other.store(true, std::memory_order_relaxed);
  void* const far = pointer(transfer.there_address + static_cast<std::uint64_t>(transfer.there->data.pieces[0].offset));
  void* const near = pointer(transfer.here_address + static_cast<std::uint64_t>(transfer.here->data.pieces[0].offset));
  const std::size_t count = transfer.bytes / there.bytes;
  const int result = transfer.direction == Direction::put
                         ? shmemx_window_put_strided_nbi(target.data, far, there.step, near, here.step, there.bytes,
                                                         count, transfer.counter)
                         : shmemx_window_get_strided_nbi(target.data, near, here.step, far, there.step, there.bytes,
                                                         count, transfer.counter);
  code = class_of(result);
  return true;
}

// Cuts both sides into pieces of equal length. Mapped memory is copied piece by piece; otherwise lists are sent.
int move_pieces(const Transfer& transfer) {
  PieceWalk there(transfer.there->data, transfer.there->extent, transfer.there_address);
  PieceWalk here(transfer.here->data, transfer.here->extent, transfer.here_address);
  const bool mapped = transfer.target->mapped != nullptr;
  std::vector<shmemx_iov_t> there_list;
  std::vector<shmemx_iov_t> here_list;
  for (std::size_t left = transfer.bytes; left != 0;) {
    const std::size_t bytes = std::min({there.bytes(), here.bytes(), left});
    int code = MPI_SUCCESS;
    if (mapped) {
      code = move_block(transfer, there.address(), here.address(), bytes);
    } else {
      there_list.push_back({pointer(there.address()), bytes});
      here_list.push_back({pointer(here.address()), bytes});
    }
    there.advance(bytes);
    here.advance(bytes);
    left -= bytes;
    if (!there_list.empty() && (left == 0 || there_list.size() == kListPieces)) {
      code = move_lists(transfer, there_list, here_list);
      there_list.clear();
      here_list.clear();
    }
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

}  // namespace

int check_origin(Direction direction, const Layout* here, std::int64_t count, const Layout* there, Amount& amount) {
  std::size_t origin_bytes = 0;
  const std::size_t target_bytes = amount.bytes;
  if (const int code = count_bytes(here, count, origin_bytes); code != MPI_SUCCESS) return code;
  if (origin_bytes == target_bytes) return MPI_SUCCESS;
  const bool is_put = direction == Direction::put;
  if (is_put != (origin_bytes < target_bytes)) return wrong(MPI_ERR_TYPE, kDoNotFit);
  if (is_put) amount = {origin_bytes, static_cast<std::int64_t>((origin_bytes + there->bytes - 1) / there->bytes)};
  return MPI_SUCCESS;
}

bool gather_late(const Window& window, Local origin, Remote remote) {
  Target& target = *late_lock.target;
  if (remote.rank != &target - window.targets.get()) return false;
  const Layout* const there = layout_of(remote.type);
  const Layout* const here = layout_of(origin.type);
  Amount amount;
  if (check_sides(Direction::put, here, origin, there, remote, amount) != MPI_SUCCESS) return false;
  const std::size_t bytes = amount.bytes;
  if (!there->dense || !here->dense || bytes == 0 || bytes > GatheredPuts::kLargest) return false;
  Range range{};
  if (!find_range(*there, address_at(target, remote.disp), amount.target_items, range)) return false;
  const std::uint64_t local =
      reinterpret_cast<std::uintptr_t>(origin.address) + static_cast<std::uint64_t>(here->bounds.low);
  if (!is_inside(window, target, range) || check_buffer(local) != MPI_SUCCESS) return false;
  if (target.gathered == nullptr) target.gathered = std::make_unique<GatheredPuts>();
  if (target.gathered->is_full()) return false;
  target.gathered->add(range.first, pointer(local), bytes);
  target.has_put.store(true, std::memory_order_relaxed);
  return true;
}

int move_otherwise(const Transfer& transfer) {
  const auto there = transfer.there_address + static_cast<std::uint64_t>(transfer.there->bounds.low);
  const auto here = transfer.here_address + static_cast<std::uint64_t>(transfer.here->bounds.low);
  if (transfer.there->dense && transfer.here->dense) return move_block(transfer, there, here, transfer.bytes);
  if (try_copy_blocks(transfer)) return MPI_SUCCESS;
  int code = MPI_SUCCESS;
  return try_move_blocks(transfer, code) ? code : move_pieces(transfer);
}

}  // namespace shmemx::interpose
