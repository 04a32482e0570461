// The text of one family of routines: what a manual page says besides the prototypes.
//
// A file of docs/man/families has lines "title: ...", "standard: ...", "header: ..." and "see: name, name", then a line
// for each operation, "operation: sentence", then sections. A section begins with "== Title"; it has paragraphs, items
// (lines that begin with "- ") and literal lines (indented by four spaces). `x` is a name or code.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "routines.hpp"

namespace shmemx::manual {

struct Block {
  enum class Kind { paragraph, item, literal } kind;
  std::string text;
};

struct Section {
  std::string title;
  std::vector<Block> blocks;
};

struct Operation {
  std::string key;
  std::string sentence;
};

struct Family {
  std::string name, group, title, standard, header;
  std::vector<std::string> see;
  std::vector<Operation> operations;
  std::vector<Section> sections;
  std::string example;  // a whole program
  // In the order of the operations.
  std::vector<Routine> routines;
  std::vector<Pattern> patterns;
  std::vector<std::string> generics;  // names that select the type themselves
};

struct Manual {
  std::vector<Family> families;  // in the order of index.txt
  Family overview;
};

// Reads index.txt and the families it names. Ends the program with a line if a text is wrong, a routine of the headers
// has no family, or an operation no routine.
Manual read_manual(const std::string& texts, const std::string& include);

std::string read_file(const std::string& path);
[[noreturn]] void fail(const std::string& text);

}  // namespace shmemx::manual
