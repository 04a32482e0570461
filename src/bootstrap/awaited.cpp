#include "bootstrap/awaited.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "base/object_name.hpp"

namespace shmemx::bootstrap {
namespace {

using Kind = Awaited::Kind;
using Space = Awaited::Space;
using All = std::vector<Awaited>;

constexpr const char* kComparisons[] = {"SHMEM_CMP_EQ", "SHMEM_CMP_NE", "SHMEM_CMP_GT",
                                        "SHMEM_CMP_GE", "SHMEM_CMP_LT", "SHMEM_CMP_LE"};

// The launcher does not see the public headers, so sync/compare.hpp holds the values.
const char* comparison_name(std::uint8_t comparison) {
  return comparison >= 1 && comparison <= std::size(kComparisons) ? kComparisons[comparison - 1] : "?";
}

std::string hex(std::uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(number));
  return text;
}

// Leaves out the namespace without a name, in which most variables of a file are.
std::string without_namespace(std::string name) {
  constexpr char kAnonymous[] = "(anonymous namespace)::";
  const std::size_t at = name.find(kAnonymous);
  return at == std::string::npos ? name : name.erase(at, sizeof kAnonymous - 1);
}

// Returns text(one) if it is the same for all, else "...".
template <class Text>
std::string common(const All& all, Text text) {
  const std::string first = text(all.front());
  const bool same = std::all_of(all.begin(), all.end(), [&](const Awaited& one) { return text(one) == first; });
  return same ? first : "...";
}

std::int64_t extended(std::uint64_t value, const Awaited& of) {
  const int unused = 64 - 8 * of.word_bytes;
  return static_cast<std::int64_t>(value << unused) >> unused;
}

std::string number_text(std::uint64_t value, const Awaited& of) {
  return of.is_signed ? std::to_string(extended(value, of)) : std::to_string(value);
}

// Returns "5", or "1..1000".
std::string range_text(const All& all, std::uint64_t Awaited::*member) {
  const Awaited& form = all.front();
  const auto [least, most] = std::minmax_element(all.begin(), all.end(), [&](const Awaited& a, const Awaited& b) {
    return form.is_signed ? extended(a.*member, form) < extended(b.*member, form) : a.*member < b.*member;
  });
  const std::string first = number_text((*least).*member, form);
  const std::string last = number_text((*most).*member, form);
  return first == last ? first : first + ".." + last;
}

std::string count_text(const All& all) {
  if (all.front().count == Awaited::kNoCount) return {};
  const std::string text = range_text(all, &Awaited::count);
  return text + (text == "1" ? " element" : " elements");
}

std::string pe_text(std::int32_t pe) { return pe < 0 ? "any pe" : "pe " + std::to_string(pe); }

std::string members_text(const Awaited& one) {
  constexpr std::uint64_t kWorldIndex = 1;
  const std::uint64_t index = one.at & 0xffffffffU;
  if (index == kWorldIndex) return "team WORLD";
  const auto size = static_cast<std::int64_t>(one.at >> 32);
  const auto start = static_cast<std::int32_t>(one.value);
  const auto stride = static_cast<std::int32_t>(one.value >> 32);
  std::string text = size == 1 ? "PE " : "PEs ";
  text += std::to_string(start);
  if (size > 1) text += (stride == 1 && size > 2 ? ".." : ", ") + std::to_string(start + stride);
  if (size > 2 && stride == 1) text.resize(text.rfind("..") + 2);
  if (size > 2) text += (stride == 1 ? "" : "..") + std::to_string(start + stride * (size - 1));
  return "team of " + text;
}

std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  }
  return "(" + text + ")";
}

// Returns "(counter+0x10 on pe 3)".
std::string read_text(const All& all, const std::string& at) {
  const std::string pe =
      common(all, [](const Awaited& one) { return one.pe < 0 ? std::string() : " on " + pe_text(one.pe); });
  return join({at + pe});
}

std::string compared_text(const std::string& executable, const All& all) {
  const std::string at = common(all, [&](const Awaited& one) { return place_text(executable, one); });
  if (all.front().comparison == 0) return read_text(all, at) + ", now " + range_text(all, &Awaited::now);
  const std::string comparison = common(all, [](const Awaited& one) { return comparison_name(one.comparison); });
  if (all.front().kind == Kind::words) return join({at, count_text(all), comparison});
  return join({at, comparison, range_text(all, &Awaited::value)}) + ", now " + range_text(all, &Awaited::now);
}

}  // namespace

