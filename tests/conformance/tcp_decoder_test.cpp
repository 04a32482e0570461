#include "transport/tcp/decoder.hpp"

#include <algorithm>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <span>

#include "endpoints.hpp"

BOOST_AUTO_TEST_SUITE(tcp_decoder)

using namespace shmemx::tcp;
using transport_test::pattern;
using transport_test::Recorder;
using Stream = std::vector<std::byte>;

namespace {

void add_frame(Stream& stream, const FrameHeader& header, const Stream& message) {
  const auto* start = reinterpret_cast<const std::byte*>(&header);
  stream.insert(stream.end(), start, start + sizeof header);
  stream.insert(stream.end(), message.begin(), message.end());
  stream.resize(stream.size() + padding_of(message.size()));
}

void add_message(Stream& stream, std::uint16_t header_bytes, std::size_t payload_bytes, unsigned seed) {
  const auto message = pattern(header_bytes + payload_bytes, seed);
  add_frame(stream,
            {static_cast<std::uint32_t>(message.size()),
             FrameKind::message,
             0,
             {static_cast<std::uint8_t>(seed), 0, header_bytes, seed}},
            message);
}

// Passes the stream to the decoder in reads of at most `step` bytes. Returns how many bytes were accepted.
std::size_t feed(Decoder& decoder, const Stream& stream, std::size_t step) {
  std::size_t at = 0;
  while (at < stream.size()) {
    iovec areas[2];
    const int n = decoder.areas(areas);
    BOOST_REQUIRE_GT(n, 0);
    std::size_t given = 0;
    for (int i = 0; i < n; ++i) {
      const std::size_t bytes = std::min({areas[i].iov_len, step - given, stream.size() - at - given});
      std::memcpy(areas[i].iov_base, stream.data() + at + given, bytes);
      given += bytes;
      if (bytes < areas[i].iov_len) break;
    }
    if (!decoder.advance(given)) return at;
    at += given;
  }
  return at;
}

const FrameHeader kGood{8, FrameKind::message, 0, {1, 0, 4, 0}};

bool is_refused(const FrameHeader& header) {
  Stream stream;
  add_frame(stream, header, pattern(std::min<std::size_t>(header.message_bytes, 64), 1));
  Recorder sink;
  Decoder decoder(0, sink);
  const bool refused = feed(decoder, stream, 1U << 20) == 0;
  BOOST_CHECK(!refused || sink.messages.empty());
  BOOST_CHECK_EQUAL(refused, decoder.what_is_broken()[0] != '\0');
  return refused;
}

}  // namespace

