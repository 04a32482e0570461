// The grammar of SHMEM_SYMMETRIC_SIZE, string by string.
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "config/number.hpp"

BOOST_AUTO_TEST_SUITE(config_bytes)

namespace {

using namespace shmemx::config;

constexpr std::uint64_t K = 1024;
constexpr std::uint64_t M = K * K;
constexpr std::uint64_t G = K * M;
constexpr std::uint64_t T = K * G;
constexpr std::uint64_t kMost = ~std::uint64_t{0};

struct Good {
  std::string_view text;
  std::uint64_t bytes;
};

const Good kGood[] = {
    // plain numbers
    {"0", 0},
    {"1", 1},
    {"4096", 4096},
    {"00042", 42},
    {"+7", 7},
    {"18446744073709551615", kMost},
    {"9007199254740993", 9007199254740993},  // 2^53 + 1: no double can hold it
    // each suffix, either case
    {"1k", K},
    {"1K", K},
    {"20m", 20 * M},
    {"20M", 20 * M},
    {"3g", 3 * G},
    {"3G", 3 * G},
    {"2t", 2 * T},
    {"2T", 2 * T},
    {"0k", 0},
    {"0t", 0},
    {"16777215t", 16777215 * T},
    {"9007199254740993k", 9007199254740993 * K},
    // fractions, rounded up
    {".5m", M / 2},
    {"0.5m", M / 2},
    {"0.5M", M / 2},
    {"3.1M", 3250586},
    {"1.5", 2},
    {"1.0", 1},
    {"1.000", 1},
    {"0.1", 1},
    {"0.0", 0},
    {".0001", 1},
    {"1.5k", 1536},
    {"1.25K", 1280},
    {"0.001k", 2},
    {"1.5g", 1610612736},
    {"2.5T", 5 * T / 2},
    {"1.m", M},
    {"7.", 7},
    {"0.0009765625k", 1},
    {"0.00097656250000000000000000000000001k", 2},
    {"0.99999999999999999999999999999999999999999999t", T},
    {"1.0000000000000000000000000000000000000000000001k", K + 1},
    {"0.000000000000909494701772928237915039062500t", 1},
    {"0.000000000000909494701772928237915039062501t", 2},
    {"16777215.9999999999990905052982270717620849609375t", kMost},
    // text after the suffix is ignored
    {"64MB", 64 * M},
    {"64MiB", 64 * M},
    {"20kk", 20 * K},
    {"1g2m", G},
    {"1k ", K},
    {"1m,5", M},
    {"2tera", 2 * T},
    {"5Gigabytes", 5 * G},
    {"1k-", K},
    {"1.5gb", 3 * G / 2},
    {"8m\n", 8 * M},
    {"1k.5", K},
    // blanks at the ends
    {" 12", 12},
    {"12 ", 12},
    {"\t12m", 12 * M},
    {"12\n", 12},
};

struct Bad {
  std::string_view text;
  Complaint complaint;
};

const Bad kBad[] = {
    {"", kEmpty},
    {" ", kEmpty},
    {"\t\n", kEmpty},
    {"-1", kNegative},
    {"-5m", kNegative},
    {"-.5g", kNegative},
    {"-0", kNegative},
    {" -1g", kNegative},
    {"-", kNotANumber},
    {"+", kNotANumber},
    {"-m", kNotANumber},
    {".", kNotANumber},
    {".m", kNotANumber},
    {"m", kNotANumber},
    {"abc", kNotANumber},
    {"nan", kNotANumber},
    {"inf", kNotANumber},
    {"+-1", kNotANumber},
    {",5g", kNotANumber},
    {"$SIZE", kNotANumber},
    {"max", kNotANumber},
    {"12q", kBadTail},
    {"1e9", kBadTail},
    {"0x10", kBadTail},
    {"1,5g", kBadTail},
    {"12 m", kBadTail},
    {"12b", kBadTail},
    {"1.5.5m", kBadTail},
    {"1p", kBadTail},
    {"10%", kBadTail},
    {"1_000", kBadTail},
    {"5-", kBadTail},
    {"18446744073709551616", kTooLarge},
    {"99999999999999999999999", kTooLarge},
    {"16777216t", kTooLarge},
    {"18014398509481984k", kTooLarge},
    {"18446744073709551615.1", kTooLarge},
    {"16777215.99999999999909050529822707176208496093751t", kTooLarge},
};

static_assert(std::size(kGood) + std::size(kBad) >= 60);

}  // namespace

BOOST_AUTO_TEST_CASE(every_legal_size_gives_its_bytes) {
  for (const Good& good : kGood) {
    std::uint64_t bytes = 12345;
    const Complaint complaint = parse_bytes(good.text, bytes);
    BOOST_CHECK_MESSAGE(complaint == nullptr, "'" << good.text << "' " << (complaint ? complaint : ""));
    BOOST_CHECK_MESSAGE(bytes == good.bytes, "'" << good.text << "' gives " << bytes << ", not " << good.bytes);
  }
}

BOOST_AUTO_TEST_CASE(every_illegal_size_is_refused_for_its_reason) {
  for (const Bad& bad : kBad) {
    std::uint64_t bytes = 0;
    const Complaint complaint = parse_bytes(bad.text, bytes);
    BOOST_REQUIRE_MESSAGE(complaint != nullptr, "'" << bad.text << "' gives " << bytes);
    BOOST_CHECK_MESSAGE(std::string_view(complaint) == bad.complaint,
                        "'" << bad.text << "' " << complaint << ", expected: " << bad.complaint);
  }
}

BOOST_AUTO_TEST_CASE(a_fraction_is_exact_for_all_thousandths) {
  for (std::uint64_t thousandths = 0; thousandths < 1000; ++thousandths) {
    const std::string digits = std::to_string(1000 + thousandths).substr(1);
    for (const auto& [suffix, scale] : {std::pair{'k', K}, std::pair{'m', M}, std::pair{'g', G}, std::pair{'t', T}}) {
      std::uint64_t bytes = 0;
      BOOST_REQUIRE(parse_bytes("2." + digits + suffix, bytes) == nullptr);
      BOOST_CHECK_EQUAL(bytes, 2 * scale + (thousandths * scale + 999) / 1000);
    }
  }
}

BOOST_AUTO_TEST_CASE(counts_are_whole_numbers) {
  std::uint64_t count = 0;
  BOOST_CHECK(parse_count("2000", count) == nullptr && count == 2000);
  BOOST_CHECK(parse_count(" 0 ", count) == nullptr && count == 0);
  for (const char* text : {"", "-1", "1.5", "1k", "x", "18446744073709551616", "1 2", "7."}) {
    BOOST_CHECK_MESSAGE(parse_count(text, count) != nullptr, "'" << text << "' is taken for " << count);
  }
}

BOOST_AUTO_TEST_SUITE_END()
