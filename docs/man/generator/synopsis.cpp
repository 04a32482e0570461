#include <algorithm>
#include <regex>

#include "writers.hpp"

namespace shmemx::manual {
namespace {

// Returns "dest, source, nelems, pe" of the parameters: the last word of each.
std::string argument_names(const std::string& parameters) {
  static const std::regex argument("(\\w+)(,|$)");
  const std::string plain = plain_parameters(parameters);
  std::string names;
  for (std::sregex_iterator at(plain.begin(), plain.end(), argument), end; at != end; ++at) {
    names += (names.empty() ? "" : ", ") + (*at)[1].str();
  }
  return names;
}

bool is_context_form(const Routine& routine) {
  return routine.name.starts_with("shmem_ctx_") && !routine.type_name.empty();
}

}  // namespace

std::string label(const Family& family, const Operation& operation) {
  for (const Routine& routine : family.routines) {
    if (routine.operation == operation.key && routine.type_name.empty()) return routine.name;
  }
  const std::string generic = "shmem_" + operation.key;
  if (std::find(family.generics.begin(), family.generics.end(), generic) != family.generics.end()) return generic;
  for (const Pattern& pattern : family.patterns) {
    if (pattern.operation == operation.key) return pattern.name;
  }
  return generic;
}

std::string type_names(const Family& family, const std::string& operation) {
  std::string names;
  for (const Routine& routine : family.routines) {
    if (routine.operation != operation || routine.type_name.empty() || is_context_form(routine)) continue;
    names += (names.empty() ? "" : ", ") + routine.type_name;
  }
  return names;
}

std::vector<std::string> generic_calls(const Family& family) {
  std::vector<std::string> calls;
  for (const std::string& name : family.generics) {
    const std::string key = name.substr(6);
    bool context = false;
    const Pattern* typed = nullptr;
    for (const Pattern& pattern : family.patterns) {
      if (pattern.operation != key || pattern.type_name != "TYPENAME") continue;
      context = context || is_context_form(pattern);
      if (!is_context_form(pattern)) typed = &pattern;
    }
    if (typed != nullptr) {
      calls.push_back(name + "(" + (context ? "[ctx,] " : "") + argument_names(typed->parameters) + ")");
    }
  }
  return calls;
}

std::vector<std::string> synopsis(const Family& family) {
  std::vector<std::string> lines;
  for (const Operation& operation : family.operations) {
    for (const Routine& routine : family.routines) {
      if (routine.operation == operation.key && routine.type_name.empty()) lines.push_back(prototype(routine) + ";");
    }
    for (const Pattern& pattern : family.patterns) {
      if (pattern.operation == operation.key) lines.push_back(prototype(pattern) + ";");
    }
  }
  return lines;
}

}  // namespace shmemx::manual
