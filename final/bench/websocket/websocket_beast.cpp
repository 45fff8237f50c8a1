// The echo over WebSocket by Boost.Beast, on one thread.
//
//   websocket_beast PORT
//
// It is set up as Beast's documentation advises for speed:
//  * the sockets' executor is the loop's own type, without type erasure;
//  * the stream is one without support for compression;
//  * a message is sent as one frame, not in fragments, so no buffer for writing is needed;
//  * each connection keeps one flat buffer for all of its messages, and sends from there;
//  * TCP_NODELAY is set.
// It has Beast's suggested deadlines, as a server on the Internet must.
#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>
#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;
using asio::ip::tcp;
using Executor = asio::io_context::executor_type;
using Socket = asio::basic_stream_socket<tcp, Executor>;
using Acceptor = asio::basic_socket_acceptor<tcp, Executor>;

constexpr std::size_t kMostBytes = std::size_t{64} << 20;  // as in examples/websocket_echo.cpp

class Session : public std::enable_shared_from_this<Session> {
 public:
  explicit Session(Socket socket) : stream_(std::move(socket)) {
    stream_.next_layer().set_option(tcp::no_delay(true));
    stream_.set_option(websocket::stream_base::timeout::suggested(beast::role_type::server));
    stream_.auto_fragment(false);
    stream_.read_message_max(kMostBytes);
  }

  void Open() {
    stream_.async_accept([self = shared_from_this()](beast::error_code error) {
      if (!error) {
        self->Read();
      }
    });
  }

 private:
  void Read() {
    stream_.async_read(buffer_, [self = shared_from_this()](beast::error_code error, std::size_t) {
      if (!error) {
        self->Write();
      }
    });
  }

  void Write() {
    stream_.binary(stream_.got_binary());
    stream_.async_write(buffer_.data(),
                        [self = shared_from_this()](beast::error_code error, std::size_t) {
                          if (!error) {
                            self->buffer_.consume(self->buffer_.size());  // its memory stays
                            self->Read();
                          }
                        });
  }

  websocket::stream<Socket, false> stream_;
  beast::flat_buffer buffer_;
};

void Accept(Acceptor& acceptor) {
  acceptor.async_accept([&](beast::error_code error, Socket socket) {
    if (!error) {
      std::make_shared<Session>(std::move(socket))->Open();
    }
    Accept(acceptor);
  });
}

}  // namespace

auto main(int argc, char** argv) -> int {
  try {
    if (argc != 2) {
      std::cerr << "usage: websocket_beast PORT\n";
      return 2;
    }
    asio::io_context loop(1);
    const auto port = static_cast<std::uint16_t>(std::stoul(argv[1]));
    Acceptor acceptor(loop, tcp::endpoint(asio::ip::address_v4::loopback(), port));
    Accept(acceptor);
    loop.run();
  } catch (const std::exception& error) {
    std::cerr << "websocket_beast: " << error.what() << '\n';
    return 1;
  }
}
