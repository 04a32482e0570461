#include "variations.hpp"

namespace shmemx::bench {

namespace {

template <class P>
void ping_pong(Place& place, OwnState& own, int me, int /*senders*/, long n) {
  P path(place, own, me);
  for (long i = 0; i < n; ++i) {
    if (me == 0) {
      path.send(1, static_cast<std::uint64_t>(i));
      keep(path.receive());
    } else {
      path.send(0, path.receive());
    }
  }
}

template <class P>
void stream(Place& place, OwnState& own, int me, int senders, long n) {
  P path(place, own, me);
  if (me == 0) {
    for (long i = 0; i < n * senders; ++i) keep(path.receive());
  } else {
    for (long i = 0; i < n; ++i) path.send(0, static_cast<std::uint64_t>(i));
  }
}

template <class P>
void long_messages(Place& place, OwnState& own, int me, int /*senders*/, long n) {
  static std::vector<std::byte> buffer(kLongMessageBytes, std::byte{1});
  P path(place, own, me);
  for (long i = 0; i < n; ++i) {
    if (me == 0) {
      path.receive_bytes(buffer);
    } else {
      path.send_bytes(0, buffer);
    }
  }
}

// The limit: a word there and back. Lines rotate as those of a box do, since the distance of a line also depends on
// its address.
void raw_flag(Place& place, OwnState& own, int me, int /*senders*/, long n) {
  for (long i = 0; i < n; ++i) {
    const auto number = static_cast<long>(++own.sent);
    const std::size_t line = own.sent % 4;
    std::atomic<long>& there = place.flag_to[8 * line];
    std::atomic<long>& back = place.flag_to[8 * (line + 4)];
    if (me == 0) {
      there.store(number, std::memory_order_release);
      poll_until([&] { return back.load(std::memory_order_acquire) == number; });
    } else {
      poll_until([&] { return there.load(std::memory_order_acquire) == number; });
      back.store(number, std::memory_order_release);
    }
  }
}
void fill_nothing(Place&, int) {}

using Default = Path<Head::shadow, FreeAtSender, Box::none>;
using Plain = Path<Head::plain, FreeAtSender, Box::none>;
using AtReceiver = Path<Head::shadow, FreeAtReceiver, Box::none>;
using Global = Path<Head::shadow, FreeGlobal, Box::none>;
using Linked = Path<Head::shadow, TakenInBatches<true>, Box::none>;
using Listed = Path<Head::shadow, TakenInBatches<false>, Box::none>;
using Boxed = Path<Head::shadow, FreeAtSender, Box::used>;
using BesideBox = Path<Head::shadow, FreeAtSender, Box::unused>;

template <class P>
Variation latency(const char* name, std::size_t cell_bytes = 8192, std::size_t cell_count = 64) {
  return {name, "latency", cell_bytes, cell_count, P::fill, ping_pong<P>};
}
template <class P>
Variation streaming(const char* name, std::size_t cell_bytes = 8192) {
  return {name, "stream", cell_bytes, 64, P::fill, stream<P>};
}

}  // namespace

std::vector<Variation> pair_variations() {
  std::vector<Variation> all = {
      {"raw flag", "latency", 256, 1, fill_nothing, raw_flag},
      latency<Boxed>("fastbox"),
      latency<BesideBox>("queue, box polled"),
      latency<Default>("queue"),
      latency<Plain>("queue, no shadow head"),
      latency<Linked>("queue, free at sender, linked batch"),
      latency<Listed>("queue, free at sender, listed batch"),
      latency<AtReceiver>("queue, free at receiver"),
      latency<Global>("queue, free global"),
      streaming<Boxed>("fastbox"),
      streaming<Default>("queue"),
      streaming<Plain>("queue, no shadow head"),
      streaming<Linked>("queue, free at sender, linked batch"),
      streaming<Listed>("queue, free at sender, listed batch"),
      streaming<AtReceiver>("queue, free at receiver"),
      streaming<Global>("queue, free global"),
  };
  for (const std::size_t bytes : {256, 1024, 4096, 8192, 16384, 65536}) all.push_back(latency<Default>("cells", bytes));
  for (const std::size_t bytes : {256, 1024, 4096, 8192, 16384, 32768, 65536}) {
    for (const std::size_t count : {4, 16, 64})
      all.push_back({"cells", "bytes", bytes, count, Default::fill, long_messages<Default>});
  }
  return all;
}

std::vector<Variation> rate_variations() {
  return {streaming<Default>("at sender", 4096), streaming<Linked>("at sender, linked batch", 4096),
          streaming<AtReceiver>("at receiver", 4096), streaming<Global>("global", 4096),
          streaming<Plain>("at sender, no shadow head", 4096)};
}

}  // namespace shmemx::bench
