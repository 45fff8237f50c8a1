// The routes by cpp-httplib, which keeps a thread for each connection: 64 connections need as many.
#include <httplib.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "routes.h"

namespace {

constexpr int kThreads = 80;
constexpr const char* kJson = "application/json";

void Serve(std::uint16_t port, const std::string& file) {
  httplib::Server server;
  server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };  // owned by the server
  server.set_tcp_nodelay(true);
  server.set_keep_alive_max_count(1'000'000'000);
  const auto text = [](const httplib::Request&, httplib::Response& res) {
    res.set_content(routes::kText, "text/plain");
  };
  server.Get("/text", text);
  server.Get("/worker", text);
  server.Get("/users/(\\d+)/posts/(\\d+)", [](const httplib::Request& req, httplib::Response& res) {
    const auto reply = routes::PostJson(routes::Number(req.matches[1].str()),
                                        routes::Number(req.matches[2].str()));
    res.set_content(reply.dump(), kJson);
  });
  server.Post("/sum", [](const httplib::Request& req, httplib::Response& res) {
    res.set_content(routes::SumJson(nlohmann::json::parse(req.body)).dump(), kJson);
  });
  server.Get("/rows/(\\d+)", [&file](const httplib::Request& req, httplib::Response& res) {
    const auto row = routes::RowsHere(file).Find(routes::Number(req.matches[1].str()));
    res.set_content(row.dump(), kJson);
  });
  if (!server.listen("127.0.0.1", port)) {
    throw std::runtime_error("listen on port " + std::to_string(port) + " failed");
  }
}

}  // namespace

auto main(int argc, char** argv) -> int { return routes::Main(argc, argv, Serve); }
