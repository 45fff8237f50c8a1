// A journal that loses nothing: journal [PORT [FILE]]
//
//   POST /entries   a line, acknowledged when it is on the disk
//   GET  /figures   {"entries": …, "syncs": …, "waiting": …}
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <turtle/base/argument.h>
#include <turtle/base/mutex.h>
#include <turtle/base/unique_fd.h>
#include <turtle/task/thread_pool.h>
#include <turtle/web/http_server.h>

using namespace turtle;

namespace {

// One thread writes for all clients. While it waits for the disk, entries gather, and its next wait
// serves all of them.
class Journal {
 public:
  explicit Journal(const char* path)
      : file_(::open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644)) {
    if (!file_ || !CutTornLine()) {
      throw std::system_error(errno, std::generic_category(), path);
    }
    writer_.Start();
  }

  // Any thread.
  void Add(std::string_view entry, const Responder& responder) {
    const MutexLock lock(mutex_);
    if (waiting_.size() >= 10'000) {
      throw HttpError(503, "the disk can't keep up");
    }
    text_.append(entry).append("\n");
    waiting_.push_back(responder);
    if (waiting_.size() == 1) {  // the others will be written together with it
      static_cast<void>(writer_.Submit([this] { Write(); }));
    }
  }

  auto Figures() -> nlohmann::json {
    const MutexLock lock(mutex_);
    return {{"entries", entries_}, {"syncs", syncs_}, {"waiting", waiting_.size()}};
  }

 private:
  // A line without a newline was never acknowledged: its writer was killed.
  auto CutTornLine() -> bool {
    off_t size = ::lseek(file_.Get(), 0, SEEK_END);  // -1: a pipe can't be cut
    const off_t all = size;
    char last = '\n';
    while (size > 0 && ::pread(file_.Get(), &last, 1, size - 1) == 1 && last != '\n') {
      --size;
    }
    return size == all || ::ftruncate(file_.Get(), size) == 0;
  }

  void Write() {
    std::string text;
    std::vector<Responder> waiting;
    {
      const MutexLock lock(mutex_);
      text.swap(text_);
      waiting.swap(waiting_);
    }
    const bool kept = Append(text);
    {
      const MutexLock lock(mutex_);
      entries_ += kept ? waiting.size() : 0;
      ++syncs_;
    }
    for (const Responder& responder : waiting) {
      responder.Reply(ServerResponse(kept ? 201 : 507));
    }
  }

  // Appends all of it or nothing: the part that fitted on a full disk is cut off, or the next entry
  // would continue a torn line. While cutting fails, nothing is written.
  auto Append(std::string_view text) -> bool {
    if (torn_at_ && ::ftruncate(file_.Get(), *torn_at_) != 0) {
      return false;
    }
    torn_at_.reset();
    const off_t size = ::lseek(file_.Get(), 0, SEEK_END);  // -1: a pipe can't be cut
    const auto all = static_cast<ssize_t>(text.size());
    if (::write(file_.Get(), text.data(), text.size()) == all && ::fsync(file_.Get()) == 0) {
      return true;
    }
    if (size >= 0 && ::ftruncate(file_.Get(), size) != 0) {
      torn_at_ = size;
    }
    return false;
  }

  const UniqueFd file_;
  std::optional<off_t> torn_at_;  // the writer's thread only
  Mutex mutex_;
  std::string text_ TURTLE_GUARDED_BY(mutex_);
  std::vector<Responder> waiting_ TURTLE_GUARDED_BY(mutex_);  // for the lines in text_
  std::uint64_t entries_ TURTLE_GUARDED_BY(mutex_) = 0;
  std::uint64_t syncs_ TURTLE_GUARDED_BY(mutex_) = 0;
  ThreadPool writer_{1};  // the last member: its thread uses the others
};

}  // namespace

auto main(int argc, char** argv) -> int try {
  const int port = argc > 1 ? ReadPort(argv[1]) : 8080;
  Journal journal(argc > 2 ? argv[2] : "journal.txt");
  HttpServer server(NetAddress("127.0.0.1", port));
  server.Post("/entries", [&journal](const ServerRequest& req, const Responder& responder) {
    if (req.Body().empty() || req.Body().find('\n') != std::string_view::npos) {
      throw HttpError(400, "an entry is a line");
    }
    journal.Add(req.Body(), responder);
  });
  server.Get("/figures", [&journal](const ServerRequest&, ServerResponse& res) {
    res.Json(journal.Figures());
  });
  server.StopOnSignals();
  std::cout << "listening on " << server.LocalAddress().ToString() << std::endl;
  server.Begin();
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "journal: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "journal: " << error.what() << '\n';
  return 1;
}
