// A program that systemd can run, and restart under load: service [PORT [OPERATIONS_PORT]]
//
//   POST /upper                   its text in upper case; replace it with your own work
//   GET /livez, /readyz, /metrics, /   on the other port: its state
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <turtle/base/argument.h>
#include <turtle/core/signal_watch.h>
#include <turtle/ops/inherited_listeners.h>
#include <turtle/ops/operations.h>
#include <turtle/ops/service_notifier.h>
#include <turtle/web/http_server.h>

using namespace turtle;

namespace {

void Upper(const ServerRequest& req, ServerResponse& res) {
  std::string text(req.Body());
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  res.Text(text);
}

// Serves on its own thread as long as it lives, so that a probe gets a response even when all of
// the other server's loops are stuck.
class Beside {
 public:
  explicit Beside(HttpServer& server) : server_(server), thread_([this] { server_.Begin(); }) {}
  ~Beside() {
    server_.Stop();
    thread_.join();
  }

 private:
  HttpServer& server_;
  std::thread thread_;
};

}  // namespace

auto main(int argc, char** argv) -> int try {
  const NetAddress address("127.0.0.1", argc > 1 ? ReadPort(argv[1]) : 8080);
  const char* const manager = std::getenv("NOTIFY_SOCKET");
  const ServiceNotifier notifier(manager != nullptr ? manager : "");
  InheritedListeners inherited(TakeListenEnvironment(), ::getpid());

  ServerOptions options;
  options.accept = Accepting::kPerLoop;  // a queue for each loop, and no hand-over between threads
  options.cpu_affinity = true;           // each stays on the CPU whose caches know it
  options.drain_time = std::chrono::seconds(1);     // /readyz turns to 503 before listeners close
  options.stop_timeout = std::chrono::seconds(30);  // the longest time for a response
  HttpServer server({}, options);
  if (auto listener = inherited.Take(address)) {  // of systemd: clients wait in it during a restart
    server.AlsoListen(std::move(listener->socket));
  } else {
    server.AlsoListen(address);
  }
  inherited.RequireAllTaken();
  server.Post("/upper", Upper);

  ServerOptions one_loop;
  one_loop.threads = 1;
  HttpServer admin(NetAddress("127.0.0.1", argc > 2 ? ReadPort(argv[2]) : 9507), {}, one_loop);
  Operations operations(server);
  operations.AddTo(admin);

  Looper& loop = *server.Loopers().front();
  const SignalWatch stop(loop, {SIGINT, SIGTERM}, [&](int) {
    server.IsLeaving() ? server.Stop() : server.Drain();  // the second time, at once
    notifier.Stopping();
  });
  std::cout << "listening on " << server.LocalAddress().ToString() << std::endl
            << "operations at " << admin.LocalAddress().ToString() << std::endl;
  const Beside beside(admin);
  static_cast<void>(loop.Post([&] { notifier.Ready(); }));  // not before the loop runs
  server.Begin();
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "service: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "service: " << error.what() << '\n';
  return 1;
}
