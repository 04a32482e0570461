#include "interpose/hints.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <string_view>
#include <vector>

#include "interpose/below.hpp"

namespace shmemx::interpose {
namespace {

struct Key {
  const char* name;
  const char* initial;
};

// What the keys promise is true of every window here or makes no difference, so all values are accepted: accumulates
// are ordered whatever order the program is content with. The granularity of accumulates is chosen when the window is
// created.
constexpr char kAlignment[] = "mpi_minimum_memory_alignment";
constexpr char kNoncontiguous[] = "alloc_shared_noncontig";
constexpr char kGranularity[] = "mpi_accumulate_granularity";
constexpr std::size_t kWidestDirect = 8;     // bytes of elements that the processor updates by one instruction
constexpr std::size_t kLeastAlignment = 64;  // of all memory that shmemx allocates
constexpr std::size_t kMostAlignment = std::size_t{1} << 30;

constexpr Key kKeys[] = {
    {"no_locks", "false"},
    {"accumulate_ordering", "rar,raw,war,waw"},
    {"accumulate_ops", "same_op_no_op"},
    {kGranularity, "0"},
    {kAlignment, "64"},
    {"same_size", "false"},
    {"same_disp_unit", "false"},
    {kNoncontiguous, "false"},
};

std::string value_of(MPI_Info info, const char* name) {
  int length = 0;
  int found = 0;
  below().Info_get_valuelen(info, name, &length, &found);
  if (found == 0) return {};
  std::vector<char> text(static_cast<std::size_t>(length) + 1);
  below().Info_get(info, name, length, text.data(), &found);
  return text.data();
}

// Returns 0 if the text is not a number.
std::size_t number_of(const std::string& text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && *end == 0 ? value : 0;
}

// Returns the alignment that this value of the key leads to.
std::size_t alignment_in(const std::string& text) {
  const std::size_t value = number_of(text);
  const bool is_one = std::has_single_bit(value) && value <= kMostAlignment;
  return is_one ? std::max(value, kLeastAlignment) : kLeastAlignment;
}

// Whether this is `none`, or a list of accesses whose order is kept.
bool is_ordering(std::string_view value) {
  if (value == "none") return true;
  while (!value.empty()) {
    const std::size_t end = std::min(value.find(','), value.size());
    const std::string_view item = value.substr(0, end);
    if (item != "rar" && item != "raw" && item != "war" && item != "waw") return false;
    if (end == value.size()) return true;
    value.remove_prefix(end + 1);
  }
  return false;
}

bool is_kept(const Key& key, const std::string& value) {
  const std::string_view name = key.name;
  if (value.empty() || name == kGranularity) return false;
  if (name == "accumulate_ordering") return is_ordering(value);
  if (name == "accumulate_ops") return value == "same_op" || value == "same_op_no_op";
  return value == "true" || value == "false";
}

}  // namespace

Hints::Hints(MPI_Info info, int flavor) {
  const bool allocates = flavor == MPI_WIN_FLAVOR_ALLOCATE || flavor == MPI_WIN_FLAVOR_SHARED;
  for (const Key& key : kKeys) values[key.name] = key.initial;
  if (info != MPI_INFO_NULL) {
    change(info);
    values[kAlignment] = std::to_string(alignment_of(info));
    values[kGranularity] = std::to_string(number_of(value_of(info, kGranularity)));
    values[kNoncontiguous] = value_of(info, kNoncontiguous) == "true" ? "true" : "false";
  }
  if (!allocates) values.erase(kAlignment);
  if (flavor != MPI_WIN_FLAVOR_SHARED) values.erase(kNoncontiguous);
}

bool Hints::wants_array_locks() const { return number_of(values.at(kGranularity)) > kWidestDirect; }

void Hints::fix_granularity(bool has_array_locks) { values[kGranularity] = has_array_locks ? "4096" : "0"; }

void Hints::fix_noncontiguous(bool is_noncontiguous) { values[kNoncontiguous] = is_noncontiguous ? "true" : "false"; }

void Hints::change(MPI_Info info) {
  for (const Key& key : kKeys) {
    const std::string_view name = key.name;
    if (name == kAlignment || !values.contains(key.name)) continue;
    if (const std::string value = value_of(info, key.name); is_kept(key, value)) values[key.name] = value;
  }
}

int Hints::copy_to(MPI_Info* info) const {
  const int code = below().Info_create(info);
  if (code != MPI_SUCCESS) return code;
  for (const auto& [key, value] : values) below().Info_set(*info, key.c_str(), value.c_str());
  return MPI_SUCCESS;
}

std::size_t Hints::alignment() const { return alignment_in(values.at(kAlignment)); }

std::size_t Hints::alignment_of(MPI_Info info) {
  return info == MPI_INFO_NULL ? kLeastAlignment : alignment_in(value_of(info, kAlignment));
}

bool Hints::is_true(const char* key) const { return values.at(key) == "true"; }

}  // namespace shmemx::interpose
