// Files of any size, straight to disk: upload_to_disk [PORT [FOLDER [MAX_BYTES]]]
//
//   PUT /files/{name}   the body becomes FOLDER/name, once all of it is there
//   GET /progress       {"name": bytes so far, …} of the files under way
#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <iostream>
#include <list>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <turtle/base/argument.h>
#include <turtle/base/mutex.h>
#include <turtle/task/thread_pool.h>
#include <turtle/web/http_server.h>
#include <turtle/web/nameless_file.h>
#include <turtle/web/spool_file.h>

using namespace turtle;

namespace {

// An incoming file. It has no name until it is complete; if anything fails before, it is gone.
class Incoming {
 public:
  Incoming(const std::string& folder, std::string_view name)
      : name_(name), path_(folder + "/" + name_) {
    const auto is_plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-'; };
    if (name.size() > 100 || !std::all_of(name.begin(), name.end(), is_plain)) {
      throw HttpError(400, "a name has letters, digits and '-', 100 at most");
    }
    UniqueFd file = OpenNameless(folder);
    Require(file ? 0 : errno);
    file_.Adopt(std::move(file));
  }

  // Waits for the disk.
  void Write(const std::string& piece, bool last) {
    Require(file_.Write(piece));
    bytes_ += piece.size();
    if (last) {
      Require(file_.Rewind());  // writes what was gathered
      Require(GiveName(file_.GetFd(), path_));
    }
  }

  // Any thread, as for the next one.
  [[nodiscard]] auto Name() const -> const std::string& { return name_; }
  [[nodiscard]] auto Bytes() const -> std::uint64_t { return bytes_; }

 private:
  static void Require(int error) {
    if (error != 0) {
      throw HttpError(error == EEXIST ? 409 : 507, std::generic_category().message(error));
    }
  }

  const std::string name_;
  const std::string path_;
  SpoolFile file_;
  std::atomic<std::uint64_t> bytes_{0};
};

struct Uploads {
  Mutex mutex;
  std::list<std::weak_ptr<Incoming>> all TURTLE_GUARDED_BY(mutex);
};

}  // namespace

auto main(int argc, char** argv) -> int try {
  const std::string folder = argc > 2 ? argv[2] : ".";
  RouteOptions limits{std::uint64_t{10} << 30U};
  if (argc > 3) {
    limits.max_body_bytes =
        ReadNumber<std::uint64_t>("most bytes", argv[3], 0, std::uint64_t{1} << 50U);
  }
  ThreadPool disk(1);
  Uploads uploads;
  HttpServer server(NetAddress("127.0.0.1", argc > 1 ? ReadPort(argv[1]) : 8080));
  const auto keep = [&](const ServerRequest& req, const RequestBody& body,
                        const Responder& responder) {
    const auto file = std::make_shared<Incoming>(folder, req.Parameter("name"));
    {
      const MutexLock lock(uploads.mutex);
      uploads.all.remove_if([](const auto& each) { return each.expired(); });
      uploads.all.push_back(file);
    }
    body.OnPiece([&disk, body, responder, file](std::string_view piece, bool last) {
      body.Hold();  // the client waits for the disk: further bytes stay out of our memory
      static_cast<void>(disk.Submit([body, responder, file, last, bytes = std::string(piece)] {
        try {
          file->Write(bytes, last);
          last ? void(responder.Reply(ServerResponse(201))) : body.Resume();
        } catch (...) {
          responder.Fail(std::current_exception());
        }
      }));
    });
  };
  server.Put("/files/{name}", keep, limits);
  server.Get("/progress", [&uploads](const ServerRequest&, ServerResponse& res) {
    nlohmann::json progress = nlohmann::json::object();
    const MutexLock lock(uploads.mutex);
    for (const auto& each : uploads.all) {
      if (const auto file = each.lock()) {
        progress[file->Name()] = file->Bytes();
      }
    }
    res.Json(progress);
  });
  server.StopOnSignals();
  disk.Start();
  std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
  server.Begin();
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "upload_to_disk: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "upload_to_disk: " << error.what() << '\n';
  return 1;
}
