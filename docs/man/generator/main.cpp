// Writes the manual pages for man and for browsers, and the installed headers: those of INCLUDE with a shmem.h that
// needs no macros. The target manual runs this.
#include <filesystem>
#include <fstream>

#include "writers.hpp"

namespace {

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) shmemx::manual::fail("cannot write " + path.string());
}

}  // namespace

int main(int argc, char** argv) {
  using namespace shmemx::manual;
  if (argc != 4) fail("usage: write_manual TEXTS INCLUDE OUTPUT");
  const std::filesystem::path output = argv[3];
  const Manual manual = read_manual(argv[1], argv[2]);
  for (const char* folder : {"man3", "man7", "html", "include"}) {
    std::filesystem::remove_all(output / folder);  // what an earlier run has left
    std::filesystem::create_directories(output / folder);
  }
  for (const File& file : man_files(manual)) write(output / file.first, file.second);
  for (const File& file : html_files(manual)) write(output / file.first, file.second);
  std::filesystem::copy(argv[2], output / "include", std::filesystem::copy_options::recursive);
  std::filesystem::remove(output / "include/shmem.h");
  write(output / "include/shmem.h", flat_header(manual));
  return 0;
}
