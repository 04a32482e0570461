#include "pt2pt/pieces.hpp"

#include <new>

namespace shmemx::pt2pt {

void Pieces::start(Platform& platform, std::size_t most_bytes) noexcept {
  platform_ = &platform;
  packed_.reset(new (std::nothrow) std::byte[most_bytes]);
  if (packed_ == nullptr) platform.exhausted("memory for messages", most_bytes, 0);
}

bool Pieces::send(Request& request, am::HandlerId id, am::Bytes header, std::size_t bytes,
                  am::SendOptions options) noexcept {
  const Place place = request.cursor.next(bytes);
  if (place.bytes == bytes) {
    if (!platform_->try_send(request.peer, id, header, {place.at, bytes}, options)) return false;
    request.cursor.advance(bytes);
    return true;
  }
  Cursor ahead = request.cursor;
  ahead.gather(packed_.get(), bytes);
  if (!platform_->try_send(request.peer, id, header, {packed_.get(), bytes}, options)) return false;
  request.cursor = ahead;
  return true;
}

}  // namespace shmemx::pt2pt
