// forbid CALL[,CALL...] COMMAND...: runs a command for which these system calls fail with EPERM, as in many containers.
// It sets a seccomp filter, which the command's children inherit. Exits with 77 if no filter can be set.
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <sstream>
#include <string>
#include <vector>

namespace {

struct Call {
  const char* name;
  unsigned number;
};
constexpr Call kCalls[] = {{"process_vm_readv", SYS_process_vm_readv},
                           {"process_vm_writev", SYS_process_vm_writev},
                           {"memfd_create", SYS_memfd_create},
                           {"fallocate", SYS_fallocate},
                           {"getrandom", SYS_getrandom}};

// Returns false if a name is not known.
bool add_rules(const std::string& names, std::vector<sock_filter>& rules) {
  std::istringstream list(names);
  for (std::string name; std::getline(list, name, ',');) {
    const Call* found = nullptr;
    for (const Call& call : kCalls) {
      if (name == call.name) found = &call;
    }
    if (found == nullptr) return false;
    rules.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, found->number, 0, 1));
    rules.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<sock_filter> rules = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  if (argc < 3 || !add_rules(argv[1], rules)) return 2;
  rules.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(rules.size()), rules.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    puts("skipped: no filter of system calls can be set here");
    return 77;
  }
  execvp(argv[2], argv + 2);
  perror(argv[2]);
  return 2;
}
