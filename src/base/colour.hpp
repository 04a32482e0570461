// Colours of lines on a terminal. None where TERM says that it has none, or where the user has set NO_COLOR
// (no-color.org).
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace shmemx {

inline constexpr const char* kRed = "\x1b[1;31m";
inline constexpr const char* kYellow = "\x1b[1;33m";
inline constexpr const char* kBold = "\x1b[1m";

inline bool shows_colours(int fd) noexcept {
  const char* const refused = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  return (refused == nullptr || *refused == '\0') && terminal != nullptr && *terminal != '\0' &&
         std::strcmp(terminal, "dumb") != 0 && ::isatty(fd) != 0;
}

// What stands around a text that is coloured: both are empty where `fd` shows no colours.
struct Colour {
  Colour(int fd, const char* code) noexcept : Colour(shows_colours(fd), code) {}

  const char* begin;
  const char* end;

 private:
  Colour(bool is_shown, const char* code) noexcept : begin(is_shown ? code : ""), end(is_shown ? "\x1b[0m" : "") {}
};

}  // namespace shmemx