std::string place_text(const std::string& executable, const Awaited& awaited) {
  if (awaited.space == Space::heap) return "heap+" + hex(awaited.at);
  if (awaited.space == Space::elsewhere) return hex(awaited.at);
  const NamedObject variable = variable_in(executable, awaited.at);
  if (variable.name.empty()) return hex(awaited.at);
  const std::string name = without_namespace(demangled(variable.name));
  return awaited.at == variable.begin ? name : name + "+" + hex(awaited.at - variable.begin);
}

bool Awaited::is_like(const Awaited& other) const {
  return kind == other.kind && space == other.space && comparison == other.comparison &&
         word_bytes == other.word_bytes && is_signed == other.is_signed && at == other.at && value == other.value &&
         count == other.count && pe == other.pe && tag == other.tag;
}

void store(const Awaited& awaited, AwaitedWords& words) {
  const auto form = static_cast<std::uint64_t>(awaited.kind) | static_cast<std::uint64_t>(awaited.space) << 8 |
                    std::uint64_t{awaited.comparison} << 16 | std::uint64_t{awaited.word_bytes} << 24 |
                    std::uint64_t{awaited.is_signed} << 32;
  const auto pe_and_tag =
      std::uint64_t{static_cast<std::uint32_t>(awaited.pe)} << 32 | static_cast<std::uint32_t>(awaited.tag);
  words.at.store(awaited.at, std::memory_order_relaxed);  // for people, like the others
  words.value.store(awaited.value, std::memory_order_relaxed);
  words.now.store(awaited.now, std::memory_order_relaxed);
  words.count.store(awaited.count, std::memory_order_relaxed);
  words.pe_and_tag.store(pe_and_tag, std::memory_order_relaxed);
  words.form.store(form, std::memory_order_relaxed);
}

Awaited load(const AwaitedWords& words) {
  const std::uint64_t form = words.form.load(std::memory_order_relaxed);  // for people, like the others
  const std::uint64_t pe_and_tag = words.pe_and_tag.load(std::memory_order_relaxed);
  Awaited awaited;
  awaited.kind =
      (form & 0xff) <= static_cast<std::uint64_t>(Kind::team) ? static_cast<Kind>(form & 0xff) : Kind::nothing;
  awaited.space = static_cast<Space>(form >> 8 & 0xff);
  awaited.comparison = static_cast<std::uint8_t>(form >> 16);
  awaited.word_bytes = static_cast<std::uint8_t>(std::clamp<std::uint64_t>(form >> 24 & 0xff, 1, 8));
  awaited.is_signed = (form >> 32 & 1) != 0;
  awaited.at = words.at.load(std::memory_order_relaxed);
  awaited.value = words.value.load(std::memory_order_relaxed);
  awaited.now = words.now.load(std::memory_order_relaxed);
  awaited.count = words.count.load(std::memory_order_relaxed);
  awaited.pe = static_cast<std::int32_t>(pe_and_tag >> 32);
  awaited.tag = static_cast<std::int32_t>(pe_and_tag);
  return awaited;
}

std::string awaited_text(const std::string& executable, const std::vector<Awaited>& all) {
  const Kind kind = all.front().kind;
  const bool same = std::all_of(all.begin(), all.end(), [&](const Awaited& one) { return one.kind == kind; });
  if (!same) return {};
  switch (kind) {
    case Kind::word:
    case Kind::words:
      return compared_text(executable, all);
    case Kind::lock:
      return join({common(all, [&](const Awaited& one) { return place_text(executable, one); })}) + " behind " +
             common(all, [](const Awaited& one) { return pe_text(one.pe); });
    case Kind::message:
      return join({common(all, [](const Awaited& one) { return pe_text(one.pe); }), common(all, [](const Awaited& one) {
                     return one.tag < 0 ? std::string("any tag") : "tag " + std::to_string(one.tag);
                   })});
    case Kind::team: {
      const std::string root =
          common(all, [](const Awaited& one) { return one.pe < 0 ? std::string() : "root " + std::to_string(one.pe); });
      return join({common(all, members_text), root, count_text(all)});
    }
    default:
      return {};
  }
}

}  // namespace shmemx::bootstrap
