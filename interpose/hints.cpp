#include "interpose/hints.hpp"

#include <string_view>
#include <vector>

namespace shmemx::interpose {
namespace {

struct Key {
  const char* name;
  const char* initial;
};

// What the keys promise is true of every window here or makes no difference, so all values are accepted. Two are
// fixed: accumulates are ordered, and each element is updated by itself.
constexpr Key kKeys[] = {
    {"no_locks", "false"},
    {"accumulate_ordering", "rar,raw,war,waw"},
    {"accumulate_ops", "same_op_no_op"},
    {"mpi_accumulate_granularity", "0"},
    {"same_size", "false"},
    {"same_disp_unit", "false"},
    {"alloc_shared_noncontig", "false"},
};

std::string value_of(MPI_Info info, const char* name) {
  int length = 0;
  int found = 0;
  PMPI_Info_get_valuelen(info, name, &length, &found);
  if (found == 0) return {};
  std::vector<char> text(static_cast<std::size_t>(length) + 1);
  PMPI_Info_get(info, name, length, text.data(), &found);
  return text.data();
}

bool is_kept(const Key& key, const std::string& value) {
  const std::string_view name = key.name;
  if (value.empty() || name == "accumulate_ordering" || name == "mpi_accumulate_granularity") return false;
  if (name == "accumulate_ops") return value == "same_op" || value == "same_op_no_op";
  return value == "true" || value == "false";
}

}  // namespace

Hints::Hints(MPI_Info info) {
  for (const Key& key : kKeys) {
    values[key.name] = key.initial;
    if (info == MPI_INFO_NULL) continue;
    if (const std::string value = value_of(info, key.name); is_kept(key, value)) values[key.name] = value;
  }
}

int Hints::copy_to(MPI_Info* info) const {
  const int code = PMPI_Info_create(info);
  if (code != MPI_SUCCESS) return code;
  for (const auto& [key, value] : values) PMPI_Info_set(*info, key.c_str(), value.c_str());
  return MPI_SUCCESS;
}

bool Hints::is_true(const char* key) const { return values.at(key) == "true"; }

}  // namespace shmemx::interpose
