// Measures what the rules of a site cost a request for a small cached file.
//
//   rule_cost [REQUESTS]
//
// One client sends pipelined requests on one connection, so nearly all of the time is the server's.
// Each way is measured in turn, five times; each number is the median CPU time of the loop's thread
// for a request.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/argument.h"
#include "core/socket.h"
#include "files/static_files.h"
#include "sites/sites.h"
#include "web/http_server.h"

namespace {

using namespace TURTLE_SERVER;  // NOLINT: a small program

constexpr int kRounds = 5;
constexpr int kPipelined = 32;

struct Way {
  const char* name;
  std::function<void(HttpServer&, Sites*)> mount;
  SitesOptions sites;
  std::vector<double> costs;
};

// A directory with one small file, removed at the end.
class SmallSite {
 public:
  SmallSite() {
    std::string name = (std::filesystem::temp_directory_path() / "rule_cost_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error("mkdtemp " + name);
    }
    path_ = name;
    std::ofstream(path_ / "index.html") << std::string(600, 'x');
  }
  SmallSite(const SmallSite&) = delete;
  auto operator=(const SmallSite&) -> SmallSite& = delete;
  ~SmallSite() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] auto Path() const -> std::string { return path_.string(); }

 private:
  std::filesystem::path path_;
};

void SendRequests(const NetAddress& server, int requests) {
  const std::string request = "GET / HTTP/1.1\r\nHost: www.example.org\r\n\r\n";
  std::string batch;
  for (int i = 0; i < kPipelined; ++i) {
    batch += request;
  }
  Socket socket;
  socket.Connect(server);
  std::array<char, 65'536> buffer{};
  for (int sent = 0; sent < requests; sent += kPipelined) {
    if (socket.Send(batch).bytes != batch.size()) {
      throw std::runtime_error("the server takes no requests");
    }
    for (std::size_t complete = 0; complete < kPipelined;) {
      const std::size_t bytes = socket.Recv(buffer.data(), buffer.size()).bytes;
      if (bytes == 0) {
        throw std::runtime_error("the server has closed");
      }
      complete += static_cast<std::size_t>(
          std::count(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(bytes), 'H'));
    }
  }
}

auto ThreadMicroseconds() -> double {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e6 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_nsec);
}

auto Measure(const Way& way, int requests) -> double {
  ServerOptions options;
  options.threads = 1;
  HttpServer server(NetAddress("127.0.0.1", 0), {}, options);
  Sites sites(way.sites);
  way.mount(server, &sites);
  double cost = 0;
  std::thread serving([&] {
    const double before = ThreadMicroseconds();
    server.Begin();
    cost = (ThreadMicroseconds() - before) / requests;
  });
  std::exception_ptr failure;
  try {
    SendRequests(server.LocalAddress(), requests);
  } catch (...) {
    failure = std::current_exception();
  }
  server.Stop();
  serving.join();
  if (failure) {
    std::rethrow_exception(failure);
  }
  return cost;
}

auto Ways(const std::string& root) -> std::vector<Way> {
  const auto files = [root](HttpServer& server, Sites* /*none*/) { server.Files("/", root); };
  const auto of_sites = [](HttpServer& server, Sites* sites) {
    StaticFilesOptions options;
    options.cache.max_bytes = std::size_t{1} << 20;
    server.Mount("/", sites->Files(options));
  };
  const auto with_middleware = [root](HttpServer& server, Sites* /*none*/) {
    StaticFilesOptions options;
    options.root = root;
    options.cache.max_bytes = std::size_t{1} << 20;
    Middleware fields;
    fields.after = [](const ServerRequest&, ServerResponse& response) {
      response.Set("Cache-Control", "max-age=60").Set("X-Content-Type-Options", "nosniff");
    };
    RouteGroup group = server.Group("");
    group.Use(fields);
    group.Mount(
        "/", [options](Looper& looper) { return std::make_unique<StaticFiles>(looper, options); });
  };
  SiteOptions site;
  site.names = {"example.org", "*.example.org"};
  site.root = root;
  SiteOptions fields = site;
  fields.rules.emplace_back();
  fields.rules.back().fields = {{FieldEdit::Kind::kSet, "Cache-Control", "max-age=60"},
                                {FieldEdit::Kind::kSet, "X-Content-Type-Options", "nosniff"}};
  SiteOptions limited = fields;
  limited.rules.back().rate = RateLimit{1000, std::chrono::seconds(1), 1'000'000'000};
  SiteOptions pattern = limited;
  pattern.rules.emplace_back();
  pattern.rules.back().pattern = R"(/posts/(\d+)/.*)";
  pattern.rules.back().redirect = "/blog/$1";
  return {{"files without sites", files, {}, {}},
          {"a site without rules", of_sites, {site}, {}},
          {"two fields", of_sites, {fields}, {}},
          {"and a rate limit", of_sites, {limited}, {}},
          {"and a pattern", of_sites, {pattern}, {}},
          {"two fields, by middleware", with_middleware, {}, {}}};
}

}  // namespace

auto main(int argc, char** argv) -> int try {
  const int requests = argc > 1 ? ReadNumber("REQUESTS", argv[1], 1, 100'000'000) : 200'000;
  const SmallSite site;
  std::vector<Way> ways = Ways(site.Path());
  for (int round = 0; round < kRounds; ++round) {
    for (Way& way : ways) {
      way.costs.push_back(Measure(way, requests));
    }
  }
  std::printf("%-27s %s\n", "", "CPU, us");
  for (Way& way : ways) {
    std::sort(way.costs.begin(), way.costs.end());
    std::printf("%-27s %7.2f\n", way.name, way.costs[way.costs.size() / 2]);
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << "rule_cost: " << error.what() << '\n';
  return 1;
}
