#include "enter.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstdlib>

#include "message.hpp"

namespace vhosts {

int enter_host(const std::string& host, const std::vector<std::string>& argv) {
  const char* const folder = std::getenv("VHOSTS_DIR");
  if (folder == nullptr) throw Failure("VHOSTS_DIR is not set: this process does not run under vhosts");
  const Fd socket(check(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (folder + ("/" + host) + ".socket").copy(address.sun_path, sizeof address.sun_path - 1);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw Failure("there is no host '" + host + "'");
  }
  Command command{argv, own_environment(), "", true};
  set_variable(command.environment, "HOSTNAME", host);
  char* const here = ::getcwd(nullptr, 0);
  command.folder = here == nullptr ? "/" : here;
  std::free(here);
  send_message(socket.get(), {Kind::start, 0, 0, command.encode()}, {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO});
  Message answer;
  if (!receive_message(socket.get(), answer)) throw Failure("host '" + host + "' died");
  return exit_code_of(answer.value);
}

}  // namespace vhosts
