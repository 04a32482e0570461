// Runs a program that is a shared object, as interpreters load modules: nothing else of this process knows MPI.
// Usage: opener <shared object> [arguments of its main]
#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
  void* const module = argc < 2 ? nullptr : ::dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    std::fprintf(stderr, "%s\n", argc < 2 ? "no shared object" : ::dlerror());
    return 9;
  }
  using Main = int (*)(int, char**);
  const auto run = reinterpret_cast<Main>(::dlsym(module, "main"));
  return run == nullptr ? 9 : run(argc - 1, argv + 1);
}