BOOST_AUTO_TEST_CASE(headers_and_payloads_can_be_read_one_after_the_other) {
  for (const std::size_t step : {1, 17, 1'000'000}) {
    Stream stream;
    Recorder sink;
    sink.lands = true;
    Decoder decoder(5, sink);
    decoder.read_parts();
    const std::size_t payloads[] = {0, 1, 16'383, 16'384, 40'001, 8, 0};
    std::uint16_t seed = 0;
    for (const std::size_t payload : payloads) {
      add_message(stream, static_cast<std::uint16_t>(seed * 36), payload, seed);
      ++seed;
    }
    std::size_t reads = 0;
    for (std::size_t at = 0; at < stream.size(); ++reads) {
      iovec areas[2];
      BOOST_REQUIRE_EQUAL(decoder.areas(areas), 1);
      const std::size_t bytes = std::min({areas[0].iov_len, step, stream.size() - at});
      std::memcpy(areas[0].iov_base, stream.data() + at, bytes);
      BOOST_REQUIRE(decoder.advance(bytes));
      at += bytes;
    }
    BOOST_REQUIRE_EQUAL(sink.messages.size(), std::size(payloads));
    for (unsigned i = 0; i < seed; ++i) {
      auto whole = sink.messages[i].header;
      whole.insert(whole.end(), sink.messages[i].payload.begin(), sink.messages[i].payload.end());
      BOOST_CHECK(whole == pattern(i * 36 + payloads[i], i));
    }
    // Two for each message, three for long ones whose header is read alone; padding comes with the next header.
    if (step > stream.size()) BOOST_CHECK_GE(reads, 2 * std::size(payloads) - 1);
  }
}

BOOST_AUTO_TEST_CASE(messages_are_decoded_however_the_stream_is_divided) {
  Stream stream;
  const std::size_t payloads[] = {0, 1, 8, 15, 16, 17, 5000, 16'383, 16'384, 16'385, 40'001, 8, 200'003, 16'399, 0};
  unsigned seed = 0;
  for (const std::size_t payload : payloads) {
    add_message(stream, static_cast<std::uint16_t>(seed * 36), payload, seed);
    ++seed;
  }
  for (const bool lands : {true, false}) {
    for (const std::size_t step : {1, 3, 16, 17, 1000, 4096, 65'536, 1'000'000}) {
      Recorder sink;
      sink.lands = lands;
      Decoder decoder(5, sink);
      BOOST_REQUIRE_EQUAL(feed(decoder, stream, step), stream.size());
      BOOST_REQUIRE_EQUAL(sink.messages.size(), std::size(payloads));
      for (unsigned i = 0; i < seed; ++i) {
        const auto& message = sink.messages[i];
        auto whole = message.header;
        whole.insert(whole.end(), message.payload.begin(), message.payload.end());
        BOOST_CHECK(whole == pattern(i * 36 + payloads[i], i));
        BOOST_CHECK_EQUAL(message.source, 5);
        BOOST_CHECK_EQUAL(message.fixed.ack, i);
        BOOST_CHECK_EQUAL(message.placed, lands && payloads[i] >= kLongBytes);
      }
      BOOST_CHECK(sink.aligned);
      BOOST_CHECK(decoder.between_frames());
    }
  }
}

// What has arrived is acknowledged at the end of a read, so a read must not be as long as the longest payload.
BOOST_AUTO_TEST_CASE(a_long_payload_is_read_in_pieces) {
  constexpr std::size_t kMostOfOneRead = std::size_t{128} << 10;
  Stream stream;
  add_message(stream, 8, (std::size_t{1} << 20) + 5, 3);
  add_message(stream, 8, 8, 4);
  Recorder sink;
  Decoder decoder(0, sink);
  std::size_t at = 0;
  while (at < stream.size()) {
    iovec areas[2];
    const int n = decoder.areas(areas);
    BOOST_REQUIRE(n == 1 || n == 2);
    BOOST_REQUIRE_LE(areas[0].iov_len, kMostOfOneRead);
    const std::size_t bytes = std::min(areas[0].iov_len, stream.size() - at);
    std::memcpy(areas[0].iov_base, stream.data() + at, bytes);
    BOOST_REQUIRE(decoder.advance(bytes));
    at += bytes;
  }
  BOOST_REQUIRE_EQUAL(sink.messages.size(), 2U);
  BOOST_CHECK(sink.messages[0].placed);
  BOOST_CHECK(sink.messages[0].payload == [] {
    const Stream all = pattern(8 + (std::size_t{1} << 20) + 5, 3);
    return Stream(all.begin() + 8, all.end());
  }());
  BOOST_CHECK(decoder.between_frames());
}

BOOST_AUTO_TEST_CASE(frames_that_do_not_fit_are_refused) {
  BOOST_CHECK(!is_refused(kGood));
  FrameHeader bad = kGood;
  bad.fixed.header_bytes = 9;
  BOOST_CHECK(is_refused(bad));
  bad = kGood;
  bad.message_bytes = 60'000;
  bad.fixed.header_bytes = kMaxHeaderBytes + 1;
  BOOST_CHECK(is_refused(bad));
  bad = kGood;
  bad.message_bytes = static_cast<std::uint32_t>(kMaxPayloadBytes) + 5;
  BOOST_CHECK(is_refused(bad));
  bad = kGood;
  bad.message_bytes = ~0U;
  BOOST_CHECK(is_refused(bad));
  bad = kGood;
  bad.reserved = 1;
  BOOST_CHECK(is_refused(bad));
  bad = kGood;
  bad.kind = static_cast<FrameKind>(0);
  BOOST_CHECK(is_refused(bad));
  bad = kGood;
  bad.kind = FrameKind::shutdown;
  BOOST_CHECK(is_refused(bad));
}

BOOST_AUTO_TEST_CASE(a_shutdown_is_the_last_frame) {
  Stream stream;
  add_message(stream, 4, 4, 1);
  add_frame(stream, {0, FrameKind::shutdown, 0, {}}, {});
  Recorder sink;
  Decoder decoder(0, sink);
  BOOST_CHECK_EQUAL(feed(decoder, stream, 5), stream.size());
  BOOST_CHECK(decoder.has_shut_down());
  BOOST_CHECK_EQUAL(sink.messages.size(), 1U);
  Stream more;
  add_message(more, 4, 4, 1);
  BOOST_CHECK_EQUAL(feed(decoder, more, 1000), 0U);
}

BOOST_AUTO_TEST_CASE(a_truncated_message_is_recognised) {
  Stream stream;
  add_message(stream, 4, 100'000, 1);
  for (const std::size_t bytes : {1, 16, 20, 1000, 100'000}) {
    Recorder sink;
    Decoder decoder(0, sink);
    feed(decoder, Stream(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(bytes)), 700);
    BOOST_CHECK(!decoder.between_frames());
    BOOST_CHECK(sink.messages.empty());
  }
}

BOOST_AUTO_TEST_CASE(a_suspend_frame_carries_the_number_of_its_connection) {
  Stream stream;
  add_message(stream, 4, 101, 1);  // with padding at its end
  add_frame(stream, {0, FrameKind::suspend, 0, std::bit_cast<Header>(std::uint64_t{7})}, {});
  add_message(stream, 4, 100, 2);
  Recorder sink;
  Decoder decoder(0, sink);
  BOOST_CHECK_EQUAL(decoder.suspends(), 0u);
  BOOST_CHECK_EQUAL(feed(decoder, stream, 7), stream.size());
  BOOST_CHECK_EQUAL(decoder.suspends(), 7u);
  BOOST_CHECK_EQUAL(sink.messages.size(), 2u);
}

BOOST_AUTO_TEST_CASE(a_stream_goes_on_after_its_memory_was_freed) {
  Stream stream;
  add_message(stream, 4, 101, 1);
  const std::size_t padding = padding_of(105);
  Recorder sink;
  Decoder decoder(0, sink);
  for (std::size_t round = 1; round <= 3; ++round) {
    for (const std::size_t at : {std::size_t{0}, stream.size() - padding / 2}) {  // in the middle of the padding
      const std::size_t end = at == 0 ? stream.size() - padding / 2 : stream.size();
      const Stream part(stream.begin() + static_cast<std::ptrdiff_t>(at),
                        stream.begin() + static_cast<std::ptrdiff_t>(end));
      BOOST_CHECK_EQUAL(feed(decoder, part, 1000), part.size());
      BOOST_REQUIRE(decoder.between_frames());
      decoder.free_memory();
    }
    BOOST_CHECK_EQUAL(sink.messages.size(), round);
  }
}

template <class T>
Stream bytes_of_struct(const T& one) {
  const auto bytes = std::as_bytes(std::span(&one, 1));
  return Stream(bytes.begin(), bytes.end());
}

BOOST_AUTO_TEST_CASE(a_part_waits_for_its_message_and_the_message_for_it) {
  constexpr std::size_t kFirst = 50'000;
  constexpr std::size_t kSecond = 30'001;
  const Stream payload = pattern(kFirst + kSecond, 5);
  for (const std::size_t step : {1, 1000, 1'000'000}) {
    Recorder sink;
    Decoder first(0, sink);
    Decoder second(2, sink);
    second.expect_parts();
    for (std::uint64_t number = 0; number < 3; ++number) {
      Stream part = bytes_of_struct(PartHeader{number, kFirst});
      part.insert(part.end(), payload.begin() + kFirst, payload.end());
      Stream parts;
      add_frame(parts, {static_cast<std::uint32_t>(part.size()), FrameKind::part, 0, {0, 0, sizeof(PartHeader), 0}},
                part);
      const std::size_t in_front = sizeof(FrameHeader) + sizeof(PartHeader);
      feed(second, Stream(parts.begin(), parts.begin() + in_front), step);
      BOOST_REQUIRE(second.needs_place() && second.is_waiting());
      second.keep(Bytes(parts).subspan(in_front, 100));

      Stream message = bytes_of_struct(SplitHeader{number, payload.size()});
      message.resize(message.size() + 4);
      message.insert(message.end(), payload.begin(), payload.begin() + kFirst);
      Stream stream;
      add_frame(stream, {static_cast<std::uint32_t>(message.size()), FrameKind::split, 0, {1, 0, 4, 0}}, message);
      stream.resize(stream.size() - padding_of(message.size()));
      BOOST_REQUIRE_EQUAL(feed(first, stream, step), stream.size());
      BOOST_REQUIRE(first.lacks_part() && first.is_waiting());

      std::byte* const place = first.place_of(second);
      BOOST_REQUIRE(place != nullptr);
      BOOST_CHECK(second.place_part(place));
      feed(second, Stream(parts.begin() + in_front + 100, parts.end() - padding_of(part.size())), step);
      BOOST_REQUIRE(second.has_part());
      BOOST_CHECK(first.complete_part() && second.complete_part());
      BOOST_REQUIRE_EQUAL(sink.messages.size(), number + 1);
      BOOST_CHECK(sink.messages.back().payload == payload);
      feed(first, Stream(padding_of(message.size())), step);
      feed(second, Stream(padding_of(part.size())), step);
    }
  }
}

BOOST_AUTO_TEST_CASE(each_rail_takes_its_own_frames_only) {
  const FrameHeader part{sizeof(PartHeader) + 20'000, FrameKind::part, 0, {0, 0, sizeof(PartHeader), 0}};
  BOOST_CHECK(is_refused(part));
  int number = 0;
  for (FrameHeader header : {kGood, part, part, part}) {
    if (number == 2) header.message_bytes = sizeof(PartHeader) + 100;
    if (number == 3) header.fixed.header_bytes = 8;
    Stream stream;
    add_frame(stream, header, pattern(64, 1));
    stream.resize(sizeof header + sizeof(PartHeader));
    Recorder sink;
    Decoder decoder(0, sink);
    decoder.expect_parts();
    BOOST_CHECK_EQUAL(feed(decoder, stream, 1U << 20) != 0, number == 1);
    ++number;
  }
}

BOOST_AUTO_TEST_CASE(frames_without_a_message_have_no_length) {
  for (const FrameKind kind : {FrameKind::shutdown, FrameKind::suspend}) {
    BOOST_CHECK(!is_refused({0, kind, 0, {}}));
    BOOST_CHECK(is_refused({8, kind, 0, {}}));
  }
}

BOOST_AUTO_TEST_SUITE_END()
