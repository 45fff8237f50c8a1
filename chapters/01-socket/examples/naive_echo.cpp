// The echo server that everyone writes first: it works, until something goes wrong.
//
//   naive_echo PORT
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  const char* port = argc > 1 ? argv[1] : "20080";
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<in_port_t>(std::atoi(port)));
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    std::perror("bind");
    return 1;
  }
  listen(listener, SOMAXCONN);
  std::printf("listening on port %s\n", port);
  for (;;) {
    const int client = accept(listener, nullptr, nullptr);
    if (client < 0) {
      std::perror("accept");
      return 1;
    }
    char bytes[4096];
    ssize_t count = 0;
    while ((count = read(client, bytes, sizeof(bytes))) > 0) {
      if (write(client, bytes, static_cast<size_t>(count)) < count) {
        break;
      }
    }
  }
}
