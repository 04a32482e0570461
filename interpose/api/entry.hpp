// What the entry points share. Each routine is defined by its PMPI_ name; the other one is made of it.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <tuple>

#include "interpose/below.hpp"

namespace shmemx::interpose {

template <class Routine>
struct ParametersOf;
template <class Result, class... Parameters>
struct ParametersOf<Result(Parameters...)> {
  using Types = std::tuple<Parameters...>;
};
template <class Routine, std::size_t I>
using Parameter = std::tuple_element_t<I, typename ParametersOf<Routine>::Types>;

}  // namespace shmemx::interpose

#define SHMEMX_ENTRY extern "C" __attribute__((visibility("default")))

// clang-format off
#define SHMEMX_PARAMETERS_1(F) shmemx::interpose::Parameter<F, 0> a
#define SHMEMX_PARAMETERS_2(F) SHMEMX_PARAMETERS_1(F), shmemx::interpose::Parameter<F, 1> b
#define SHMEMX_PARAMETERS_3(F) SHMEMX_PARAMETERS_2(F), shmemx::interpose::Parameter<F, 2> c
#define SHMEMX_PARAMETERS_4(F) SHMEMX_PARAMETERS_3(F), shmemx::interpose::Parameter<F, 3> d
#define SHMEMX_PARAMETERS_5(F) SHMEMX_PARAMETERS_4(F), shmemx::interpose::Parameter<F, 4> e
#define SHMEMX_PARAMETERS_6(F) SHMEMX_PARAMETERS_5(F), shmemx::interpose::Parameter<F, 5> f
#define SHMEMX_PARAMETERS_7(F) SHMEMX_PARAMETERS_6(F), shmemx::interpose::Parameter<F, 6> g
#define SHMEMX_PARAMETERS_8(F) SHMEMX_PARAMETERS_7(F), shmemx::interpose::Parameter<F, 7> h
#define SHMEMX_PARAMETERS_9(F) SHMEMX_PARAMETERS_8(F), shmemx::interpose::Parameter<F, 8> i
#define SHMEMX_PARAMETERS_10(F) SHMEMX_PARAMETERS_9(F), shmemx::interpose::Parameter<F, 9> j
#define SHMEMX_PARAMETERS_11(F) SHMEMX_PARAMETERS_10(F), shmemx::interpose::Parameter<F, 10> k
#define SHMEMX_PARAMETERS_12(F) SHMEMX_PARAMETERS_11(F), shmemx::interpose::Parameter<F, 11> l
#define SHMEMX_PARAMETERS_13(F) SHMEMX_PARAMETERS_12(F), shmemx::interpose::Parameter<F, 12> m
#define SHMEMX_ARGUMENTS_1 a
#define SHMEMX_ARGUMENTS_2 SHMEMX_ARGUMENTS_1, b
#define SHMEMX_ARGUMENTS_3 SHMEMX_ARGUMENTS_2, c
#define SHMEMX_ARGUMENTS_4 SHMEMX_ARGUMENTS_3, d
#define SHMEMX_ARGUMENTS_5 SHMEMX_ARGUMENTS_4, e
#define SHMEMX_ARGUMENTS_6 SHMEMX_ARGUMENTS_5, f
#define SHMEMX_ARGUMENTS_7 SHMEMX_ARGUMENTS_6, g
#define SHMEMX_ARGUMENTS_8 SHMEMX_ARGUMENTS_7, h
#define SHMEMX_ARGUMENTS_9 SHMEMX_ARGUMENTS_8, i
#define SHMEMX_ARGUMENTS_10 SHMEMX_ARGUMENTS_9, j
#define SHMEMX_ARGUMENTS_11 SHMEMX_ARGUMENTS_10, k
#define SHMEMX_ARGUMENTS_12 SHMEMX_ARGUMENTS_11, l
#define SHMEMX_ARGUMENTS_13 SHMEMX_ARGUMENTS_12, m
// clang-format on

// Defines MPI_X with this number of parameters: it calls a tool that the program would call without this library, which
// in turn calls PMPI_X; or PMPI_X itself.
#define SHMEMX_BOTH_NAMES(name, parameters)                                            \
  SHMEMX_ENTRY int MPI_##name(SHMEMX_PARAMETERS_##parameters(decltype(PMPI_##name))) { \
    const auto tool = shmemx::interpose::tools().name;                                 \
    if (tool != nullptr) [[unlikely]]                                                  \
      return tool(SHMEMX_ARGUMENTS_##parameters);                                      \
    return PMPI_##name(SHMEMX_ARGUMENTS_##parameters);                                 \
  }

// Names the struct of a routine: what errors call it, and the MPI's own.
#define SHMEMX_NAME_ROUTINE(name)                           \
  namespace {                                               \
  struct name##Routine {                                    \
    static constexpr char kName[] = "MPI_" #name;           \
    template <class... Arguments>                           \
    static int below(Arguments... arguments) {              \
      return shmemx::interpose::below().name(arguments...); \
    }                                                       \
  };                                                        \
  }

// Defines both names of a routine by function<struct of the routine>(arguments).
#define SHMEMX_BY_FUNCTION(name, parameters, function)                                 \
  SHMEMX_NAME_ROUTINE(name)                                                            \
  SHMEMX_ENTRY int PMPI_##name(SHMEMX_PARAMETERS_##parameters(decltype(MPI_##name))) { \
    return function<name##Routine>(SHMEMX_ARGUMENTS_##parameters);                     \
  }                                                                                    \
  SHMEMX_BOTH_NAMES(name, parameters)

// Makes a routine that is called most often, by way of fast_path(arguments), which returns true if it has done
// everything. It does nothing if there are tools, so they need not be looked for before.
#define SHMEMX_BY_SHORT_PATH(name, parameters, fast_path, function)                    \
  SHMEMX_NAME_ROUTINE(name)                                                            \
  SHMEMX_ENTRY int PMPI_##name(SHMEMX_PARAMETERS_##parameters(decltype(MPI_##name))) { \
    if (fast_path(SHMEMX_ARGUMENTS_##parameters)) [[likely]]                           \
      return MPI_SUCCESS;                                                              \
    return function<name##Routine>(SHMEMX_ARGUMENTS_##parameters);                     \
  }                                                                                    \
  SHMEMX_ENTRY int MPI_##name(SHMEMX_PARAMETERS_##parameters(decltype(PMPI_##name))) { \
    if (fast_path(SHMEMX_ARGUMENTS_##parameters)) [[likely]]                           \
      return MPI_SUCCESS;                                                              \
    const auto tool = shmemx::interpose::tools().name;                                 \
    if (tool != nullptr) [[unlikely]]                                                  \
      return tool(SHMEMX_ARGUMENTS_##parameters);                                      \
    return function<name##Routine>(SHMEMX_ARGUMENTS_##parameters);                     \
  }
