#include "windows/exposure.hpp"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <thread>
#include <vector>

#include "windows/static_holes.hpp"

BOOST_AUTO_TEST_SUITE(windows_exposure)

using namespace shmemx::windows;

BOOST_AUTO_TEST_CASE(ranges_inside_a_window_are_found_and_no_others) {
  std::byte memory[100];
  WindowName name{};
  BOOST_REQUIRE(expose(memory, sizeof memory, name));
  BOOST_TEST(name.index >= kBuiltinWindows);
  BOOST_TEST(find_exposed(name, 0, 100) == memory);
  BOOST_TEST(find_exposed(name, 99, 1) == memory + 99);
  BOOST_TEST(find_exposed(name, 100, 0) == memory + 100);
  const std::byte* const none = nullptr;
  BOOST_TEST(find_exposed(name, 0, 101) == none);
  BOOST_TEST(find_exposed(name, 100, 1) == none);
  BOOST_TEST(find_exposed(name, ~std::uint64_t{0}, 2) == none);
  BOOST_TEST(find_exposed(name, 1, ~std::uint64_t{0}) == none);
  BOOST_TEST(find_exposed({name.index, name.generation + 1}, 0, 1) == none);
  BOOST_TEST(find_exposed({kMaxWindows - 1, 0}, 0, 1) == none);
  BOOST_TEST(find_exposed({~0U, 0}, 0, 1) == none);
  BOOST_TEST(withdraw(name));
  BOOST_TEST(!withdraw(name));
  BOOST_TEST(find_exposed(name, 0, 1) == none);
}

BOOST_AUTO_TEST_CASE(built_in_windows_come_and_go) {
  std::byte memory[10];
  const std::byte* const none = nullptr;
  BOOST_TEST(find_exposed(kStaticWindow, 0, 0) == none);
  expose_builtin(kStaticWindow, memory, sizeof memory);
  BOOST_TEST(find_exposed(kStaticWindow, 4, 6) == memory + 4);
  BOOST_TEST(find_exposed({kStaticWindow.index, 1}, 4, 6) == none);
  BOOST_TEST(!withdraw(kStaticWindow));
  expose_builtin(kStaticWindow, nullptr, 0);
  BOOST_TEST(find_exposed(kStaticWindow, 0, 0) == none);
}

BOOST_AUTO_TEST_CASE(holes_between_static_data_are_found_by_nobody) {
  std::byte memory[100];
  const std::byte* const none = nullptr;
  expose_builtin(kStaticWindow, memory, sizeof memory);
  set_static_holes({{10, 20}, {50, 60}});
  for (const std::uint64_t offset : {0U, 9U, 20U, 49U, 60U, 99U})
    BOOST_TEST(find_exposed(kStaticWindow, offset, 1) == memory + offset);
  for (const std::uint64_t offset : {10U, 15U, 19U, 50U, 59U})
    BOOST_TEST(find_exposed(kStaticWindow, offset, 1) == none);
  BOOST_TEST(find_exposed(kStaticWindow, 20, 30) == memory + 20);
  BOOST_TEST(find_exposed(kStaticWindow, 20, 31) == none);
  BOOST_TEST(find_exposed(kStaticWindow, 0, 100) == none);
  BOOST_TEST(find_exposed(kStaticWindow, 9, 2) == none);
  BOOST_TEST(static_bytes_from(20, 100) == 30U);
  BOOST_TEST(static_bytes_from(60, 100) == 40U);
  set_static_holes({});
  BOOST_TEST(find_exposed(kStaticWindow, 0, 100) == memory);
  expose_builtin(kStaticWindow, nullptr, 0);
}

BOOST_AUTO_TEST_CASE(a_place_is_used_again_under_another_name) {
  std::byte memory[10];
  WindowName first{};
  WindowName second{};
  BOOST_REQUIRE(expose(memory, 10, first));
  BOOST_REQUIRE(withdraw(first));
  BOOST_REQUIRE(expose(memory, 10, second));
  BOOST_TEST(first.index == second.index);
  BOOST_TEST(first.generation != second.generation);
  BOOST_TEST(withdraw(second));
}

BOOST_AUTO_TEST_CASE(as_many_as_promised_and_no_more) {
  std::vector<WindowName> names;
  std::byte memory[8];
  WindowName name{};
  while (expose(memory, sizeof memory, name)) names.push_back(name);
  BOOST_TEST(names.size() == kMaxWindows - kBuiltinWindows);
  for (const WindowName& each : names) BOOST_REQUIRE(withdraw(each));
  BOOST_REQUIRE(expose(memory, sizeof memory, name));
  BOOST_TEST(withdraw(name));
}

// A reader that gets an address gets that of the very window it asked for.
BOOST_AUTO_TEST_CASE(readers_never_mix_windows_up) {
  std::vector<std::byte> memory(64 * 1024);
  std::atomic<std::uint64_t> current{0};
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::thread reader([&] {
    while (!stop.load()) {
      const std::uint64_t packed = current.load();
      const WindowName name{static_cast<std::uint32_t>(packed >> 32), static_cast<std::uint32_t>(packed)};
      const std::byte* const at = find_exposed(name, 0, name.generation % 64 + 1);
      // Generation g lies at 64 * (g % 1024).
      if (at != nullptr && at != memory.data() + 64 * std::size_t{name.generation % 1024}) ++wrong;
    }
  });
  WindowName name{};
  BOOST_REQUIRE(expose(memory.data(), 64, name));
  for (int i = 0; i < 100'000; ++i) {
    withdraw(name);
    const std::uint32_t next = name.generation + 2;
    BOOST_REQUIRE(expose(memory.data() + 64 * std::size_t{next % 1024}, 64, name));
    current.store(std::uint64_t{name.index} << 32 | name.generation);
  }
  stop.store(true);
  reader.join();
  BOOST_TEST(wrong.load() == 0);
  BOOST_TEST(withdraw(name));
}

BOOST_AUTO_TEST_SUITE_END()
