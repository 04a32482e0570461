// Puts and gets of networks that have them, see transport/rma.hpp.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "conformance_job.hpp"

using namespace transport_test;

BOOST_AUTO_TEST_SUITE(remote_memory)

BOOST_AUTO_TEST_CASE(put_and_get_transfer_data) {
  Job job;
  shmemx::transport::Rma* const rma = job[0].rma();
  if (rma == nullptr) {
    BOOST_TEST_MESSAGE("messages only");
    return;
  }
  constexpr std::size_t kBytes = 1 << 22;
  std::vector<std::byte> window(kBytes);
  auto packed = job[1].rma()->register_memory(window.data(), window.size());
  BOOST_REQUIRE(packed);
  BOOST_CHECK_LE((*packed).size(), shmemx::transport::kMaxKeyBytes);
  shmemx::transport::RemoteKey* const key = rma->import_key(1, bytes_of(*packed));
  BOOST_REQUIRE(key != nullptr);
  for (const std::size_t bytes : {1, 8, 100, 4096, 5000, 20'000, 600'000, 3'000'000}) {
    const auto source = pattern(bytes, static_cast<unsigned>(bytes));
    auto changing = source;
    shmemx::transport::Completion done, source_use;
    BOOST_REQUIRE(job.poll_until([&] { return rma->put(*key, 64, changing, done, &source_use); }));
    BOOST_REQUIRE(job.poll_until([&] { return source_use.open == 0; }));
    std::fill(changing.begin(), changing.end(), std::byte{0});
    BOOST_REQUIRE(job.poll_until([&] { return done.open == 0; }));
    BOOST_CHECK(std::equal(source.begin(), source.end(), window.begin() + 64));
    std::vector<std::byte> back(bytes);
    BOOST_REQUIRE(job.poll_until([&] { return rma->get(*key, 64, back, done); }));
    BOOST_REQUIRE(job.poll_until([&] { return done.open == 0; }));
    BOOST_CHECK(back == source);
    BOOST_CHECK(!done.failed && !source_use.failed);
  }
  rma->release_key(key);
  job[1].rma()->unregister_memory(window.data());
}

namespace {

// A lane of PE 0 with a key of PE 1. Only the lane makes its operations end.
struct LaneUse {
  Job& job;
  shmemx::transport::Lane& lane;
  const shmemx::transport::RemoteKey& key;

  template <class Done>
  bool ends(Done done) const {
    return job.poll_until([&] {
      lane.progress();
      return done();
    });
  }
};

void check_blocks(const LaneUse& use, std::size_t offset, const std::vector<std::byte>& window) {
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{64}, std::size_t{4096}, std::size_t{1} << 16}) {
    if (bytes > use.lane.most_bytes()) continue;
    const auto source = pattern(bytes, static_cast<unsigned>(bytes + offset));
    auto changing = source;
    std::vector<std::byte> back(bytes);
    shmemx::transport::Completion done, source_use;
    BOOST_REQUIRE(use.ends([&] { return use.lane.put(use.key, offset, changing, done, &source_use); }));
    BOOST_REQUIRE(use.ends([&] { return source_use.open == 0; }));
    std::fill(changing.begin(), changing.end(), std::byte{0});
    BOOST_REQUIRE(use.ends([&] { return done.open == 0; }));
    BOOST_CHECK(std::equal(source.begin(), source.end(), window.begin() + static_cast<std::ptrdiff_t>(offset)));
    BOOST_REQUIRE(use.ends([&] { return use.lane.get(use.key, offset, back, done); }));
    BOOST_REQUIRE(use.ends([&] { return done.open == 0; }));
    BOOST_CHECK(back == source && !done.failed && !source_use.failed);
  }
}

bool has_begun(shmemx::transport::ShortGet begun) { return begun != shmemx::transport::ShortGet::no; }

// More than any pool has.
void check_words(const LaneUse& use, const std::vector<std::byte>& window) {
  std::vector<std::uint64_t> words(2000);
  shmemx::transport::Completion done;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const shmemx::transport::Bytes word = std::as_bytes(std::span(&i, 1));
    BOOST_REQUIRE(use.ends([&] { return use.lane.put_short(use.key, i * sizeof i, word, done); }));
  }
  BOOST_REQUIRE(use.ends([&] { return done.open == 0; }));
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto dest = std::as_writable_bytes(std::span(&words[i], 1));
    BOOST_REQUIRE(use.ends([&] { return has_begun(use.lane.get_short(use.key, i * sizeof i, dest, done)); }));
    BOOST_REQUIRE(use.ends([&] { return done.open == 0; }));
  }
  BOOST_CHECK(std::memcmp(words.data(), window.data(), words.size() * sizeof words[0]) == 0);
  BOOST_CHECK(words.back() == words.size() - 1 && !done.failed);
}

}  // namespace

