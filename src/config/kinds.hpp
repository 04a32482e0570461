// The kinds of config_table.hpp. Each defines the C++ type of a value, its parser, its printer, and the text that
// tells a user which values are allowed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/node_path.hpp"
#include "base/wait_mode.hpp"
#include "base/window_path.hpp"
#include "config/checks.hpp"
#include "config/number.hpp"
#include "config/synthetic_world.hpp"
#include "config/watchdog.hpp"

namespace shmemx::config {

enum class InitErrors { abort, return_ };
enum class HugePages { automatic, never, always };
enum class Progress { automatic, on, off };
enum class NodeOrder : std::uint8_t { block, cyclic, mixed };
enum class NetRma : std::uint8_t { automatic, on, off };
enum class Switch : std::uint8_t { off, on };
// How long two-sided messages are copied.
enum class LmtChoice : std::uint8_t { automatic, copy, mapped, cma, queue };

namespace kind {

std::string bytes_text(std::uint64_t value);  // "1.5 KiB", or "1537 bytes" if one decimal does not suffice
std::string size_text(std::uint64_t value);   // in the notation of values: "64m", "8k", "1000"

// A number or "auto", which is std::nullopt.
struct or_auto {
  using value_type = std::optional<std::uint64_t>;
  template <class Parse>
  static constexpr Complaint parse_with(Parse parse, std::string_view text, value_type& out) {
    out = std::nullopt;
    if (equals_ignoring_case(trim(text), "auto")) return nullptr;
    std::uint64_t value = 0;
    const Complaint complaint = parse(text, value);
    if (complaint == nullptr) out = value;
    return complaint;
  }
  static std::string text(const value_type& value) { return value ? std::to_string(*value) : std::string("auto"); }
};

struct bytes : or_auto {
  static constexpr Complaint parse(std::string_view text, value_type& out) {
    return parse_with(parse_bytes, text, out);
  }
  static constexpr Complaint parse_default(std::string_view text, value_type& out) { return parse(text, out); }
  static std::string shown(const value_type& value) { return value ? bytes_text(*value) : std::string("auto"); }
  static constexpr const char* allowed =
      "a number of bytes, whole or decimal, with at most one suffix k, m, g or t (powers of 1024), or auto";
  static constexpr const char* example = "1.5g";
};

struct count : or_auto {
  static constexpr Complaint parse(std::string_view text, value_type& out) {
    return parse_with(parse_count, text, out);
  }
  static constexpr Complaint parse_default(std::string_view text, value_type& out) { return parse(text, out); }
  static constexpr const char* allowed = "a whole number from 0, or auto";
  static constexpr const char* example = "64";
};

// A number within bounds that is never "auto". Values must be multiples of `Unit`.
template <auto Parse, std::uint64_t Least, std::uint64_t Most, std::uint64_t Unit>
struct bounded {
  using value_type = std::uint64_t;
  static constexpr Complaint parse(std::string_view text, value_type& out) {
    std::uint64_t value = 0;
    if (const Complaint complaint = Parse(text, value)) return complaint;
    if (value < Least) return "is too small";
    if (value > Most) return kTooLarge;
    if (value % Unit != 0) return "is not a multiple";
    out = value;
    return nullptr;
  }
  static constexpr Complaint parse_default(std::string_view text, value_type& out) { return parse(text, out); }
};

// A whole number, written as it is.
template <std::uint64_t Least, std::uint64_t Most>
struct bounded_count : bounded<parse_count, Least, Most, 1> {
  static std::string text(std::uint64_t value) { return std::to_string(value); }
};

struct cell_count : bounded_count<8, 65536> {
  static constexpr const char* allowed = "a whole number from 8 to 65536";
  static constexpr const char* example = "256";
};

struct cell_size : bounded<parse_bytes, 512, 1 << 20, 64> {
  static std::string text(value_type value) { return size_text(value); }
  static std::string shown(value_type value) { return bytes_text(value); }
  static constexpr const char* allowed = "a multiple of 64 bytes from 512 to 1m; suffixes k and m";
  static constexpr const char* example = "16k";
};

struct memory_limit : bounded<parse_bytes, std::uint64_t{1} << 20, std::uint64_t{1} << 46, 1> {
  static std::string text(value_type value) { return size_text(value); }
  static std::string shown(value_type value) { return bytes_text(value); }
  static constexpr const char* allowed = "a number of bytes from 1m, with at most one suffix k, m, g or t";
  static constexpr const char* example = "256m";
};

struct cache_limit : bounded<parse_bytes, 0, std::uint64_t{1} << 46, 1> {
  static std::string text(value_type value) { return size_text(value); }
  static std::string shown(value_type value) { return bytes_text(value); }
  static constexpr const char* allowed = "a number of bytes, with at most one suffix k, m, g or t; 0 for none";
  static constexpr const char* example = "256m";
};

// 0 means "not set".
struct node_pes : bounded_count<0, 4096> {
  static constexpr const char* allowed = "a whole number from 0 to 4096";
  static constexpr const char* example = "2";
};

struct seconds : bounded_count<1, 86400> {
  static constexpr const char* allowed = "a whole number of seconds from 1 to 86400";
  static constexpr const char* example = "10";
};

struct nanoseconds : count {
  static constexpr const char* allowed = "a whole number of nanoseconds, or auto";
  static constexpr const char* example = "2000";
};

struct microseconds : count {
  static constexpr const char* allowed = "a whole number of microseconds, or auto";
  static constexpr const char* example = "100";
};

// A switch as the standard defines it: on if set to any value, even to an empty one or to 0.
struct presence {
  using value_type = bool;
  static constexpr Complaint parse(std::string_view, value_type& out) {
    out = true;
    return nullptr;
  }
  static constexpr Complaint parse_default(std::string_view text, value_type& out) {
    out = false;
    return text == "unset" ? nullptr : "is not unset";
  }
  static std::string text(value_type value) { return value ? "set" : "unset"; }
  static constexpr const char* allowed = "any value, even none, switches it on";
  static constexpr const char* example = "1";
};

// A switch of the standard with values that have a meaning of their own here.
enum class InfoLevel { none, variables, all, peers, every_variable };
struct info_level {
  using value_type = InfoLevel;
  static constexpr std::array<std::string_view, 5> words = {"unset", "1", "2", "peers", "all"};
  static constexpr Complaint parse(std::string_view text, value_type& out) {
    out = InfoLevel::variables;
    for (std::size_t i = 2; i < words.size(); ++i)
      if (equals_ignoring_case(trim(text), words[i])) out = static_cast<InfoLevel>(i);
    return nullptr;
  }
  static constexpr Complaint parse_default(std::string_view text, value_type& out) {
    out = InfoLevel::none;
    return text == "unset" ? nullptr : "is not unset";
  }
  static std::string text(value_type value) { return std::string(words[static_cast<std::size_t>(value)]); }
  static constexpr const char* allowed =
      "any value, even none, switches it on; 2 and peers say how PEs are reached, all lists every variable";
  static constexpr const char* example = "2";
};

// A switch of this library, which can also be turned off.
struct flag {
  using value_type = bool;
  static constexpr Complaint parse(std::string_view text, value_type& out) {
    constexpr std::array<std::string_view, 8> words = {"0", "1", "no", "yes", "off", "on", "false", "true"};
    text = trim(text);
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (!equals_ignoring_case(text, words[i])) continue;
      out = i % 2 == 1;
      return nullptr;
    }
    return text.empty() ? kEmpty : "is neither yes nor no";
  }
  static constexpr Complaint parse_default(std::string_view text, value_type& out) { return parse(text, out); }
  static std::string text(value_type value) { return value ? "1" : "0"; }
  static constexpr const char* allowed = "1, yes, on, true, 0, no, off or false";
  static constexpr const char* example = "0";
};

// One word of a list. `Words::words` has the order of the enumerators.
template <class Enum, class Words>
struct choice {
  using value_type = Enum;
  static constexpr Complaint parse(std::string_view text, value_type& out) {
    text = trim(text);
    for (std::size_t i = 0; i < Words::words.size(); ++i) {
      if (!equals_ignoring_case(text, Words::words[i])) continue;
      out = static_cast<Enum>(i);
      return nullptr;
    }
    return text.empty() ? kEmpty : "is not one of the choices";
  }
  static constexpr Complaint parse_default(std::string_view text, value_type& out) { return parse(text, out); }
  static std::string text(value_type value) { return std::string(Words::words[static_cast<std::size_t>(value)]); }
};

struct WaitWords {
  static constexpr std::array<std::string_view, 3> words = {"auto", "spin", "block"};
};
static_assert(static_cast<int>(WaitMode::automatic) == 0 && static_cast<int>(WaitMode::spin) == 1 &&
              static_cast<int>(WaitMode::block) == 2);
struct wait_choice : choice<WaitMode, WaitWords> {
  static constexpr const char* allowed = "auto, spin or block";
  static constexpr const char* example = "block";
};

struct ErrorWords {
  static constexpr std::array<std::string_view, 2> words = {"abort", "return"};
};
struct error_choice : choice<InitErrors, ErrorWords> {
  static constexpr const char* allowed = "abort or return";
  static constexpr const char* example = "return";
};

struct PageWords {
  static constexpr std::array<std::string_view, 3> words = {"auto", "never", "always"};
};
struct page_choice : choice<HugePages, PageWords> {
  static constexpr const char* allowed = "auto, never or always";
  static constexpr const char* example = "never";
};

struct PathWords {
  static constexpr std::array<std::string_view, 3> words = {"auto", "direct", "queue"};
};
static_assert(static_cast<int>(NodePath::automatic) == 0 && static_cast<int>(NodePath::direct) == 1 &&
              static_cast<int>(NodePath::queue) == 2);
struct path_choice : choice<NodePath, PathWords> {
  static constexpr const char* allowed = "auto, direct or queue";
  static constexpr const char* example = "queue";
};

struct WindowPathWords {
  static constexpr std::array<std::string_view, 4> words = {"auto", "mapped", "cma", "messages"};
};
static_assert(static_cast<int>(WindowPath::automatic) == 0 && static_cast<int>(WindowPath::mapped) == 1 &&
              static_cast<int>(WindowPath::cma) == 2 && static_cast<int>(WindowPath::messages) == 3);
struct window_path_choice : choice<WindowPath, WindowPathWords> {
  static constexpr const char* allowed = "auto, mapped, cma or messages";
  static constexpr const char* example = "messages";
};

// Names of network interfaces, with commas between them; empty means "auto".
struct InterfaceNames {
  static constexpr std::size_t most = 4;
  static constexpr std::size_t name_bytes = 16;  // the kernel's IFNAMSIZ, with the comma or the zero behind it
  std::array<char, most * name_bytes> text{};
  std::uint8_t count = 0;
};
struct interface_names {
  using value_type = InterfaceNames;
  static constexpr Complaint add(std::string_view name, value_type& out) {
    if (name.empty()) return kEmpty;
    if (name.size() >= InterfaceNames::name_bytes) return "is too long for a name of an interface";
    if (out.count == InterfaceNames::most) return "names more than four interfaces";
    std::string_view rest(out.text.data());
    std::size_t end = rest.size();
    while (!rest.empty()) {
      const std::size_t comma = rest.find(',');
      if (rest.substr(0, comma) == name) return "names an interface twice";
      rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
    }
    if (out.count++ != 0) out.text[end++] = ',';
    for (std::size_t i = 0; i < name.size(); ++i) out.text[end + i] = name[i];
    return nullptr;
  }
  static constexpr Complaint parse(std::string_view text, value_type& out) {
    out = {};
    text = trim(text);
    if (equals_ignoring_case(text, "auto")) return nullptr;
    while (true) {
      const std::size_t comma = text.find(',');
      if (const Complaint complaint = add(trim(text.substr(0, comma)), out)) return complaint;
      if (comma == std::string_view::npos) return nullptr;
      text.remove_prefix(comma + 1);
    }
  }
  static constexpr Complaint parse_default(std::string_view text, value_type& out) { return parse(text, out); }
  static std::string text(const value_type& value) { return value.text[0] == 0 ? "auto" : value.text.data(); }
  static constexpr const char* allowed = "auto, or at most four names of network interfaces separated by commas";
  static constexpr const char* example = "eth1,eth2";
};

struct frame_mtu : or_auto {
  static constexpr Complaint parse_bounded(std::string_view text, std::uint64_t& out) {
    return bounded<parse_count, 640, 9000, 1>::parse(text, out);
  }
  static constexpr Complaint parse(std::string_view text, value_type& out) {
    return parse_with(parse_bounded, text, out);
  }
  static constexpr Complaint parse_default(std::string_view text, value_type& out) { return parse(text, out); }
  static constexpr const char* allowed = "a whole number of bytes from 640 to 9000, or auto";
  static constexpr const char* example = "1500";
};

struct block_count : bounded_count<1, 64> {
  static constexpr const char* allowed = "a whole number from 1 to 64";
  static constexpr const char* example = "8";
};

struct resend_time : bounded_count<100, 1'000'000> {
  static constexpr const char* allowed = "a whole number of microseconds from 100 to 1000000";
  static constexpr const char* example = "5000";
};

// Names of networks in order of preference; empty means "auto".
struct NetworkNames {
  static constexpr std::array<std::string_view, 4> known = {"tcp", "ucx", "ofi", "ethernet"};
  std::array<std::uint8_t, known.size()> order{};
  std::uint8_t count = 0;
  constexpr std::string_view name(std::size_t i) const { return known[order[i]]; }
  // Packs the names into four bits each, the first one lowest; 0 marks the end.
  constexpr std::uint16_t code() const {
    unsigned bits = 0;
    for (std::size_t i = count; i-- > 0;) bits = bits << 4 | (order[i] + 1U);
    return static_cast<std::uint16_t>(bits);
  }
};
struct networks {
  using value_type = NetworkNames;
  static constexpr NetworkNames of_code(unsigned code) {
    NetworkNames names;
    for (; code != 0 && names.count < names.order.size(); code >>= 4)
      names.order[names.count++] = static_cast<std::uint8_t>(((code & 15U) - 1U) % names.order.size());
    return names;
  }
  static constexpr Complaint add(std::string_view word, value_type& out) {
    for (std::size_t i = 0; i < NetworkNames::known.size(); ++i) {
      if (!equals_ignoring_case(word, NetworkNames::known[i])) continue;
      for (std::size_t k = 0; k < out.count; ++k) {
        if (out.order[k] == i) return "names a network twice";
      }
      out.order[out.count++] = static_cast<std::uint8_t>(i);
      return nullptr;
    }
    return word.empty() ? kEmpty : "names a network that is not known";
  }
  static constexpr Complaint parse(std::string_view text, value_type& out) {
    out = {};
    text = trim(text);
    if (equals_ignoring_case(text, "auto")) return nullptr;
    while (true) {
      const std::size_t comma = text.find(',');
      if (const Complaint complaint = add(trim(text.substr(0, comma)), out)) return complaint;
      if (comma == std::string_view::npos) return nullptr;
      text.remove_prefix(comma + 1);
    }
  }
  static constexpr Complaint parse_default(std::string_view text, value_type& out) { return parse(text, out); }
  static std::string text(const value_type& value) {
    std::string out;
    for (std::size_t i = 0; i < value.count; ++i) out += (i == 0 ? "" : ",") + std::string(value.name(i));
    return out.empty() ? "auto" : out;
  }
  static constexpr const char* allowed = "auto, or names separated by commas: tcp, ucx, ofi, ethernet";
  static constexpr const char* example = "ucx,tcp";
};

struct ProgressWords {
  static constexpr std::array<std::string_view, 3> words = {"auto", "on", "off"};
};
struct progress_choice : choice<Progress, ProgressWords> {
  static constexpr const char* allowed = "auto, on or off";
  static constexpr const char* example = "off";
};

struct NodeOrderWords {
  static constexpr std::array<std::string_view, 3> words = {"block", "cyclic", "mixed"};
};
struct node_order_choice : choice<NodeOrder, NodeOrderWords> {
  static constexpr const char* allowed = "block, cyclic or mixed";
  static constexpr const char* example = "cyclic";
};

struct net_rma_choice : choice<NetRma, ProgressWords> {
  static constexpr const char* allowed = "auto, on or off";
  static constexpr const char* example = "off";
};

struct SwitchWords {
  static constexpr std::array<std::string_view, 2> words = {"off", "on"};
};
struct switch_choice : choice<Switch, SwitchWords> {
  static constexpr const char* allowed = "off or on";
  static constexpr const char* example = "on";
};

struct LmtWords {
  static constexpr std::array<std::string_view, 5> words = {"auto", "copy", "mapped", "cma", "queue"};
};
struct lmt_choice : choice<LmtChoice, LmtWords> {
  static constexpr const char* allowed = "auto, copy, mapped, cma or queue";
  static constexpr const char* example = "copy";
};

// A file that the library writes; empty means that it writes none.
struct FileName {
  std::array<char, 512> text{};
};
struct file_name {
  using value_type = FileName;
  static constexpr Complaint parse(std::string_view text, value_type& out) {
    out = {};
    if (text.empty()) return kEmpty;
    if (text.size() >= out.text.size()) return "is too long";
    for (std::size_t i = 0; i < text.size(); ++i) out.text[i] = text[i];
    return nullptr;
  }
  static constexpr Complaint parse_default(std::string_view text, value_type& out) {
    out = {};
    return text == "unset" ? nullptr : "is not unset";
  }
  static std::string text(const value_type& value) { return value.text[0] == 0 ? "unset" : value.text.data(); }
  static constexpr const char* allowed = "a path of at most 511 characters";
  static constexpr const char* example = "trace.json";
};

// Events of a trace.
struct event_count : bounded_count<256, std::uint64_t{1} << 24> {
  static constexpr const char* allowed = "a whole number from 256 to 16777216";
  static constexpr const char* example = "1000000";
};

// Makes a default that does not match its kind a compile error: a call of a non-constexpr function is not a constant
// expression.
void default_is_not_of_its_kind();
template <class Kind>
consteval typename Kind::value_type default_value(std::string_view text) {
  typename Kind::value_type value{};
  if (Kind::parse_default(text, value) != nullptr) default_is_not_of_its_kind();
  return value;
}

}  // namespace kind
}  // namespace shmemx::config
