// Slow queries at once, on one thread: the non-blocking API of MariaDB Connector/C on a Looper.
//
//   nonblocking_query SOCKET TENTHS...
//
// Each query sleeps on the server for so many tenths of a second. The results are printed as they
// arrive.
//
// Source: https://mariadb.com/kb/en/using-the-non-blocking-library/
#include <iostream>
#ifdef TURTLE_WITH_MARIADB
#include <mysql.h>

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/argument.h"
#include "core/looper.h"

using namespace turtle;

namespace {

// A connection with one query. Every call of the library has two halves: …_start() begins, and
// returns the events to wait for; …_cont() continues after one, and returns the next events, or 0.
class SleepQuery {
 public:
  SleepQuery(Looper& looper, const char* socket, int tenths, std::function<void()> done)
      : looper_(looper),
        handle_(mysql_init(nullptr), mysql_close),
        sql_("SELECT SLEEP(" + std::to_string(tenths) + " / 10)"),
        done_(std::move(done)) {
    mysql_options(handle_.get(), MYSQL_OPT_NONBLOCK, nullptr);
    GoOn(mysql_real_connect_start(&connected_, handle_.get(), nullptr, nullptr, nullptr, nullptr, 0,
                                  socket, 0));
  }

  SleepQuery(const SleepQuery&) = delete;
  auto operator=(const SleepQuery&) -> SleepQuery& = delete;

  ~SleepQuery() { Rest(); }

 private:
  enum class Step { kConnect, kQuery, kResult, kDone };

  // `wanted` has the events to wait for; 0: this step is done, and the next begins.
  void GoOn(int wanted) {
    while (wanted == 0 && step_ != Step::kDone) {
      wanted = BeginNext();
    }
    if (wanted != 0) {
      Await(wanted);
    }
  }

  auto BeginNext() -> int {
    switch (step_) {
      case Step::kConnect:
        Require(connected_ != nullptr);
        step_ = Step::kQuery;
        return mysql_real_query_start(&failed_, handle_.get(), sql_.data(), sql_.size());
      case Step::kQuery:
        Require(failed_ == 0);
        step_ = Step::kResult;
        return mysql_store_result_start(&result_, handle_.get());
      case Step::kResult:
        Require(result_ != nullptr);
        mysql_free_result(result_);
        step_ = Step::kDone;
        Rest();
        done_();
        break;
      case Step::kDone:
        break;
    }
    return 0;
  }

  auto Continue(int ready) -> int {
    switch (step_) {
      case Step::kConnect:
        return mysql_real_connect_cont(&connected_, handle_.get(), ready);
      case Step::kQuery:
        return mysql_real_query_cont(&failed_, handle_.get(), ready);
      case Step::kResult:
        return mysql_store_result_cont(&result_, handle_.get(), ready);
      case Step::kDone:
        break;
    }
    return 0;
  }

  void Await(int wanted) {
    Interest interest = Interest::kNone;
    interest = interest | ((wanted & MYSQL_WAIT_READ) != 0 ? Interest::kRead : Interest::kNone);
    interest = interest | ((wanted & MYSQL_WAIT_WRITE) != 0 ? Interest::kWrite : Interest::kNone);
    watch_ =
        looper_.Watch(mysql_get_socket(handle_.get()), interest, [this](const PollEvent& event) {
          Rest();
          GoOn(Continue((event.readable ? MYSQL_WAIT_READ : 0) |
                        (event.writable ? MYSQL_WAIT_WRITE : 0)));
        });
    if ((wanted & MYSQL_WAIT_TIMEOUT) != 0) {
      const std::chrono::milliseconds time(mysql_get_timeout_value_ms(handle_.get()));
      timer_ = looper_.RunAfter(time, [this] {
        Rest();
        GoOn(Continue(MYSQL_WAIT_TIMEOUT));
      });
    }
  }

  void Rest() {
    if (watch_) {
      looper_.Unwatch(*watch_);
      watch_.reset();
    }
    if (timer_) {
      looper_.Cancel(*timer_);
      timer_.reset();
    }
  }

  void Require(bool success) {
    if (!success) {
      throw std::runtime_error(mysql_error(handle_.get()));
    }
  }

  Looper& looper_;
  const std::unique_ptr<MYSQL, decltype(&mysql_close)> handle_;
  const std::string sql_;
  const std::function<void()> done_;
  Step step_ = Step::kConnect;
  MYSQL* connected_ = nullptr;
  int failed_ = 0;
  MYSQL_RES* result_ = nullptr;
  std::optional<WatchId> watch_;
  std::optional<TimerId> timer_;
};

}  // namespace

auto main(int argc, char** argv) -> int try {
  if (argc < 3) {
    std::cerr << "usage: nonblocking_query SOCKET TENTHS...\n";
    return 2;
  }
  mysql_server_init(0, nullptr, nullptr);
  Looper looper;
  std::vector<std::unique_ptr<SleepQuery>> queries;
  int left = argc - 2;
  for (int i = 2; i < argc; ++i) {
    const int tenths = ReadNumber("tenths", argv[i], 0, 36'000);
    queries.push_back(std::make_unique<SleepQuery>(looper, argv[1], tenths, [&, tenths] {
      std::cout << "slept for " << tenths << " tenths of a second" << std::endl;
      if (--left == 0) {
        looper.Stop();
      }
    }));
  }
  looper.Loop();
  return left == 0 ? 0 : 1;
} catch (const std::invalid_argument& error) {
  std::cerr << "nonblocking_query: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "nonblocking_query: " << error.what() << '\n';
  return 1;
}

#else

auto main() -> int {
  std::cerr << "nonblocking_query: this program was built without MariaDB (TURTLE_MARIADB)\n";
  return 1;
}

#endif  // TURTLE_WITH_MARIADB
