#include "routines.hpp"

#include <cstddef>
#include <cstdint>
#include <regex>
#include <set>
#include <string_view>

// clang-format off
#include <shmemx/type_lists.h>
#include <shmemx/api_table.h>
#include <shmemx/api_deprecated.h>
// clang-format on

// As C spells them.
#undef SHMEMX_COMPLEXD
#undef SHMEMX_COMPLEXF
#define SHMEMX_COMPLEXD double _Complex
#define SHMEMX_COMPLEXF float _Complex

namespace shmemx::manual {
namespace {

enum class Form { typed, with_context, active_set };

// A row of the tables, all columns as text.
struct Row {
  std::string_view tail, result, operation, parameters;
  Form form;
};

struct PlainRow {
  std::string_view result, name, parameters;
};

#define ROW(TAIL, T, R, OP, ARGS, ...) {#TAIL, #R, #OP, #__VA_ARGS__, Form::typed},
#define ROW_CTX(TAIL, T, R, OP, ARGS, ...) {#TAIL, #R, #OP, #__VA_ARGS__, Form::with_context},
#define ROW_ACTIVE(TAIL, T, R, OP, ARGS, ...) {#TAIL, #R, #OP, #__VA_ARGS__, Form::active_set},
// clang-format off
constexpr Row kRows[] = {
    SHMEMX_RMA_TABLE(ROW_CTX)
    SHMEMX_AMO_TABLE(ROW_CTX)
    SHMEMX_WAIT_TABLE(ROW)
    SHMEMX_COLLECTIVE_TABLE(ROW)
    SHMEMX_REDUCE_TABLE(ROW)
    SHMEMX_OLD_AMO_TABLE(ROW)
    SHMEMX_OLD_WAIT_TABLE(ROW)
    SHMEMX_OLD_WAIT_UNTIL_TABLE(ROW)
    SHMEMX_OLD_COLLECTIVE_TABLE(ROW_ACTIVE)
    SHMEMX_TO_ALL_TABLE(ROW)
};

// The same sets of rows, once each, for a synopsis.
#define PATTERN(OPS, X) OPS(X, _TYPENAME_, TYPE)
constexpr Row kPatterns[] = {
    PATTERN(SHMEMX_RMA_OPS, ROW_CTX)
    PATTERN(SHMEMX_PUT_SIGNAL_OPS, ROW_CTX)
    PATTERN(SHMEMX_AMO_EXTENDED_OPS, ROW_CTX)
    PATTERN(SHMEMX_AMO_STANDARD_OPS, ROW_CTX)
    PATTERN(SHMEMX_AMO_BITWISE_OPS, ROW_CTX)
    PATTERN(SHMEMX_WAIT_OPS, ROW)
    PATTERN(SHMEMX_WAIT_ARRAY_OPS, ROW)
    PATTERN(SHMEMX_COLLECTIVE_OPS, ROW)
    PATTERN(SHMEMX_REDUCE_BITWISE_OPS, ROW)
    PATTERN(SHMEMX_REDUCE_ORDER_OPS, ROW)
    PATTERN(SHMEMX_REDUCE_SUM_OPS, ROW)
    PATTERN(SHMEMX_OLD_AMO_EXTENDED_OPS, ROW)
    PATTERN(SHMEMX_OLD_AMO_STANDARD_OPS, ROW)
    PATTERN(SHMEMX_OLD_WAIT_OPS, ROW)
    PATTERN(SHMEMX_TO_ALL_BITWISE_OPS, ROW)
    PATTERN(SHMEMX_TO_ALL_ORDER_OPS, ROW)
    PATTERN(SHMEMX_TO_ALL_SUM_OPS, ROW)
    SHMEMX_SIZED_RMA_OPS(ROW_CTX, SIZE, )
    SHMEMX_SIZED_RMA_OPS(ROW_CTX, mem, )
    SHMEMX_SIZED_STRIDED_OPS(ROW_CTX, SIZE, )
    SHMEMX_MEM_COLLECTIVE_OPS(ROW, mem, )
    SHMEMX_OLD_COLLECTIVE_OPS(ROW_ACTIVE, SIZE, )
};
// clang-format on

#define SHMEMX_ROUTINE(R, NAME, PARAMETERS) {#R, #NAME, #PARAMETERS},
constexpr PlainRow kPlainRows[] = {
#include <shmemx/api_plain.h>
    SHMEMX_OLD_LONG_WAITS(SHMEMX_ROUTINE) SHMEMX_OLDEST_ROUTINES(SHMEMX_ROUTINE)};

// Returns what the tail of a name holds besides the operation: long of _long_put_nbi, 32 of _put32_nbi.
std::string type_of_tail(std::string_view tail, std::string_view operation) {
  std::string text(tail.substr(1));
  if (text.ends_with("_" + std::string(operation))) return text.substr(0, text.size() - operation.size() - 1);
  static const std::regex size("(8|16|32|64|128|mem|SIZE)(_|$)");
  std::smatch match;
  return std::regex_search(text, match, size) ? match[1].str() : std::string();
}

Routine routine_of(const Row& row, bool context) {
  Routine routine;
  routine.name = (context ? "shmem_ctx" : "shmem") + std::string(row.tail);
  routine.result = row.result;
  routine.parameters = (context ? "shmem_ctx_t ctx_, " : "") + std::string(row.parameters);
  routine.operation = (row.form == Form::active_set ? "active_" : "") + std::string(row.operation);
  routine.type_name = type_of_tail(row.tail, row.operation);
  routine.complex = routine.parameters.find("_Complex") != std::string::npos;
  return routine;
}

template <std::size_t N>
std::vector<Routine> routines_of(const Row (&rows)[N]) {
  std::vector<Routine> routines;
  for (const Row& row : rows) {
    routines.push_back(routine_of(row, false));
    if (row.form == Form::with_context) routines.push_back(routine_of(row, true));
  }
  return routines;
}

// The context forms of plain routines share the sentence of the form without one.
std::string plain_operation(std::string_view name) {
  static const std::set<std::string_view> pairs = {"fence", "quiet", "pe_quiet", "signal_add", "signal_set"};
  if (name.starts_with("shmem_ctx_") && pairs.count(name.substr(10))) return std::string(name.substr(10));
  return std::string(name.starts_with("shmem_") ? name.substr(6) : name);
}

// Returns the text without comments, on one line.
std::string without_comments(const std::string& text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text.compare(at, 2, "/*") == 0) {
      at = text.find("*/", at) + 1;
    } else {
      plain += text[at] == '\n' ? ' ' : text[at];
    }
  }
  return std::regex_replace(plain, std::regex(" +"), " ");
}

}  // namespace

