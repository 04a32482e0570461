#include "pt2pt/lmt/section.hpp"

namespace shmemx::pt2pt {

Space space_of(Platform& platform, int pe, const Shape& shape) noexcept {
  Cursor cursor(shape);
  std::uint64_t offset;
  bool first = true;
  Space space = Space::private_memory;
  while (cursor.left() != 0) {
    const Place place = cursor.next(cursor.left());
    const Space here = platform.describe(pe, place.at, place.bytes, offset);
    if (here == Space::private_memory || (!first && here != space)) return Space::private_memory;
    space = here;
    first = false;
    cursor.advance(place.bytes);
  }
  return space;
}

void describe(Platform& platform, LmtChoice choice, Request& request, Section& out) noexcept {
  if (request.cursor.passed() == 0) {
    const bool symmetric = choice == LmtChoice::automatic || choice == LmtChoice::mapped;
    request.transfer.space =
        symmetric ? space_of(platform, request.peer, request.cursor.shape()) : Space::private_memory;
  }
  out.space = request.transfer.space;
  out.count = 0;
  while (request.cursor.passed() != request.goal && out.count != kSectionPlaces) {
    Place place = request.cursor.next(request.goal - request.cursor.passed());
    request.cursor.advance(place.bytes);
    if (out.space != Space::private_memory) {
      std::uint64_t offset = 0;
      platform.describe(request.peer, place.at, place.bytes, offset);
      place.at = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(offset));
    }
    out.places[out.count++] = place;
  }
}

bool use_section(Request& mover, const Section& section) noexcept {
  if (section.count == 0) return false;
  mover.transfer.section = section;
  mover.transfer.there = Cursor(Shape::of_list(mover.transfer.section.places, section.count));
  return true;
}

}  // namespace shmemx::pt2pt
