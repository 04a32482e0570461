// When the detector watches: from the library's start to its end; and how the process ends.
#pragma once

namespace shmemx::races {

// Called after each start of the library, and before each end. Only the first start and the last end count.
void begin_watching() noexcept;
void end_watching() noexcept;

// Threads that the library starts while one stands are its own.
class StartOfLibrary {
 public:
  StartOfLibrary() noexcept;
  ~StartOfLibrary();
  StartOfLibrary(const StartOfLibrary&) = delete;
  StartOfLibrary& operator=(const StartOfLibrary&) = delete;

 private:
  bool was_internal_;
};

// The definition behind this library's own.
void* next_definition(const char* name) noexcept;

}  // namespace shmemx::races
