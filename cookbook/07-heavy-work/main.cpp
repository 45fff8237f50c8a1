// Work that takes seconds, with a bounded queue: heavy_work PORT [THREADS [WAITING]]
//
//   GET /primes/{below}   how many primes are below it
//   GET /load             {"running": …, "waiting": …, "refused": …, "cancelled": …}
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include <turtle/base/argument.h>
#include <turtle/task/task_pool.h>
#include <turtle/web/http_server.h>
#include <turtle/web/offload.h>

using namespace turtle;

namespace {

auto IsPrime(std::int64_t n) -> bool {
  for (std::int64_t divisor = 2; divisor * divisor <= n; ++divisor) {
    if (n % divisor == 0) {
      return false;
    }
  }
  return n > 1;
}

// An ordinary handler, on a thread of the pool.
void CountPrimes(const ServerRequest& req, ServerResponse& res) {
  const std::int64_t below = req.Integer("below");
  if (below < 0 || below > 1'000'000'000) {
    throw HttpError(400, "from 0 to a thousand million");
  }
  int count = 0;
  for (std::int64_t n = 2; n < below; ++n) {
    if (req.Cancelled()) {
      return;  // the client is gone: no one would read the response
    }
    count += IsPrime(n) ? 1 : 0;
  }
  res.Text(std::to_string(count) + "\n");
}

}  // namespace

auto main(int argc, char** argv) -> int try {
  const int port = argc > 1 ? ReadPort(argv[1]) : 8080;
  const auto number = [&](const char* what, int index, std::size_t otherwise, std::size_t most) {
    return argc > index ? ReadNumber<std::size_t>(what, argv[index], 1, most) : otherwise;
  };
  TaskPoolOptions limits;
  limits.threads = number("threads", 2, 1, 256);         // leave some cores to the loops
  limits.max_queued = number("queue", 3, 4, 1'000'000);  // beyond it: 503, at once
  TaskPool pool(limits);

  OffloadOptions offload(Priority::kLow);
  offload.deadline =
      std::chrono::seconds(30);  // a request that has waited longer gets a 503 as well
  offload.retry_after = std::chrono::seconds(5);
  HttpServer server(NetAddress("127.0.0.1", port));
  server.Get("/primes/{below:int}", Offload(pool, offload, CountPrimes));
  server.Get("/load", [&pool](const ServerRequest&, ServerResponse& res) {
    const TaskFigures now = pool.Figures();
    res.Json({{"running", now.running},
              {"waiting", now.queued},
              {"refused", now.refused},
              {"cancelled", now.cancelled}});
  });
  server.StopOnSignals();
  std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
  server.Begin();
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "heavy_work: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "heavy_work: " << error.what() << '\n';
  return 1;
}
