/* races: none; class: language; pes: 2 */
/* Overloads of C++ for put, fence and signal, in a class that owns a block of the heap. */
#include <shmem.h>

namespace {
class Channel {
 public:
  Channel() : data_(static_cast<double*>(shmem_calloc(4, sizeof(double)))) {}
  void send(const double* values, int pe) { shmem_put_signal(data_, values, 4, &ready_, 1, SHMEM_SIGNAL_SET, pe); }
  double receive(int index) {
    shmem_signal_wait_until(&ready_, SHMEM_CMP_EQ, 1);
    return data_[index];
  }
  void close() { shmem_free(data_); }

 private:
  double* data_;
  static uint64_t ready_;
};
uint64_t Channel::ready_;
}  // namespace

int main() {
  shmem_init();
  Channel channel;
  const double values[4] = {1, 2, 3, 4};
  channel.send(values, 1 - shmem_my_pe());
  const bool wrong = channel.receive(3) != 4;
  channel.close();
  shmem_finalize();
  return wrong ? 1 : 0;
}
