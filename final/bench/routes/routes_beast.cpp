// The routes by Boost.Beast: one thread for the connections, and a pool for blocking work.
// Beast has no router; the paths are compared by hand.
#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <cstdint>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "routes.h"

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;

struct Context {
  const std::string file;
  asio::thread_pool workers{routes::kWorkers};
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, Context& context) : stream_(std::move(socket)), context_(context) {
    beast::get_lowest_layer(stream_).socket().set_option(tcp::no_delay(true));
  }

  void Read() {
    request_ = {};
    stream_.expires_after(std::chrono::seconds(60));
    http::async_read(stream_, buffer_, request_,
                     [self = shared_from_this()](beast::error_code error, std::size_t) {
                       if (!error) {
                         self->Answer();
                       }
                     });
  }

 private:
  void Answer() {
    const std::string target(request_.target());
    if (target == "/worker" || target.rfind("/rows/", 0) == 0) {
      asio::post(context_.workers, [self = shared_from_this(), target] {
        self->Reply(target);
        asio::post(self->stream_.get_executor(), [self] { self->Write(); });
      });
      return;
    }
    Reply(target);
    Write();
  }

  void Reply(std::string_view target) {
    reply_ = {http::status::ok, request_.version()};
    reply_.keep_alive(request_.keep_alive());
    try {
      Fill(target);
    } catch (const std::exception& error) {
      reply_.result(http::status::bad_request);
      reply_.body() = error.what();
    }
    reply_.prepare_payload();
  }

  void Fill(std::string_view target) {
    constexpr std::string_view kUsers = "/users/";
    constexpr std::string_view kPosts = "/posts/";
    constexpr std::string_view kRowsPath = "/rows/";
    if (target == "/text" || target == "/worker") {
      reply_.set(http::field::content_type, "text/plain");
      reply_.body() = routes::kText;
    } else if (target.substr(0, kUsers.size()) == kUsers) {
      target.remove_prefix(kUsers.size());
      const std::size_t end = target.find(kPosts);
      if (end == std::string_view::npos) {
        throw std::invalid_argument("no such path");
      }
      FillJson(routes::PostJson(routes::Number(target.substr(0, end)),
                                routes::Number(target.substr(end + kPosts.size()))));
    } else if (target == "/sum") {
      FillJson(routes::SumJson(nlohmann::json::parse(request_.body())));
    } else if (target.substr(0, kRowsPath.size()) == kRowsPath) {
      const std::int64_t id = routes::Number(target.substr(kRowsPath.size()));
      FillJson(routes::RowsHere(context_.file).Find(id));
    } else {
      throw std::invalid_argument("no such path");
    }
  }

  void FillJson(const nlohmann::json& json) {
    reply_.set(http::field::content_type, "application/json");
    reply_.body() = json.dump();
  }

  void Write() {
    http::async_write(stream_, reply_,
                      [self = shared_from_this()](beast::error_code error, std::size_t) {
                        if (!error && self->reply_.keep_alive()) {
                          self->Read();
                        }
                      });
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
  http::response<http::string_body> reply_;
  Context& context_;
};

void Accept(tcp::acceptor& acceptor, Context& context) {
  acceptor.async_accept([&](beast::error_code error, tcp::socket socket) {
    if (!error) {
      std::make_shared<Session>(std::move(socket), context)->Read();
    }
    Accept(acceptor, context);
  });
}

void Serve(std::uint16_t port, const std::string& file) {
  Context context{file};
  asio::io_context loop(1);
  tcp::acceptor acceptor(loop, {asio::ip::address_v4::loopback(), port});
  Accept(acceptor, context);
  loop.run();
}

}  // namespace

auto main(int argc, char** argv) -> int { return routes::Main(argc, argv, Serve); }
