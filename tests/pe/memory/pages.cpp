// The pages behind the symmetric heap, over several lives of the library: a program with a scenario as its argument.
// Exit status 0 is success.
#include <shmem.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>

namespace {

int failures = 0;

#define EXPECT(...)                                                                      \
  do {                                                                                   \
    if (!(__VA_ARGS__)) {                                                                \
      ++failures;                                                                        \
      std::fprintf(stderr, "%s:%d: %s is false\n", "pages.cpp", __LINE__, #__VA_ARGS__); \
    }                                                                                    \
  } while (false)

constexpr std::size_t kBytes = std::size_t{1} << 20;

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

// shmem_calloc gives zeros although an earlier life of the library has filled the same memory, and the program has
// locked a page of it, so that the kernel refuses MADV_REMOVE.
void zeros_after_finalize() {
  shmem_init();
  auto* const filled = static_cast<unsigned char*>(shmem_malloc(kBytes));
  EXPECT(filled != nullptr);
  if (filled == nullptr) return;
  std::memset(filled, 0xff, kBytes);
  auto* const page = filled + page_bytes() - reinterpret_cast<std::uintptr_t>(filled) % page_bytes();
  const bool locked = mlock(page, page_bytes()) == 0;
  if (!locked) std::printf("no page can be locked here\n");
  shmem_free(filled);
  shmem_finalize();

  shmem_init();
  auto* const zeros = static_cast<unsigned char*>(shmem_calloc(kBytes, 1));
  EXPECT(zeros == filled);
  if (zeros != nullptr) EXPECT(std::count(zeros, zeros + kBytes, 0) == static_cast<std::ptrdiff_t>(kBytes));
  shmem_finalize();
}

}  // namespace

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*run)();
  } scenarios[] = {{"zeros_after_finalize", zeros_after_finalize}};
  for (const auto& scenario : scenarios) {
    if (argc > 1 && std::strcmp(argv[1], scenario.name) == 0) {
      scenario.run();
      return failures == 0 ? 0 : 1;
    }
  }
  std::fprintf(stderr, "pages: unknown scenario\n");
  return 2;
}
