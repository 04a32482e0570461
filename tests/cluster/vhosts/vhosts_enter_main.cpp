// vhosts-enter [options of ssh] HOST WORD...: replaces ssh for a launcher. Like ssh, it joins the words with blanks and
// passes them to a shell.
#include <cstdio>
#include <cstring>

#include "enter.hpp"
#include "posix.hpp"

namespace {

constexpr char kOptionsWithValue[] = "bcDeFIiJLlmOopQRSWw";

int first_word(int argc, char** argv) {
  int at = 1;
  while (at < argc && argv[at][0] == '-') {
    const bool has_value =
        argv[at][1] != '\0' && argv[at][2] == '\0' && std::strchr(kOptionsWithValue, argv[at][1]) != nullptr;
    at += has_value ? 2 : 1;
  }
  return at;
}

}  // namespace

int main(int argc, char** argv) {
  const int at = first_word(argc, argv);
  if (at + 1 >= argc) {
    std::fprintf(stderr, "usage: vhosts-enter [options] HOST WORD...\n");
    return 2;
  }
  std::string line = argv[at + 1];
  for (int i = at + 2; i < argc; ++i) line += std::string(" ") + argv[i];
  try {
    return vhosts::enter_host(argv[at], {"/bin/sh", "-c", line});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "vhosts-enter: %s\n", error.what());
    return 255;
  }
}
