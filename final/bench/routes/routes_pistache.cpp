// The routes by Pistache, with one worker thread.
#include <pistache/endpoint.h>
#include <pistache/router.h>

#include <cstdint>
#include <string>

#include "routes.h"

namespace {

using Pistache::Http::ResponseWriter;
using Pistache::Rest::Request;
using Pistache::Rest::Route;

// By default it sends "close" to HTTP/1.1, and keeps the connection open.
auto Sent(ResponseWriter& writer, const std::string& body, const char* subtype) {
  writer.headers().remove<Pistache::Http::Header::Connection>();
  writer.headers().add<Pistache::Http::Header::Connection>(
      Pistache::Http::ConnectionControl::KeepAlive);
  writer.send(Pistache::Http::Code::Ok, body, Pistache::Http::Mime::MediaType::fromString(subtype));
  return Route::Result::Ok;
}

auto SentJson(ResponseWriter& writer, const nlohmann::json& json) {
  return Sent(writer, json.dump(), "application/json");
}

void Serve(std::uint16_t port, const std::string& file) {
  using Pistache::Rest::Routes::Get;
  using Pistache::Rest::Routes::Post;
  Pistache::Rest::Router router;
  Get(router, "/text", [](const Request&, ResponseWriter writer) {
    return Sent(writer, routes::kText, "text/plain");
  });
  Get(router, "/users/:user/posts/:post", [](const Request& req, ResponseWriter writer) {
    return SentJson(writer, routes::PostJson(req.param(":user").as<std::int64_t>(),
                                             req.param(":post").as<std::int64_t>()));
  });
  Post(router, "/sum", [](const Request& req, ResponseWriter writer) {
    return SentJson(writer, routes::SumJson(nlohmann::json::parse(req.body())));
  });
  Get(router, "/rows/:id", [file](const Request& req, ResponseWriter writer) {
    return SentJson(writer, routes::RowsHere(file).Find(req.param(":id").as<std::int64_t>()));
  });
  Pistache::Http::Endpoint endpoint({Pistache::Ipv4::loopback(), Pistache::Port(port)});
  endpoint.init(Pistache::Http::Endpoint::options().threads(1).flags(
      Pistache::Tcp::Options::ReuseAddr | Pistache::Tcp::Options::NoDelay));
  endpoint.setHandler(router.handler());
  endpoint.serve();
}

}  // namespace

auto main(int argc, char** argv) -> int { return routes::Main(argc, argv, Serve); }
