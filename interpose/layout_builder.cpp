#include "interpose/layout_builder.hpp"

namespace shmemx::interpose {
namespace {

// Multiplies by the number of repetitions, and adds. Returns false if the sum is no length of memory.
bool add_repeated(std::size_t one, const std::vector<Loop>& loops, std::size_t& sum) {
  for (const Loop& loop : loops)
    if (__builtin_mul_overflow(one, static_cast<std::size_t>(loop.count), &one)) return false;
  return !__builtin_add_overflow(sum, one, &sum) && sum <= PTRDIFF_MAX;
}

constexpr char kTooLarge[] = "the data of the datatype are more than can be addressed";

}  // namespace

void LayoutBuilder::add(const Layout& item, std::ptrdiff_t at, const std::vector<Loop>& loops) {
  if (has_failed()) return;
  if (item.refusal.error_class != MPI_SUCCESS) return fail(item.refusal.error_class, item.refusal.text);
  if (item.bytes == 0) return;
  for (const Loop& loop : loops)
    if (loop.count <= 0) return;
  const bool is_mixed = made_.bytes != 0 && made_.element != item.element;
  if (!add_repeated(item.bytes, loops, made_.bytes) || !add_repeated(item.elements, loops, made_.elements))
    return fail(MPI_ERR_TYPE, kTooLarge);
  const bool pads = !item.padded.pieces.empty();
  if (pads && made_.padded.pieces.empty()) made_.padded = made_.data;
  const bool keeps_padding = pads || !made_.padded.pieces.empty();
  if ((keeps_padding && !made_.padded.append(item.whole_elements(), at, loops)) ||
      !made_.data.append(item.data, at, loops))
    return fail(MPI_ERR_NO_MEM, "the datatype consists of too many pieces");
  made_.element = is_mixed ? nullptr : item.element;
}

void LayoutBuilder::finish(std::ptrdiff_t extent) {
  if (has_failed()) return;
  made_.extent = extent;
  if (made_.data.pieces.empty()) return;
  const PieceList& whole = made_.whole_elements();
  if (!made_.data.find_bounds(made_.bounds)) return fail(MPI_ERR_TYPE, kTooLarge);
  made_.blocks = {made_.data.block_bytes(), made_.data.step(extent)};
  made_.dense_elements =
      whole.loops.empty() && whole.pieces.size() == 1 && extent == static_cast<std::ptrdiff_t>(whole.pieces[0].bytes);
  made_.dense = made_.dense_elements && made_.padded.pieces.empty();
}

}  // namespace shmemx::interpose
