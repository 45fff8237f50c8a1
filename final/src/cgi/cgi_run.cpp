#include "cgi/cgi_run.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "cgi/cgi_environment.h"
#include "http/response.h"
#include "log/log.h"
#include "process/pipe_io.h"

namespace TURTLE_SERVER {

namespace {

// How much one read(2) of a program's output takes: as much as a pipe holds.
constexpr std::size_t kOutputBytes = std::size_t{64} * 1024;

// Replaces an encoded '&' while a path is divided. No path contains this byte.
constexpr char kEncodedAmpersand = '\x01';

// Returns the end of the decoded path, of `size` bytes, with that byte for each encoded '&': "%26"
// is a part of a name, not a separator (RFC 3986, section 2.2).
auto MarkedSubPath(std::string_view raw_path, std::size_t size) -> std::string {
  std::string marked(raw_path);
  for (std::size_t at = marked.find("%26"); at != std::string::npos; at = marked.find("%26", at)) {
    marked.replace(at, 3, 1, kEncodedAmpersand);
  }
  Uri uri;
  const HeadFault fault = uri.Parse(marked, Method::kGet);
  const std::string_view path = uri.Path();
  if (fault || path.size() < size) {
    throw std::logic_error("a path that was valid is none with its '&' marked");
  }
  return std::string(path.substr(path.size() - size));
}

auto Unmarked(std::string_view text) -> std::string {
  std::string decoded(text);
  std::replace(decoded.begin(), decoded.end(), kEncodedAmpersand, '&');
  return decoded;
}

// Returns the host without its port, for SERVER_NAME; brackets stay, RFC 3875, section 4.1.14.
auto HostName(std::string_view host) -> std::string_view {
  const std::size_t colon = host.rfind(':');
  const bool has_port =
      colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos;
  return has_port ? host.substr(0, colon) : host;
}

// Puts an IPv6 address into brackets, RFC 3875, section 4.1.14.
auto ServerName(const NetAddress& local) -> std::string {
  if (local.Family() == 0) {
    return {};
  }
  const std::string ip = HostNumber(local);
  return local.Family() == AF_INET6 ? '[' + ip + ']' : ip;
}

auto LocalAddressOf(const Connection& connection) -> NetAddress {
  NetAddress local;
  const bool known = getsockname(connection.GetFd(), local.Data(), local.Length()) == 0;
  return known ? local : NetAddress();
}

// The status of the response if a program can't be started.
struct SpawnFault {
  int status;
  const char* hint = "";  // for the log, after the text of the errno value
};

auto PassesBy(int error) -> bool {
  return error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE ||
         error == ETXTBSY;  // the program's file is being written
}

// ENOENT and EACCES may refer to the program or to the interpreter in its first line, and the
// kernel's errno is the same. So the program's file itself is checked.
auto Explain(const SpawnResult& result, int directory, const char* program) -> SpawnFault {
  if (PassesBy(result.error) || result.step != SpawnStep::kExecute) {
    return {PassesBy(result.error) ? 503 : 502};
  }
  struct stat status {};
  switch (result.error) {
    case ENOENT:
      return fstatat(directory, program, &status, AT_SYMLINK_NOFOLLOW) == 0
                 ? SpawnFault{502, " (the program is there, its interpreter is not)"}
                 : SpawnFault{404};
    case EACCES:
      return faccessat(directory, program, X_OK, AT_EACCESS) == 0
                 ? SpawnFault{502, " (its interpreter may not be executed)"}
                 : SpawnFault{403};
    case E2BIG:
      return {431, " (the request does not fit into arguments and environment)"};
    default:
      return {502};
  }
}

}  // namespace

auto ParseCgiTarget(std::string_view sub_path, std::string_view raw_path)
    -> std::optional<CgiTarget> {
  if (sub_path.size() < 2) {
    return std::nullopt;
  }
  std::string marked;
  if (raw_path.find("%26") != std::string_view::npos) {
    marked = MarkedSubPath(raw_path, sub_path.size());
    sub_path = marked;
  }
  sub_path.remove_prefix(1);
  CgiTarget target;
  const std::size_t end = sub_path.find_first_of("&/");
  target.program = Unmarked(sub_path.substr(0, end));
  std::string_view rest = end == std::string_view::npos ? std::string_view() : sub_path.substr(end);
  target.short_form = !rest.empty() && rest.front() == '&';
  if (!target.short_form) {
    target.path_info = Unmarked(rest);
  } else {
    while (!rest.empty()) {
      rest.remove_prefix(1);  // the '&'
      const std::size_t length = std::min(rest.find('&'), rest.size());
      target.arguments.push_back(Unmarked(rest.substr(0, length)));
      rest.remove_prefix(length);
    }
  }
  if (target.program.empty() || target.program.front() == '.') {
    return std::nullopt;  // neither the directory itself nor its hidden entries
  }
  return target;
}

auto TooManyPrograms() -> Response {
  return ErrorResponse(503, "Too many programs are running.").Set("Retry-After", "1");
}

CgiRun::CgiRun(CgiPrograms& programs, Exchange& exchange, CgiTarget target)
    : programs_(programs), exchange_(exchange), target_(std::move(target)) {}

CgiRun::~CgiRun() {
  if (counted_) {
    programs_.RemoveRunning();
  }
  programs_.RemoveSpooled(spooled_bytes_);
  StopReading();
  if (exit_watch_) {
    GetLooper().Unwatch(*exit_watch_);
  }
  for (const auto& timer : {deadline_, grace_, poll_}) {
    if (timer) {
      GetLooper().Cancel(*timer);
    }
  }
  if (child_.Pid() >= 0) {
    // If the response is complete, the program may finish; otherwise it is killed.
    programs_.LetFinish(std::move(child_), std::move(output_),
                        complete_ ? kill_time_ - GetLooper().Now() : Clock::duration::zero());
  }
}

void CgiRun::Begin() {
  if (!exchange_.GetRequest().framing.HasBody()) {
    Start();
    return;
  }
  if (const int error = body_.Open(); error != 0) {
    Fail(503, "spool file: " + std::generic_category().message(error));
    return;
  }
  exchange_.OnBody([this](std::string_view piece, bool last) { OnBody(piece, last); });
}

void CgiRun::OnBody(std::string_view piece, bool last) {
  if (over_) {
    return;
  }
  if (!programs_.AddSpooled(piece.size(), spooled_bytes_)) {
    Fail(503, "too many bytes of bodies wait for programs");
    return;
  }
  spooled_bytes_ += piece.size();
  int error = body_.Write(piece);
  if (error == 0 && last) {
    error = body_.Rewind();
  }
  if (error != 0) {
    Fail(503, "spool file: " + std::generic_category().message(error));
  } else if (last) {
    Start();
  }
}

void CgiRun::Start() {
  if (programs_.Full()) {
    over_ = true;
    exchange_.Reply(TooManyPrograms());
    return;
  }
  const NetAddress peer = exchange_.GetClient();
  if (peer.Family() == AF_UNSPEC) {  // it is gone, and RFC 3875, section 4.1.8 needs its address
    over_ = true;
    exchange_.Abort(503, {});
    return;
  }
  const Request& request = exchange_.GetRequest();
  const NetAddress local = LocalAddressOf(exchange_.GetConnection());
  const std::string local_name = ServerName(local);
  const std::string remote = HostNumber(peer);
  const std::string_view path = request.uri.Path();
  const std::string script_name =
      std::string(path.substr(0, path.size() - exchange_.SubPath().size())) + '/' + target_.program;
  const std::string& root = programs_.Options().document_root;
  const std::string translated = root.empty() ? "" : root + target_.path_info;

  CgiRequestInfo info;
  info.method = request.method_text;
  info.script_name = script_name;
  info.path_info = target_.path_info;
  info.path_translated = translated;
  info.query_string = request.uri.Query();
  info.content_type = request.headers.Find(KnownField::kContentType).value_or("");
  if (request.framing.kind != BodyKind::kNone) {
    info.content_length = body_.Size();
  }
  info.server_name = request.host.empty() ? std::string_view(local_name) : HostName(request.host);
  info.server_port = local.Family() == 0 ? 0 : local.Port();
  info.server_protocol = request.minor_version == 0 ? "HTTP/1.0" : "HTTP/1.1";
  info.server_software = "turtle";
  info.https = exchange_.IsSecure();
  info.remote_addr = remote;
  info.remote_user = exchange_.User();
  info.auth_type = info.remote_user.empty() ? "" : "Basic";
  for (const HeaderField& field : request.headers) {
    // In an absolute target the host appears twice, and the target's has precedence.
    const bool is_host = field.known == KnownField::kHost;
    info.headers.emplace_back(field.name, is_host ? request.host : field.value);
  }
  const std::optional<CgiEnvironment> environment =
      CgiEnvironment::Build(info, programs_.Inherited());
  if (!environment) {
    Fail(400, "the request does not fit into an environment");
    return;
  }

  Pipe output;
  if (const int error = OpenPipe(PipeMode::kNonBlockingRead, output); error != 0) {
    Fail(503, "pipe: " + std::generic_category().message(error));
    return;
  }
  ChildOptions options;
  options.directory_fd = programs_.Directory();
  options.program = target_.program;
  options.arguments = target_.arguments;
  options.envp = environment->Envp();
  options.stdin_fd = body_.GetFd();
  options.stdout_fd = output.write_end.Get();
  options.max_open_files = programs_.Options().max_open_files;
  if (const SpawnResult result = child_.Start(options); !result) {
    Refuse(result);
    return;
  }
  counted_ = true;
  programs_.AddRunning();
  output_ = std::move(output.read_end);
  output_watch_ = GetLooper().Watch(output_.Get(), Interest::kRead, Guarded(&CgiRun::OnReadable));
  kill_time_ = GetLooper().Now() + Bounded(programs_.Options().timeout);
  deadline_ = GetLooper().RunAfter(programs_.Options().timeout, [this] { OnDeadline(); });
  exchange_.OnRoom([this] {
    if (resting_ && output_watch_) {
      resting_ = false;
      GetLooper().ChangeWatch(*output_watch_, Interest::kRead);
    }
  });
}

void CgiRun::Refuse(const SpawnResult& result) {
  const SpawnFault fault = Explain(result, programs_.Directory(), target_.program.c_str());
  Fail(fault.status, result.ToString() + fault.hint);
}

// The loop logs an exception of a callback and continues. But a part of the response is lost here,
// and the client must not mistake the rest for the whole.
auto CgiRun::Guarded(void (CgiRun::*callback)()) -> WatchCallback {
  return [this, callback](const PollEvent&) {
    try {
      (this->*callback)();
    } catch (const std::exception& error) {
      Fail(500, error.what());
    }
  };
}

void CgiRun::OnReadable() {
  std::array<char, kOutputBytes> bytes;  // left uninitialised
  const IoResult result = ReadPipe(output_.Get(), bytes.data(), bytes.size());
  switch (result.status) {
    case IoStatus::kBytes:
      OnOutput({bytes.data(), result.bytes});
      break;
    case IoStatus::kWouldBlock:
      break;
    case IoStatus::kError:
      Fail(502, "its output: " + std::generic_category().message(result.error));
      break;
    case IoStatus::kEnd:
      StopReading();
      output_.Reset();
      OnOutputEnd();
      break;
  }
}

void CgiRun::OnOutput(std::string_view bytes) {
  if (over_) {
    return;
  }
  if (exchange_.Begun()) {
    PassOn(bytes);
    return;
  }
  head_ += bytes;
  const CgiHeaderResult result = parser_.Parse(head_, header_);
  switch (result.state) {
    case CgiHeaderState::kNeedMore:
      break;
    case CgiHeaderState::kDone:
      head_.erase(0, result.head_bytes);
      BeginReply();
      break;
    case CgiHeaderState::kBad:
      if (target_.short_form) {
        BeginPlainReply();
      } else {
        Fail(502, result.reason);
      }
      break;
  }
}

// Starts a response in the short form without a header: all output is text, whatever it looks like.
void CgiRun::BeginPlainReply() {
  header_ = CgiHeader();
  header_.content_type = "text/plain; charset=utf-8";
  BeginReply();
}

// Called when the header is complete; `head_` holds the beginning of the body.
void CgiRun::BeginReply() {
  if (header_.kind == CgiReplyKind::kLocalRedirect) {
    over_ = true;
    complete_ = true;
    StopReading();
    exchange_.ReplyFrom(header_.location);
    return;
  }
  try {
    Response head(header_.status);
    if (!header_.content_type.empty()) {
      head.Set("Content-Type", header_.content_type);
    }
    if (!header_.location.empty()) {
      head.Set("Location", header_.location);
    }
    for (const CgiField& field : header_.fields) {
      head.Add(field.name, field.value);
    }
    exchange_.BeginReply(head, header_.content_length);
  } catch (const std::invalid_argument& error) {
    Fail(502, error.what());
    return;
  }
  PassOn(std::exchange(head_, {}));
}

void CgiRun::PassOn(std::string_view bytes) {
  exchange_.Write(bytes);
  if (exchange_.HasWholeBody()) {
    End();  // whatever the program does now, the client has all of it
  } else if (!exchange_.CanWrite() && output_watch_) {
    resting_ = true;
    GetLooper().ChangeWatch(*output_watch_, Interest::kNone);
  }
}

void CgiRun::OnOutputEnd() {
  if (over_) {
    return;
  }
  if (!exchange_.Begun() && !target_.short_form) {
    Fail(502, "the output ended before its header");
    return;
  }
  // How did it end? Nearly always it already has, or will very soon.
  if (child_.TryReap()) {
    OnExit();
    return;
  }
  if (child_.ExitFd() >= 0) {
    exit_watch_ = GetLooper().Watch(child_.ExitFd(), Interest::kRead, Guarded(&CgiRun::OnExit));
  } else {
    PollExit();
  }
  grace_ = GetLooper().RunAfter(CgiPrograms::kExitGrace,
                                [finish = Guarded(&CgiRun::Finish)] { finish({}); });
}

// A process closes its files before it can be reaped, so checking once, at the end of its output,
// is not enough: a crash would count as success.
void CgiRun::PollExit() {
  poll_ = GetLooper().RunAfter(CgiPrograms::kPollTime,
                               [check = Guarded(&CgiRun::CheckExit)] { check({}); });
}

void CgiRun::CheckExit() {
  if (over_) {
    return;
  }
  if (child_.TryReap()) {
    OnExit();
  } else {
    PollExit();
  }
}

void CgiRun::OnExit() {
  if (over_) {
    return;
  }
  const std::optional<ExitStatus> status = child_.TryReap();
  if (status && status->kind == ExitStatus::Kind::kSignaled) {
    Fail(502, "killed by signal " + std::to_string(status->value));
  } else {
    Finish();
  }
}

void CgiRun::Finish() {
  if (over_) {
    return;
  }
  if (!exchange_.Begun()) {
    BeginPlainReply();  // its output could still have been a header
  }
  End();
}

// Ends the response. The program may run on.
void CgiRun::End() {
  over_ = true;
  complete_ = true;
  StopReading();
  exchange_.End();
}

void CgiRun::OnDeadline() {
  child_.Kill();
  StopReading();
  if (!over_) {
    Fail(504, "it did not end in time");
  }
}

void CgiRun::Fail(int status, std::string_view reason) {
  over_ = true;
  complete_ = false;
  child_.Kill();
  StopReading();
  exchange_.Abort(status, {});
  Log(LogLevel::kError, "cgi " + target_.program + ": " + std::string(reason));
}

void CgiRun::StopReading() {
  if (output_watch_) {
    GetLooper().Unwatch(*output_watch_);
    output_watch_.reset();
  }
}

}  // namespace TURTLE_SERVER
