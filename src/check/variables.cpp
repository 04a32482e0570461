#include "check/variables.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/fatal.hpp"
#include "base/object_name.hpp"
#include "check/checks.hpp"

namespace shmemx::check {
namespace {

// Never destroyed: threads may still use the library while the process exits.
const std::vector<AddressSpan>& variables() {
  static const auto* const instance = new std::vector<AddressSpan>(variables_of_executable());
  return *instance;
}
const std::vector<AddressSpan>& constants() {
  static const auto* const instance = new std::vector<AddressSpan>(constants_of_executable());
  return *instance;
}

// Returns "at the begin of 'x' (32 bytes)".
std::string position_in(const AddressSpan& variable, std::uintptr_t address) {
  const std::uintptr_t inside = address - variable.begin;
  const NamedObject named = variable_at(address);
  const std::string of =
      "'" + demangled(named.name) + "' (" + std::to_string(variable.end - variable.begin) + " bytes)";
  return inside == 0 ? "at the begin of " + of : std::to_string(inside) + " bytes into " + of;
}

}  // namespace

void check_variable(const char* routine, const char* argument, const void* address, std::uint64_t bytes) noexcept {
  if (!enabled.has(Checks::heap) || bytes == 0) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  const auto behind = std::upper_bound(variables().begin(), variables().end(), begin,
                                       [](std::uintptr_t at, const AddressSpan& one) { return at < one.begin; });
  if (behind == variables().begin()) return;
  const AddressSpan& variable = *(behind - 1);
  if (begin >= variable.end || bytes <= variable.end - begin) return;
  fatal(routine, "argument '%s' is %s, and %llu bytes from there go %llu bytes past its end", argument,
        position_in(variable, begin).c_str(), static_cast<unsigned long long>(bytes),
        static_cast<unsigned long long>(bytes - (variable.end - begin)));
}

void check_writable(const char* routine, const char* argument, const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const bool is_constant = std::any_of(constants().begin(), constants().end(),
                                       [&](const AddressSpan& one) { return at >= one.begin && at < one.end; });
  if (!is_constant) return;
  const std::string name = demangled(variable_at(at).name);
  fatal(routine, "argument '%s' is in %s, allowed is memory that can be written to", argument,
        name.empty() ? "the constants of the program" : ("'" + name + "', a constant").c_str());
}

}  // namespace shmemx::check
