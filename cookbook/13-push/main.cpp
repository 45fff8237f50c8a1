// Messages for all pages that a user has open: push [PORT]
//
//   GET  /?user=…       a page that shows this user's messages
//   /messages?user=…    its WebSocket
//   POST /users/{name}  sends a text to the pages of this user; 404 if there are none
#include <exception>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

#include <turtle/base/argument.h>
#include <turtle/http/form.h>
#include <turtle/web/exchange.h>
#include <turtle/web/http_server.h>
#include <turtle/websocket/topics.h>
#include <turtle/websocket/utf8.h>
#include <turtle/websocket/websocket.h>
#include <turtle/websocket/websocket_options.h>

using namespace turtle;

namespace {

constexpr std::string_view kPage = R"(<!doctype html>
<meta charset="utf-8">
<title>Messages</title>
<ol id="messages"></ol>
<script>
  let pause = 500;  // milliseconds before the next try
  function listen() {
    const scheme = location.protocol === 'https:' ? 'wss:' : 'ws:';
    const socket = new WebSocket(`${scheme}//${location.host}/messages${location.search}`);
    socket.onopen = () => { pause = 500; };
    socket.onmessage = (event) => {
      const line = document.createElement('li');
      line.textContent = event.data;  // never as HTML
      document.getElementById('messages').append(line);
    };
    socket.onclose = () => {  // not all pages at the same moment
      setTimeout(listen, pause * (0.5 + Math.random()));
      pause = Math.min(2 * pause, 30000);
    };
  }
  listen();
</script>
)";

// Anybody may use any name here. Yours would look for a session by a cookie of the request.
auto UserOf(Exchange& exchange) -> std::shared_ptr<void> {
  Form query;
  if (query.Parse(exchange.GetRequest().uri.Query())) {
    throw HttpError(400);
  }
  const std::string user(query.Find("user").value_or(""));
  if (user.empty() || user.size() > 100) {
    throw HttpError(401, "?user= has 1 to 100 bytes");
  }
  return std::make_shared<std::string>(user);
}

// A topic for each user: its subscribers are the pages, on whichever loop.
auto PagesOf(const Topics& users) -> WebSocketHandlers {
  WebSocketHandlers pages;
  pages.on_request = UserOf;
  pages.on_open = [users](WebSocket& page) { users.Subscribe(page, *page.Data<std::string>()); };
  pages.on_message = [](WebSocket& page, const Message&) {
    page.Close(CloseCode::kUnsupported, "this page only listens");
  };
  return pages;
}

// A browser closes a WebSocket that brings a text which is not UTF-8.
auto IsMessage(std::string_view text) -> bool {
  Utf8Validator utf8;
  return !text.empty() && text.size() <= 1000 && utf8.Add(text) && utf8.IsComplete();
}

}  // namespace

auto main(int argc, char** argv) -> int try {
  const Topics users;
  HttpServer server(NetAddress("127.0.0.1", argc > 1 ? ReadPort(argv[1]) : 8080));
  server.Get("/", [](const ServerRequest&, ServerResponse& res) { res.Html(kPage); });
  server.Post("/users/{name}", [&users](const ServerRequest& req, ServerResponse& res) {
    if (!IsMessage(req.Body())) {
      throw HttpError(400, "a message is 1 to 1000 bytes of UTF-8");
    }
    const std::size_t pages = users.Count(req.Parameter("name"));
    if (pages == 0) {
      throw HttpError(404, "this user has no page open");
    }
    users.Publish(req.Parameter("name"), MessageKind::kText, req.Body());
    res.Json({{"pages", pages}});
  });

  WebSocketOptions options;
  options.max_message_bytes = 1000;  // of those that come in
  server.WebSocket("/messages", PagesOf(users), options);
  server.StopOnSignals();
  std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
  server.Begin();
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "push: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "push: " << error.what() << '\n';
  return 1;
}
