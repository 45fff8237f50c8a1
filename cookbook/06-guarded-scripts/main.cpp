// Runs programs of a directory for clients with a password: guarded_scripts PORT FOLDER [NETWORK…]
//
//   GET, POST /scripts/{program}   its output, if the password is right
//
// The password is in the environment, as clients send it: AUTHORIZATION="Basic YWRhOmR1Y2s=".
// Clients from a NETWORK, such as 10.0.0.0/8, are refused.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <turtle/base/argument.h>
#include <turtle/base/ascii.h>
#include <turtle/cgi/cgi.h>
#include <turtle/core/cidr_set.h>
#include <turtle/web/http_server.h>

using namespace turtle;

namespace {

// Takes the same time wherever the first difference is.
auto IsSame(std::string_view one, std::string_view other) -> bool {
  unsigned difference = one.size() == other.size() ? 0 : 1;
  for (std::size_t i = 0; i < one.size() && i < other.size(); ++i) {
    difference |= static_cast<unsigned char>(one[i]) ^ static_cast<unsigned char>(other[i]);
  }
  return difference == 0;
}

// Returns the part after `Basic`, in any case, without spaces (RFC 9110, section 11.4), or nothing
// for another scheme.
auto Credentials(std::string_view field) -> std::string_view {
  constexpr std::string_view kScheme = "basic ";
  const bool is_basic = field.size() > kScheme.size() &&
                        ascii::EqualIgnoreCase(field.substr(0, kScheme.size()), kScheme);
  field.remove_prefix(is_basic ? kScheme.size() : field.size());
  return ascii::TrimOws(field);
}

// Lets in clients that know the secret.
auto Guard(const std::string& secret) -> Middleware {
  Middleware guard;
  guard.before = [secret](const ServerRequest& req) -> std::optional<ServerResponse> {
    const std::string_view given = Credentials(req.Header("Authorization").value_or(""));
    if (!given.empty() && IsSame(given, Credentials(secret))) {
      return std::nullopt;
    }
    return ServerResponse().Page(401).Set("WWW-Authenticate",
                                          R"(Basic realm="scripts", charset="UTF-8")");
  };
  return guard;
}

}  // namespace

auto main(int argc, char** argv) -> int try {
  const char* const secret = std::getenv("AUTHORIZATION");
  if (argc < 3 || secret == nullptr || Credentials(secret).empty()) {
    std::cerr << "usage: AUTHORIZATION='Basic …' guarded_scripts PORT FOLDER [NETWORK…]\n";
    return 2;
  }
  HttpServer server(NetAddress("127.0.0.1", ReadPort(argv[1])));
  server.Block(CidrSet(std::vector<std::string>(argv + 3, argv + argc)));

  CgiOptions programs;
  programs.directory = argv[2];
  programs.timeout = std::chrono::seconds(2);  // then it is killed, with its children
  programs.max_programs = 4;                   // at once, on each loop: one more client gets a 503
  server.Group("/scripts").Use(Guard(secret)).Mount("", [&](Looper& loop) {
    return std::make_unique<Cgi>(loop, programs);
  });

  std::signal(SIGCHLD, SIG_DFL);  // ignored, it would hide how a program has ended
  server.StopOnSignals();
  std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
  server.Begin();
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "guarded_scripts: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "guarded_scripts: " << error.what() << '\n';
  return 1;
}