std::vector<Pattern> standard_patterns() { return routines_of(kPatterns); }

std::vector<Routine> standard_routines() {
  std::vector<Routine> routines = routines_of(kRows);
  for (const PlainRow& row : kPlainRows) {
    const std::string_view parameters = row.parameters.substr(1, row.parameters.size() - 2);
    routines.push_back({std::string(row.name), std::string(row.result), std::string(parameters),
                        plain_operation(row.name), "", false});
  }
  return routines;
}

std::vector<Routine> extension_routines(const std::string& header) {
  static const std::regex declaration(R"(SHMEMX_API ([^()]*[ *])(shmemx_\w+)\(([^;]*)\) SHMEMX_NOEXCEPT;)");
  const std::string text = without_comments(header);
  std::vector<Routine> routines;
  for (std::sregex_iterator at(text.begin(), text.end(), declaration), end; at != end; ++at) {
    const std::string result = std::regex_replace((*at)[1].str(), std::regex(" +$"), "");
    const std::string parameters = std::regex_replace((*at)[3].str(), std::regex("(\\*+) "), " $1");
    routines.push_back({(*at)[2], result, parameters, (*at)[2], "", false});
  }
  return routines;
}

std::string plain_parameters(const std::string& parameters) {
  return std::regex_replace(parameters, std::regex("([A-Za-z0-9])_\\b"), "$1");
}

std::string prototype(const Routine& routine) {
  const std::string result = std::regex_replace(routine.result, std::regex("SHMEMX_NORETURN "), "");
  return result + (result.ends_with('*') ? "" : " ") + routine.name + "(" + plain_parameters(routine.parameters) + ")";
}

}  // namespace shmemx::manual
