// libevent's HTTP server with the pages of the benchmark in memory.
//
//   evhttp_server PORT ROOT THREADS
//
// It serves /small.html and /big.html of ROOT. Each thread has its own event loop and its own
// listener. evhttp opens no file: it is measured at its best.
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

namespace {

constexpr int kIdleSeconds = 600;
constexpr int kBacklog = 65535;
constexpr int kMaxPort = 65535;
constexpr int kMaxThreads = 256;

template <auto free_function>
struct Freed {
  template <typename T>
  void operator()(T* object) const {
    free_function(object);
  }
};
using EventBase = std::unique_ptr<event_base, Freed<event_base_free>>;
using Http = std::unique_ptr<evhttp, Freed<evhttp_free>>;

auto ReadPage(const std::string& path) -> std::string {
  std::ifstream page(path, std::ios::binary);
  if (!page) {
    throw std::system_error(errno, std::system_category(), "open " + path);
  }
  return {std::istreambuf_iterator<char>(page), std::istreambuf_iterator<char>()};
}

// `page` is a std::string that outlives every request.
void SendPage(evhttp_request* request, void* page) {
  const auto& body = *static_cast<const std::string*>(page);
  evhttp_add_header(evhttp_request_get_output_headers(request), "Content-Type", "text/html");
  evbuffer_add_reference(evhttp_request_get_output_buffer(request), body.data(), body.size(),
                         nullptr, nullptr);
  evhttp_send_reply(request, HTTP_OK, nullptr, nullptr);
}

void Serve(std::uint16_t port, std::string& small, std::string& big) {
  const EventBase base(event_base_new());
  Http http(base ? evhttp_new(base.get()) : nullptr);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  evconnlistener* listener =
      http ? evconnlistener_new_bind(
                 base.get(), nullptr, nullptr,
                 LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE |
                     LEV_OPT_REUSEABLE_PORT | LEV_OPT_DEFERRED_ACCEPT,
                 kBacklog, reinterpret_cast<const sockaddr*>(&address), sizeof(address))
           : nullptr;
  if (listener == nullptr) {
    std::fprintf(stderr, "evhttp_server: bind 127.0.0.1:%d: %s\n", port,
                 std::system_category().message(errno).c_str());
    std::exit(1);
  }
  evhttp_set_timeout(http.get(), kIdleSeconds);
  evhttp_set_cb(http.get(), "/small.html", SendPage, &small);
  evhttp_set_cb(http.get(), "/big.html", SendPage, &big);
  evhttp_bind_listener(http.get(), listener);  // owns it now
  event_base_dispatch(base.get());
}

auto ParseNumber(std::string_view text, int most) -> int {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1 || number > most) {
    throw std::invalid_argument(std::string(text) + ": a number from 1 to " + std::to_string(most) +
                                " is needed");
  }
  return number;
}

}  // namespace

auto main(int argc, char** argv) -> int {
  if (argc != 4) {
    std::fputs("usage: evhttp_server PORT ROOT THREADS\n", stderr);
    return 2;
  }
  try {
    const auto port = static_cast<std::uint16_t>(ParseNumber(argv[1], kMaxPort));
    const std::string root = argv[2];
    const int count = ParseNumber(argv[3], kMaxThreads);
    std::string small = ReadPage(root + "/small.html");
    std::string big = ReadPage(root + "/big.html");
    ::signal(SIGPIPE, SIG_IGN);
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
      files.rlim_cur = files.rlim_max;
      ::setrlimit(RLIMIT_NOFILE, &files);
    }
    std::vector<std::thread> threads;
    threads.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
      threads.emplace_back(Serve, port, std::ref(small), std::ref(big));
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "evhttp_server: %s\n", error.what());
    return 1;
  }
  return 0;
}
