#include "family.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace shmemx::manual {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> names;
  std::istringstream stream(text);
  for (std::string name; std::getline(stream, name, ',');) names.push_back(name.substr(name.find_first_not_of(' ')));
  return names;
}

// Adds a line "key: value" of a text's head to the family.
void add_head_line(Family& family, const std::string& line) {
  const std::size_t colon = line.find(": ");
  if (colon == std::string::npos) fail(family.name + ": '" + line + "' has no colon");
  const std::string key = line.substr(0, colon);
  const std::string value = line.substr(colon + 2);
  if (key == "title") {
    family.title = value;
  } else if (key == "standard") {
    family.standard = value;
  } else if (key == "header") {
    family.header = value;
  } else if (key == "see") {
    family.see = split_list(value);
  } else {
    family.operations.push_back({key, value});
  }
}

// Adds a line of a section. Lines of a paragraph or an item are joined, literal lines are kept.
void add_text_line(Section& section, const std::string& line, bool continues) {
  if (line.starts_with("    ")) {
    if (continues && section.blocks.back().kind == Block::Kind::literal) {
      section.blocks.back().text += "\n" + line.substr(4);
    } else {
      section.blocks.push_back({Block::Kind::literal, line.substr(4)});
    }
  } else if (line.starts_with("- ")) {
    section.blocks.push_back({Block::Kind::item, line.substr(2)});
  } else if (continues) {
    section.blocks.back().text += " " + line.substr(line.find_first_not_of(' '));
  } else {
    section.blocks.push_back({Block::Kind::paragraph, line});
  }
}

Family parse(const std::string& name, const std::string& text) {
  Family family;
  family.name = name;
  bool continues = false;
  for (const std::string& line : lines_of(text)) {
    if (line.empty()) {
      continues = false;
    } else if (line.starts_with("== ")) {
      family.sections.push_back({line.substr(3), {}});
      continues = false;
    } else if (family.sections.empty()) {
      add_head_line(family, line);
    } else {
      add_text_line(family.sections.back(), line, continues);
      continues = true;
    }
  }
  if (family.title.empty() || family.sections.empty()) fail(name + ": no title, or no section");
  return family;
}

using RoutineMap = std::multimap<std::string, Routine>;

RoutineMap by_operation(const std::vector<Routine>& routines) {
  RoutineMap map;
  for (const Routine& routine : routines) map.emplace(routine.operation, routine);
  return map;
}

// Moves the routines of the family's operations from `rest` to the family.
void take_routines(Family& family, RoutineMap& rest, const RoutineMap& patterns, const std::string& generic_header) {
  for (const Operation& operation : family.operations) {
    const auto [first, last] = rest.equal_range(operation.key);
    if (first == last) fail(family.name + ": no routine has the operation '" + operation.key + "'");
    for (auto at = first; at != last; ++at) family.routines.push_back(at->second);
    rest.erase(first, last);
    const auto [from, to] = patterns.equal_range(operation.key);
    for (auto at = from; at != to; ++at) family.patterns.push_back(at->second);
    if (generic_header.find("#define shmem_" + operation.key + "(") != std::string::npos) {
      family.generics.push_back("shmem_" + operation.key);
    }
  }
}

std::vector<Routine> all_routines(const std::string& include) {
  std::vector<Routine> routines = standard_routines();
  for (const char* header :
       {"shmemx.h", "shmemx/active.h", "shmemx/collectives.h", "shmemx/messages.h", "shmemx/start.h", "shmemx/stats.h",
        "shmemx/tasks.h", "shmemx/window_sync.h", "shmemx/window_updates.h", "shmemx/windows.h"}) {
    for (Routine& routine : extension_routines(read_file(include + "/" + header)))
      routines.push_back(std::move(routine));
  }
  return routines;
}

}  // namespace

void fail(const std::string& text) {
  std::fprintf(stderr, "manual: %s\n", text.c_str());
  std::exit(1);
}

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) fail("cannot read " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Manual read_manual(const std::string& texts, const std::string& include) {
  RoutineMap rest = by_operation(all_routines(include));
  const RoutineMap patterns = by_operation(standard_patterns());
  const std::string generic_header = read_file(include + "/shmemx/generic.h");
  Manual manual;
  manual.overview = parse("shmemx", read_file(texts + "/shmemx.txt"));
  manual.overview.example = read_file(texts + "/shmemx.c");
  std::string group;
  for (const std::string& line : lines_of(read_file(texts + "/index.txt"))) {
    if (line.starts_with("# ")) {
      group = line.substr(2);
    } else if (!line.empty()) {
      Family family = parse(line, read_file(texts + "/" + line + ".txt"));
      family.group = group;
      family.example = read_file(texts + "/" + line + ".c");
      take_routines(family, rest, patterns, generic_header);
      manual.families.push_back(std::move(family));
    }
  }
  if (!rest.empty()) fail("no family has the operation '" + rest.begin()->first + "' of " + rest.begin()->second.name);
  return manual;
}

}  // namespace shmemx::manual
