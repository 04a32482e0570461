#include <regex>
#include <sstream>

#include "writers.hpp"

namespace shmemx::manual {
namespace {

constexpr const char* kBegin =
    R"(/* OpenSHMEM 1.6. This file is made from the tables in shmemx/api_table.h, api_plain.h and api_deprecated.h: one prototype
   for each routine, with what `man NAME` says first. Parameter names end in an underscore, so that macros of a program
   do no harm. */
#ifndef SHMEM_H
#define SHMEM_H

#include "shmemx/types.h"

#ifdef __cplusplus
extern "C++" { /* a user may include shmem.h inside extern "C" */
#include <complex>
}
#endif

/* The overloads of C++ are made from the tables. */
#include "shmemx/api_deprecated.h"
#include "shmemx/api_table.h"
#include "shmemx/attributes.h"
#include "shmemx/type_lists.h"

#ifdef __cplusplus
extern "C" {
#endif
)";

constexpr const char* kEnd = R"(
#ifdef __cplusplus
}
#endif

#include "shmemx/generic.h"

#include "shmemx/undef.h"

#endif
)";

std::string declaration(const Routine& routine, const std::string& parameters) {
  return "SHMEMX_API " + routine.result + (routine.result.ends_with('*') ? "" : " ") + routine.name + "(" + parameters +
         ");\n";
}

// C and C++ spell complex types differently.
void write_complex(std::ostream& out, const Routine& routine) {
  const std::string in_cpp =
      std::regex_replace(routine.parameters, std::regex("(double|float) _Complex"), "std::complex<$1>");
  out << "#ifdef __cplusplus\n"
      << declaration(routine, in_cpp) << "#else\n"
      << declaration(routine, routine.parameters) << "#endif\n";
}

void write_family(std::ostream& out, const Family& family) {
  out << "\n/* ==== " << family.name << ": " << std::regex_replace(family.title, std::regex("`"), "") << ". "
      << family.standard << " ==== */\n";
  for (const Operation& operation : family.operations) {
    const std::string sentence = std::regex_replace(operation.sentence, std::regex("`"), "");
    for (const Routine& routine : family.routines) {
      if (routine.operation != operation.key) continue;
      out << "/** " << sentence << " */\n";
      if (routine.complex) {
        write_complex(out, routine);
      } else {
        out << declaration(routine, routine.parameters);
      }
    }
  }
}

}  // namespace

std::string flat_header(const Manual& manual) {
  std::ostringstream out;
  out << kBegin;
  for (const Family& family : manual.families) {
    if (family.header == "shmem.h") write_family(out, family);
  }
  out << kEnd;
  return out.str();
}

}  // namespace shmemx::manual