BOOST_AUTO_TEST_CASE(lanes_put_and_get_by_keys_of_their_own) {
  Job job;
  shmemx::transport::Rma* const rma = job[0].rma();
  if (rma == nullptr) return;
  constexpr std::size_t kBytes = 1 << 16;
  std::vector<std::byte> window(2 * kBytes);
  auto packed = job[1].rma()->register_memory(window.data(), window.size());
  BOOST_REQUIRE(packed);
  shmemx::transport::RemoteKey* const common = rma->import_key(1, bytes_of(*packed));
  BOOST_REQUIRE(common != nullptr);
  const auto one = rma->open_lane();
  const auto two = rma->open_lane();
  if (one == nullptr || two == nullptr) BOOST_TEST_MESSAGE("no lanes");
  for (shmemx::transport::Lane* lane : {one.get(), two.get()}) {
    const shmemx::transport::RemoteKey* const key = lane != nullptr ? lane->import_key(*common) : nullptr;
    BOOST_REQUIRE_EQUAL(key != nullptr, lane != nullptr);
    if (key == nullptr) continue;
    const LaneUse use{job, *lane, *key};
    check_blocks(use, lane == one.get() ? 0 : kBytes, window);
    check_words(use, window);
  }
  rma->release_key(common);
  job[1].rma()->unregister_memory(window.data());
}

// More than any pool has.
BOOST_AUTO_TEST_CASE(many_puts_at_once_are_all_there) {
  Job job;
  shmemx::transport::Rma* const rma = job[0].rma();
  if (rma == nullptr) return;
  constexpr std::size_t kPuts = 5000;
  std::vector<std::uint64_t> window(kPuts), source(kPuts);
  auto* const base = reinterpret_cast<std::byte*>(window.data());
  auto packed = job[1].rma()->register_memory(base, kPuts * sizeof(std::uint64_t));
  BOOST_REQUIRE(packed);
  shmemx::transport::RemoteKey* const key = rma->import_key(1, bytes_of(*packed));
  BOOST_REQUIRE(key != nullptr);
  shmemx::transport::Completion done, source_use;
  for (std::size_t i = 0; i < kPuts; ++i) {
    source[i] = i * i + 1;
    const shmemx::transport::Bytes word = std::as_bytes(std::span(&source[i], 1));
    auto* const use = i % 2 == 0 ? &source_use : nullptr;
    BOOST_REQUIRE(job.poll_until([&] { return rma->put(*key, i * sizeof(std::uint64_t), word, done, use); }));
  }
  BOOST_REQUIRE(job.poll_until([&] { return done.open == 0; }));
  BOOST_CHECK_EQUAL(source_use.open, 0u);
  BOOST_CHECK(window == source);
  rma->release_key(key);
  job[1].rma()->unregister_memory(base);
}

BOOST_AUTO_TEST_CASE(short_puts_are_copied_and_short_gets_end) {
  Job job;
  shmemx::transport::Rma* const rma = job[0].rma();
  if (rma == nullptr) return;
  constexpr std::size_t kPuts = 2000;
  std::vector<std::uint64_t> window(kPuts);
  auto* const base = reinterpret_cast<std::byte*>(window.data());
  auto packed = job[1].rma()->register_memory(base, kPuts * sizeof(std::uint64_t));
  BOOST_REQUIRE(packed);
  shmemx::transport::RemoteKey* const key = rma->import_key(1, bytes_of(*packed));
  BOOST_REQUIRE(key != nullptr);
  shmemx::transport::Completion done;
  std::uint64_t changing = 0;
  const shmemx::transport::Bytes word = std::as_bytes(std::span(&changing, 1));
  for (std::size_t i = 0; i < kPuts; ++i) {
    changing = i * i + 1;
    BOOST_REQUIRE(job.poll_until([&] { return rma->put_short(*key, i * sizeof changing, word, done); }));
    changing = 0;
  }
  BOOST_REQUIRE(job.poll_until([&] { return done.open == 0; }));
  for (std::size_t i = 0; i < kPuts; ++i) BOOST_REQUIRE_EQUAL(window[i], i * i + 1);
  for (const std::size_t bytes : {1, 4, 8, 24, 64}) {
    std::vector<std::byte> back(bytes);
    BOOST_REQUIRE(job.poll_until([&] { return rma->put_short(*key, 128, pattern(bytes, 3), done); }));
    BOOST_REQUIRE(job.poll_until([&] { return done.open == 0; }));
    BOOST_REQUIRE(job.poll_until([&] { return has_begun(rma->get_short(*key, 128, back, done)); }));
    BOOST_REQUIRE(job.poll_until([&] { return done.open == 0; }));
    BOOST_CHECK(back == pattern(bytes, 3));
  }
  BOOST_CHECK(!done.failed);
  rma->release_key(key);
  job[1].rma()->unregister_memory(base);
}

