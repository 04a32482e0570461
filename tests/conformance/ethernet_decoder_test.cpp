// Frames and records that are not what they should be.
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "endpoints.hpp"
#include "transport/ethernet/address.hpp"
#include "transport/ethernet/decoder.hpp"
#include "transport/ethernet/frame_proof.hpp"

BOOST_AUTO_TEST_SUITE(ethernet_decoder)

using namespace shmemx::ethernet;
using shmemx::transport::Record;
using transport_test::pattern;

namespace {

std::vector<std::byte> frame_of(const FrameHeader& header, std::size_t content) {
  std::vector<std::byte> out(sizeof header + content);
  std::memcpy(out.data(), &header, sizeof header);
  return out;
}

bool is_frame(const FrameHeader& header, std::size_t content) {
  Frame frame;
  return read_frame(frame_of(header, content), frame);
}

bool is_address(const EndpointAddress& address) {
  const std::string packed = pack_address(address);
  EndpointAddress read;
  return unpack_address(transport_test::bytes_of(packed), read);
}

Record record_of(RecordKind kind, std::uint16_t header_bytes, std::size_t whole = 0) {
  return {{1, 0, header_bytes, 0}, 0, record_kind(kind, whole)};
}

std::vector<std::byte> announcement(std::uint32_t payload_bytes, std::size_t header_bytes, std::uint32_t pushed) {
  const Announcement value{1, payload_bytes, pushed};
  std::vector<std::byte> out(sizeof value + header_bytes);
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(frames_are_checked) {
  BOOST_CHECK(is_frame({.kind = FrameKind::records, .bytes = 16}, 16));
  BOOST_CHECK(is_frame({.kind = FrameKind::records, .bytes = 16}, 40));  // a switch may pad
  BOOST_CHECK(is_frame({.kind = FrameKind::ack, .flags = kAckNow}, 0));
  BOOST_CHECK(is_frame({.kind = FrameKind::pull, .bytes = sizeof(PullRequest)}, sizeof(PullRequest)));
  BOOST_CHECK(!is_frame({.kind = FrameKind::records, .bytes = 17}, 16));  // cut off
  BOOST_CHECK(!is_frame({.kind = FrameKind::records, .bytes = 0}, 0));
  BOOST_CHECK(!is_frame({.kind = FrameKind::ack, .bytes = 1}, 1));
  BOOST_CHECK(!is_frame({.kind = FrameKind::pull, .bytes = 8}, 8));
  BOOST_CHECK(!is_frame({.kind = static_cast<FrameKind>(9)}, 0));
  BOOST_CHECK(!is_frame({.kind = FrameKind::ack, .flags = 2}, 0));
  BOOST_CHECK(!is_frame({.kind = FrameKind::ack, .window = 0}, 0));
  const auto whole = frame_of({.kind = FrameKind::ack}, 0);
  Frame frame;
  for (std::size_t n = 0; n < whole.size(); ++n) BOOST_CHECK(!read_frame(Bytes(whole).first(n), frame));
}

BOOST_AUTO_TEST_CASE(records_are_checked) {
  const auto bytes = pattern(80'000, 1);
  const auto fault = [&](const Record& record, std::size_t n) { return check_record(record, Bytes(bytes).first(n)); };
  BOOST_CHECK(fault(record_of(RecordKind::message, 8), 100) == nullptr);
  BOOST_CHECK(fault(record_of(RecordKind::message, 8), 70'000) != nullptr);
  BOOST_CHECK(fault(record_of(RecordKind::message, 8, 5), 100) != nullptr);
  BOOST_CHECK(fault(record_of(RecordKind::first_part, 8, 2000), 1000) == nullptr);
  BOOST_CHECK(fault(record_of(RecordKind::first_part, 8, 1000), 1000) != nullptr);  // it is the only part
  BOOST_CHECK(fault(record_of(RecordKind::first_part, 8, 70'000), 1000) != nullptr);
  BOOST_CHECK(fault(record_of(RecordKind::first_part, 512, 500), 100) != nullptr);
  BOOST_CHECK(fault(record_of(RecordKind::next_part, 0), 0) != nullptr);
  BOOST_CHECK(fault(record_of(RecordKind::pulled, 0), 8) == nullptr);
  BOOST_CHECK(fault(record_of(RecordKind::pulled, 0), 9) != nullptr);
  BOOST_CHECK(fault(record_of(RecordKind::shutdown, 0), 0) == nullptr);
  BOOST_CHECK(fault(record_of(RecordKind::shutdown, 0), 16) != nullptr);
  BOOST_CHECK(fault(record_of(static_cast<RecordKind>(6), 0), 16) != nullptr);
}

BOOST_AUTO_TEST_CASE(announcements_are_checked) {
  const auto fault = [](std::size_t payload_bytes, std::uint16_t header_bytes, std::size_t here,
                        std::uint32_t pushed = 0) {
    const auto content = announcement(static_cast<std::uint32_t>(payload_bytes), here, pushed);
    return check_record(record_of(RecordKind::announced, header_bytes), content);
  };
  BOOST_CHECK(fault(kLongBytes, 40, 40) == nullptr);
  BOOST_CHECK(fault(kMaxPayloadBytes, 0, 0) == nullptr);
  BOOST_CHECK(fault(kMaxPayloadBytes + 1, 0, 0) != nullptr);
  BOOST_CHECK(fault(kLongBytes - 1, 0, 0) != nullptr);
  BOOST_CHECK(fault(kLongBytes, 40, 39) != nullptr);
  BOOST_CHECK(fault(~std::uint64_t{0}, 0, 0) != nullptr);
  BOOST_CHECK(fault(kLongBytes, 40, 40, kMostBlockPackets) == nullptr);
  BOOST_CHECK(fault(kLongBytes, 40, 40, kMostBlockPackets + 1) != nullptr);
}

BOOST_AUTO_TEST_CASE(addresses_are_checked) {
  for (std::uint16_t n = 1; n <= kMostInterfaces; ++n) {
    EndpointAddress address{.port = 1, .life = 2, .mtu = 1500, .interfaces = n};
    address.macs[n - 1U] = {2, 0, 0, 0, 1, 9};
    const std::string packed = pack_address(address);
    const Bytes bytes = transport_test::bytes_of(packed);
    EndpointAddress read;
    BOOST_REQUIRE(unpack_address(bytes, read));
    BOOST_CHECK(pack_address(read) == packed && read.interfaces == n &&
                mac_text(read.macs[n - 1U]) == "02:00:00:00:01:09");
    for (std::size_t part = 0; part < bytes.size(); ++part) BOOST_CHECK(!unpack_address(bytes.first(part), read));
    for (const int wrong : {0, n - 1, n + 1, 5, 65535}) {
      address.interfaces = static_cast<std::uint16_t>(wrong);
      std::string other = packed;
      std::memcpy(other.data(), &address, offsetof(EndpointAddress, macs));
      BOOST_CHECK(!unpack_address(transport_test::bytes_of(other), read));
    }
  }
  BOOST_CHECK(!is_address({.mtu = kLeastMtu - 1, .interfaces = 1}));
  BOOST_CHECK(!is_address({.mtu = kMostMtu + 1, .interfaces = 1}));
  BOOST_CHECK(is_address({.mtu = kMostMtu, .interfaces = 1}));
}

BOOST_AUTO_TEST_CASE(a_proof_depends_on_all_bits_and_on_the_secret) {
  const FrameProof proof({1, 2}, 9000);
  const FrameProof other({1, 3}, 9000);
  for (const std::size_t bytes : {1, 15, 16, 17, 63, 64, 65, 1424, 8931}) {
    auto content = pattern(bytes, 3);
    const FrameHeader header{.kind = FrameKind::records, .bytes = static_cast<std::uint16_t>(bytes)};
    const std::uint64_t value = proof.prove(header, proof.digest(content));
    BOOST_CHECK_NE(value, other.prove(header, other.digest(content)));
    for (std::size_t bit = 0; bit<bytes * 8; bit += bytes> 100 ? 97 : 1) {
      content[bit / 8] ^= std::byte{1} << (bit % 8);
      BOOST_REQUIRE_NE(value, proof.prove(header, proof.digest(content)));
      content[bit / 8] ^= std::byte{1} << (bit % 8);
    }
    FrameHeader changed = header;
    changed.number = 1;
    BOOST_CHECK_NE(value, proof.prove(changed, proof.digest(content)));
  }
}

BOOST_AUTO_TEST_SUITE_END()
