#include "faults.hpp"

#include <array>
#include <cstdlib>

#include "posix.hpp"

namespace vhosts {
namespace {

constexpr std::array<const char*, 4> kNames{"cut", "join", "kill", "off"};

double parse_time(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const std::string unit = end;
  if (end == text.c_str() || number < 0 || (unit != "s" && unit != "ms" && !unit.empty())) {
    throw Failure("'" + text + "' is no time; examples are 2s and 100ms");
  }
  return unit == "ms" ? number / 1000 : number;
}

int parse_network(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos)
    throw Failure("'" + text + "' is no number of a network");
  return std::atoi(text.c_str());
}

}  // namespace

Fault parse_fault(const std::string& text) {
  Fault fault;
  const std::size_t at = text.find('@'), space = text.find_first_of(" :");
  if (space == std::string::npos) throw Failure("'" + text + "' is no fault; an example is 'cut h1@2s'");
  const std::string name = text.substr(0, space);
  std::string target = text.substr(space + 1, at == std::string::npos ? at : at - space - 1);
  std::size_t kind = 0;
  while (kind < kNames.size() && name != kNames[kind]) ++kind;
  if (kind == kNames.size()) throw Failure("'" + name + "' is no fault, allowed are cut, join, kill, off");
  fault.kind = static_cast<FaultKind>(kind);
  fault.on_pe = target.compare(0, 2, "pe") == 0;
  const std::size_t slash = target.find('/');
  if (slash != std::string::npos) {
    fault.network = parse_network(target.substr(slash + 1));
    target.resize(slash);
    if (fault.kind != FaultKind::cut && fault.kind != FaultKind::join) throw Failure("'" + name + "' has no network");
  }
  const std::string number = target.substr(fault.on_pe ? 2 : std::min<std::size_t>(1, target.size()));
  if ((!fault.on_pe && target[0] != 'h') || number.empty() ||
      number.find_first_not_of("0123456789") != std::string::npos) {
    throw Failure("'" + target + "' is neither a host such as h1 nor a PE such as pe3");
  }
  if (fault.on_pe && fault.kind != FaultKind::kill) throw Failure("a PE can only be killed, not '" + name + "'");
  fault.target = std::atoi(number.c_str());
  if (at != std::string::npos) fault.at_seconds = parse_time(text.substr(at + 1));
  return fault;
}

std::string describe(const Fault& fault) {
  return std::string(kNames[static_cast<std::size_t>(fault.kind)]) + (fault.on_pe ? " pe" : " h") +
         std::to_string(fault.target) + (fault.network < 0 ? "" : "/" + std::to_string(fault.network));
}

}  // namespace vhosts
