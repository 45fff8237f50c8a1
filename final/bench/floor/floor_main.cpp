#include "floor_main.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>
#include <vector>

#include "floor_listener.h"

namespace TURTLE_SERVER {

auto RunFloor(int argc, char** argv, const char* name, int socket_flags, ServeFloor serve) -> int {
  try {
    const FloorOptions options = ParseFloorOptions(argc, argv);
    if (options.help) {
      std::fputs(kFloorUsage, stdout);
      return 0;
    }
    const Replies replies(options.root);
    const std::vector<UniqueFd> listeners = OpenListeners(options, socket_flags);
    std::vector<std::thread> threads;
    threads.reserve(listeners.size());
    for (const UniqueFd& listener : listeners) {
      threads.emplace_back([&, fd = listener.Get()] {
        try {
          serve(options, replies, fd);
        } catch (const std::exception& error) {
          std::fprintf(stderr, "%s: %s\n", name, error.what());
          std::exit(1);
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 1;
  }
  return 0;
}

}  // namespace TURTLE_SERVER
