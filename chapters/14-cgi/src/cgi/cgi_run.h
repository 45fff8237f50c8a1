// Runs one program for one request. Internal to Cgi.
//
// Its life: collect the body → start → read the output up to the end of its header → pass the rest
// on → wait for the exit. It is attached to the exchange, and dies with it. A response that is
// complete by its framing needs no further wait; CgiPrograms then takes over the program.
//
// Thread: the loop's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"
#include "cgi/cgi_programs.h"
#include "core/looper.h"
#include "http/cgi_header.h"
#include "http/response.h"
#include "process/child_process.h"
#include "web/exchange.h"
#include "web/spool_file.h"

namespace TURTLE_SERVER {

/// The program that the path of a request names.
struct CgiTarget {
  std::string program;                 ///< a plain file name
  std::string path_info;               ///< the rest of the path, with its slash
  std::vector<std::string> arguments;  ///< of the short form
  bool short_form = false;             ///< "add&1&2"
};

/// Splits "/add&1&2" or "/hello/path/info"; an encoded '&' does not separate.
/// @param sub_path the end of the decoded path
/// @param raw_path the whole path as it was sent
/// @return nullopt for an empty name and for one that begins with a dot
[[nodiscard]] auto ParseCgiTarget(std::string_view sub_path, std::string_view raw_path)
    -> std::optional<CgiTarget>;

/// Returns the response while CgiOptions::max_programs run: 503.
[[nodiscard]] auto TooManyPrograms() -> Response;

/// One program and its request.
class CgiRun : public ExchangeState {
 public:
  /// Starts nothing yet: a request that waits for a slow client's body takes no program's place.
  CgiRun(CgiPrograms& programs, Exchange& exchange, CgiTarget target);

  /// Kills the program if it still runs.
  ~CgiRun() override;

  CgiRun(const CgiRun&) = delete;
  auto operator=(const CgiRun&) -> CgiRun& = delete;

  /// Collects the request's body if there is one, and starts the program.
  void Begin();

 private:
  void OnBody(std::string_view piece, bool last);
  void Start();
  void Refuse(const SpawnResult& result);
  auto Guarded(void (CgiRun::*callback)()) -> WatchCallback;
  void OnReadable();
  void OnOutput(std::string_view bytes);
  void BeginReply();
  void BeginPlainReply();
  void PassOn(std::string_view bytes);
  void OnOutputEnd();
  void PollExit();
  void CheckExit();
  void OnExit();
  void Finish();
  void End();
  void OnDeadline();
  void Fail(int status, std::string_view reason);
  void StopReading();

  auto GetLooper() const noexcept -> Looper& { return programs_.GetLooper(); }

  CgiPrograms& programs_;
  Exchange& exchange_;
  const CgiTarget target_;
  SpoolFile body_;
  ChildProcess child_;
  UniqueFd output_;
  std::optional<WatchId> output_watch_;
  std::optional<WatchId> exit_watch_;
  std::optional<TimerId> deadline_;
  std::optional<TimerId> grace_;
  std::optional<TimerId> poll_;  // if exit_watch_ is impossible
  TimePoint kill_time_{};
  std::string head_;  // the output so far, until its header is complete
  CgiHeaderParser parser_;
  CgiHeader header_;
  bool resting_ = false;   // the client reads too slowly
  bool complete_ = false;  // all of the response was sent: the program may run on
  std::uint64_t spooled_bytes_ = 0;
  bool counted_ = false;  // counts as a running program
  bool over_ = false;     // the response was sent or given up
};

}  // namespace TURTLE_SERVER
