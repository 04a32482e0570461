// Writes docs/config.md: the target config_doc runs this with the file's path.
#include <cstdio>
#include <string>

#include "config/config_doc.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: write_config_doc FILE\n", stderr);
    return 2;
  }
  const std::string text = shmemx::config::render_markdown();
  std::FILE* const file = std::fopen(argv[1], "w");
  if (file == nullptr) {
    std::perror(argv[1]);
    return 1;
  }
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = std::fclose(file) == 0;
  if (written && closed) return 0;
  std::perror(argv[1]);
  return 1;
}
