/* Stands for the driver's library of CUDA: pieces of memory that a test names are a device's. */
#include <stddef.h>
#include <stdint.h>

enum { kMemoryType = 2, kIsManaged = 8, kSuccess = 0, kInvalidValue = 1, kDevice = 2 };

static uintptr_t device_begin;
static uintptr_t device_end;
static unsigned calls;

void fake_cuda_set_device(void *begin, size_t bytes) {
  device_begin = (uintptr_t)begin;
  device_end = device_begin + bytes;
}
unsigned fake_cuda_calls(void) { return calls; }

int cuPointerGetAttribute(void *value, int attribute, unsigned long long address) {
  ++calls;
  if (address < device_begin || address >= device_end) return kInvalidValue;
  if (attribute == kMemoryType) *(unsigned *)value = kDevice;
  if (attribute == kIsManaged) *(unsigned *)value = 0;
  return attribute == kMemoryType || attribute == kIsManaged ? kSuccess : kInvalidValue;
}
