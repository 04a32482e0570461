#include "config/config_report.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <iterator>
#include <string>

#include "config/config_doc.hpp"

BOOST_AUTO_TEST_SUITE(config_report)

namespace {

using namespace shmemx::config;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Config sample() {
  const char* const environment[] = {"SMA_SYMMETRIC_SIZE=1.5g", "SHMEM_INFO=1", "SHMEMX_SPIN_NS=300", nullptr};
  const auto config = parse_environment(environment);
  BOOST_REQUIRE(config);
  return config.value();
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_row_lists_value_default_and_source) {
  const auto rows = report(sample());
  BOOST_REQUIRE_EQUAL(rows.size(), kVariableCount);
  const ReportRow& size = rows[static_cast<std::size_t>(Variable::symmetric_size)];
  BOOST_CHECK_EQUAL(size.variable, std::string("SHMEM_SYMMETRIC_SIZE"));
  BOOST_CHECK_EQUAL(size.value, "1610612736");
  BOOST_CHECK_EQUAL(size.shown, "1.5 GiB");
  BOOST_CHECK_EQUAL(size.default_text, std::string("auto"));
  BOOST_CHECK_EQUAL(size.source, "environment as SMA_SYMMETRIC_SIZE");
  BOOST_CHECK_EQUAL(size.aliases, "SMA_SYMMETRIC_SIZE, SHMEM_SYMMETRIC_HEAP_SIZE, XT_SYMMETRIC_HEAP_SIZE");
  BOOST_CHECK_EQUAL(rows[static_cast<std::size_t>(Variable::spin_ns)].value, "300");
  BOOST_CHECK_EQUAL(rows[static_cast<std::size_t>(Variable::spin_ns)].source, "environment");
  BOOST_CHECK_EQUAL(rows[static_cast<std::size_t>(Variable::wait)].value, "auto");
  BOOST_CHECK_EQUAL(rows[static_cast<std::size_t>(Variable::wait)].source, "default");
}

BOOST_AUTO_TEST_CASE(a_default_is_printed_as_the_table_writes_it) {
  for (const ReportRow& row : report(Config{})) {
    BOOST_CHECK_EQUAL(row.value, row.default_text);
    BOOST_CHECK_EQUAL(row.shown, row.default_shown);
    BOOST_CHECK_EQUAL(row.source, "default");
  }
}

BOOST_AUTO_TEST_CASE(an_example_is_a_legal_value) {
  for (const ReportRow& row : report(Config{})) {
    const std::string entry = std::string(row.variable) + "=" + row.example;
    const char* const environment[] = {entry.c_str(), nullptr};
    const auto config = parse_environment(environment);
    BOOST_CHECK_MESSAGE(config && config.value().warnings.empty(), entry);
  }
}

BOOST_AUTO_TEST_CASE(info_lists_the_groups_that_are_asked_for_and_what_is_set) {
  const char* const environment[] = {"SHMEM_SYMMETRIC_SIZE=1.5g", "SHMEMX_NODE_ORDER=cyclic", nullptr};
  const Config config = parse_environment(environment).value();
  for (unsigned groups = 0; groups <= kAllGroups; ++groups) {
    const std::string text = render_info(config, groups);
    for (const ReportRow& row : report(config)) {
      const bool is_listed = (groups & bit_of(row.group)) != 0 || row.source != "default";
      BOOST_CHECK_EQUAL(contains(text, std::string("  ") + row.variable + " = "), is_listed);
      BOOST_CHECK_EQUAL(contains(text, row.meaning), is_listed);
    }
    BOOST_CHECK_EQUAL(contains(text, "other variables have their defaults"), groups != kAllGroups);
    BOOST_CHECK(contains(text, "SHMEM_SYMMETRIC_SIZE = 1.5 GiB"));
    BOOST_CHECK(text.ends_with("\n"));
  }
  BOOST_CHECK(contains(render_info(Config{}, bit_of(Group::network)), "SHMEMX_REGISTRATION_CACHE = 1 GiB"));
}

BOOST_AUTO_TEST_CASE(the_summary_has_a_line_for_each_everyday_variable_and_each_that_is_set) {
  const char* const environment[] = {"SHMEM_SYMMETRIC_SIZE=1.5g", "SHMEMX_NODE_ORDER=cyclic", nullptr};
  const Config config = parse_environment(environment).value();
  const std::string text = render_summary(config);
  std::size_t shown = 0;
  for (const ReportRow& row : report(config)) {
    const bool is_listed = row.group == Group::everyday || row.source != "default";
    shown += is_listed ? 1 : 0;
    BOOST_CHECK_EQUAL(contains(text, std::string("  ") + row.variable + " = "), is_listed);
  }
  BOOST_CHECK_EQUAL(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), shown + 2);
  BOOST_CHECK_LE(shown, 20U);
  BOOST_CHECK(contains(text, "SHMEMX_NODE_ORDER = cyclic      [environment]  How SHMEMX_PES_PER_NODE deals out PEs.\n"));
  BOOST_CHECK(contains(text, std::to_string(kVariableCount - shown) + " other variables have their defaults"));
}

BOOST_AUTO_TEST_CASE(bytes_are_printed_in_units_that_are_exact) {
  BOOST_CHECK_EQUAL(kind::bytes_text(0), "0");
  BOOST_CHECK_EQUAL(kind::bytes_text(1023), "1023 bytes");
  BOOST_CHECK_EQUAL(kind::bytes_text(1024), "1 KiB");
  BOOST_CHECK_EQUAL(kind::bytes_text(1536), "1.5 KiB");
  BOOST_CHECK_EQUAL(kind::bytes_text(1025), "1025 bytes");
  BOOST_CHECK_EQUAL(kind::bytes_text(std::uint64_t{3} << 40), "3 TiB");
}

BOOST_AUTO_TEST_CASE(the_document_matches_the_table) {
  std::ifstream file(SHMEMX_CONFIG_DOC);
  BOOST_REQUIRE_MESSAGE(file, "cannot read " SHMEMX_CONFIG_DOC);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  BOOST_CHECK_MESSAGE(text == render_markdown(),
                      SHMEMX_CONFIG_DOC " is not up to date; the target config_doc writes it anew");
}

BOOST_AUTO_TEST_SUITE_END()