// The initiator is not polled. The target is, as networks in software need it.
// Registers all that the network registers, on a provider that has a limit (strict_provider).
static void use_up(shmemx::transport::Rma& rma, std::vector<std::byte>& memory) {
  std::size_t at = 0;
  for (std::size_t bytes = memory.size() / 2; bytes >= 4096; bytes /= 2) {
    if (rma.register_memory(memory.data() + at, bytes)) at += bytes;
  }
}

// The target's window is registered, and nothing of the initiator's memory.
BOOST_AUTO_TEST_CASE(memory_that_is_not_registered_is_copied) {
  if (std::getenv("SHMEMX_TEST_PROVIDER_MEMORY") == nullptr) {
    BOOST_TEST_MESSAGE("no limit of registrations");
    return;
  }
  constexpr std::size_t kBytes = std::size_t{4} << 20;
  std::vector<std::byte> window(kBytes), all(4 * kBytes);
  Job job;
  shmemx::transport::Rma* const rma = job[0].rma();
  auto packed = job[1].rma()->register_memory(window.data(), window.size());
  BOOST_REQUIRE(packed);
  shmemx::transport::RemoteKey* const key = rma->import_key(1, bytes_of(*packed));
  BOOST_REQUIRE(key != nullptr);
  use_up(*rma, all);
  for (const std::size_t bytes : {64, 4096, 5000, 600'001, 3'000'000}) {
    const auto source = pattern(bytes, static_cast<unsigned>(bytes));
    std::vector<std::byte> back(bytes);
    shmemx::transport::Completion done, source_use;
    BOOST_REQUIRE(job.poll_until([&] { return rma->put(*key, 64, source, done, &source_use); }));
    BOOST_REQUIRE(job.poll_until([&] { return source_use.open == 0 && done.open == 0; }));
    BOOST_CHECK(std::equal(source.begin(), source.end(), window.begin() + 64));
    BOOST_REQUIRE(job.poll_until([&] { return rma->get(*key, 64, back, done); }));
    BOOST_REQUIRE(job.poll_until([&] { return done.open == 0; }));
    BOOST_CHECK(back == source && !done.failed && !source_use.failed);
  }
  BOOST_CHECK(job.sink(0).losses.empty() && job.sink(1).losses.empty());
}

BOOST_AUTO_TEST_CASE(progress_ends_puts_and_gets) {
  Job job;
  shmemx::transport::Rma* const rma = job[0].rma();
  if (rma == nullptr) return;
  std::vector<std::byte> window(4096);
  auto packed = job[1].rma()->register_memory(window.data(), window.size());
  BOOST_REQUIRE(packed);
  shmemx::transport::RemoteKey* const key = rma->import_key(1, bytes_of(*packed));
  BOOST_REQUIRE(key != nullptr);
  const auto source = pattern(1000, 5);
  std::vector<std::byte> back(source.size());
  shmemx::transport::Completion done;
  BOOST_REQUIRE(job.poll_until([&] { return rma->put(*key, 0, source, done, nullptr); }));
  BOOST_REQUIRE(job.poll_until([&] { return done.open == 0; }));
  BOOST_REQUIRE(job.poll_until([&] { return rma->get(*key, 0, back, done); }));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (done.open != 0 && std::chrono::steady_clock::now() < end) {
    rma->progress();
    job[1].poll(-1);
  }
  BOOST_CHECK_EQUAL(done.open, 0u);
  BOOST_CHECK(back == source);
  rma->release_key(key);
  job[1].rma()->unregister_memory(window.data());
}

BOOST_AUTO_TEST_SUITE_END()
