// Takes files from a form, and text of any length: uploads PORT FOLDER
//
//   GET /           the form
//   POST /files     keeps its files in FOLDER, as 1, 2, 3, …
//   GET /files/{n}  one of them
//   POST /upper     responds in upper case, while the text arrives
#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "base/argument.h"
#include "files/route_files.h"
#include "task/thread_pool.h"
#include "web/http_server.h"

using namespace turtle;

namespace {

constexpr std::string_view kPage = R"(<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Uploads</title>
<form action="/files" method="post" enctype="multipart/form-data">
<label>Files: <input type="file" name="file" multiple></label>
<button>Send</button>
</form></html>
)";

// Saves it under the first free number, and returns that.
auto Keep(const UploadedPart& file, const std::string& folder) -> int {
  static std::atomic<int> last{0};
  for (;;) {
    const int number = ++last;
    const int error = file.Save(folder + "/" + std::to_string(number));
    if (error == 0) {
      return number;
    }
    if (error != EEXIST) {
      throw std::system_error(error, std::generic_category(), folder);
    }
  }
}

// The client's name for a file is shown to people, but never used in a path.
auto KeepFiles(const Upload& upload, const std::string& folder) -> std::string {
  std::string report;
  for (const UploadedPart& part : upload.Parts()) {
    if (part.header.is_file) {
      report += std::to_string(Keep(part, folder)) + ": " + part.header.filename + ", " +
                std::to_string(part.size) + " bytes\n";
    }
  }
  return report;
}

// One piece at a time goes to the pool, and the client waits until it is done.
void ToUpper(ThreadPool& pool, const RequestBody& body, const Responder& responder) {
  const ReplyStream reply = responder.Stream(ServerResponse().Set("Content-Type", "text/plain"));
  body.OnPiece([&pool, body, reply](std::string_view piece, bool last) {
    body.Hold();
    const bool left = pool.Submit([body, reply, text = std::string(piece), last]() mutable {
      std::transform(text.begin(), text.end(), text.begin(),
                     [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
      reply.Write(text);
      if (last) {
        reply.End();
      } else {
        reply.OnRoom([body] { body.Resume(); });
      }
    });
    static_cast<void>(left);  // if the pool has ended, the last ReplyStream is destroyed: cut
  });
}

}  // namespace

auto main(int argc, char** argv) -> int try {
  if (argc != 3) {
    std::cerr << "usage: uploads PORT FOLDER\n";
    return 2;
  }
  const std::string folder = argv[2];
  ThreadPool pool(2);
  pool.Start();
  UploadOptions options;
  options.folder = folder;  // on the right file system from the start: saving only adds a name
  HttpOptions limits;
  limits.body.max_body_bytes = std::uint64_t{1} << 30;
  HttpServer server(NetAddress("127.0.0.1", ReadPort(argv[1])), limits);
  server.Get("/", [](const ServerRequest&, ServerResponse& res) { res.Html(kPage); });
  const auto keep = [&folder](const ServerRequest&, const Upload& upload, ServerResponse& res) {
    res.Status(201).Text(KeepFiles(upload, folder));
  };
  server.Post("/files", UploadAction(keep, options));
  const RouteFiles kept(folder);
  server.Get("/files/{n:int}", [&kept](const ServerRequest& req, ServerResponse& res) {
    res.Set("Content-Disposition", "attachment");  // whatever it is, a browser must not show it
    kept.Send(req, res, std::string(req.Parameter("n")));
  });
  server.Post("/upper", [&pool](const ServerRequest&, const RequestBody& body,
                                const Responder& responder) { ToUpper(pool, body, responder); });
  server.StopOnSignals();
  std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
  server.Begin();
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "uploads: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "uploads: " << error.what() << '\n';
  return 1;
}
