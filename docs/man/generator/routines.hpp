// The routines of the library, from the tables of the public headers.
#pragma once

#include <string>
#include <vector>

namespace shmemx::manual {

struct Routine {
  std::string name;        // shmem_ctx_long_put
  std::string result;      // void
  std::string parameters;  // as in the header: names end in an underscore
  std::string operation;   // the key of its sentence in a family's text: put, active_broadcast, shmemx_send
  std::string type_name;   // long, 32, mem; empty if the name holds no type
  bool complex = false;    // its prototype names a complex type
};

// A prototype in which TYPENAME, TYPE and SIZE stand for those of the table's types.
using Pattern = Routine;

std::vector<Routine> standard_routines();
std::vector<Pattern> standard_patterns();

// The prototypes in the text of a header of extensions.
std::vector<Routine> extension_routines(const std::string& header);

// Returns parameters without the underscores at the end of their names.
std::string plain_parameters(const std::string& parameters);

// Returns "result name(parameters)", as a reader writes it.
std::string prototype(const Routine& routine);

}  // namespace shmemx::manual
