// A second protocol for the same handlers: frames with a length before them.
//
// A request is one frame: "GET /path\r\n", fields, an empty line and the body. A response is one or
// more frames: the status and the fields, then pieces of the body. Clients number their requests;
// several may be open at once, and their frames mingle.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "core/connection.h"
#include "core/looper.h"
#include "http/http_parser.h"
#include "web/exchange.h"
#include "web/loop_http.h"
#include "web/session.h"

namespace TURTLE_SERVER::test {

/// A frame: four bytes of length, four of the number whose highest bit marks the last frame.
struct Frame {
  std::uint32_t number = 0;  ///< of the request
  bool last = false;         ///< nothing follows with this number
  std::string bytes{};       ///< the content

  static constexpr std::size_t kHeadBytes = 8;

  /// Returns the four bytes at the front, as a number.
  [[nodiscard]] static auto Length(std::string_view input) -> std::uint32_t {
    std::uint32_t number = 0;
    for (const char byte : input.substr(0, 4)) {
      number = number << 8 | static_cast<unsigned char>(byte);
    }
    return number;
  }

  /// Returns a frame as it is sent.
  [[nodiscard]] static auto Pack(std::uint32_t number, bool last, std::string_view bytes)
      -> std::string {
    std::string text;
    for (const std::uint32_t word :
         {static_cast<std::uint32_t>(bytes.size()), number | (last ? 1U << 31 : 0U)}) {
      for (int shift = 24; shift >= 0; shift -= 8) {
        text.push_back(static_cast<char>(word >> shift & 255U));
      }
    }
    return text.append(bytes);
  }

  /// Takes the frame at the front. @return false: it has not arrived completely
  [[nodiscard]] auto Unpack(std::string_view input) -> bool {
    if (input.size() < kHeadBytes || input.size() - kHeadBytes < Length(input)) {
      return false;
    }
    const std::uint32_t mark = Length(input.substr(4));
    number = mark & ~(1U << 31);
    last = mark >> 31 != 0;
    bytes = std::string(input.substr(kHeadBytes, Length(input)));
    return true;
  }
};

/// One request in frames.
class FrameExchange final : public Exchange {
 public:
  FrameExchange(Session& session, LoopHttp& http, std::uint32_t stream, std::string_view frame)
      : http_(http), stream_(stream), max_bytes_(http.Options().body.max_body_bytes) {
    Open(session, http.NextNumber());
    const std::size_t line = std::min(frame.find("\r\n"), frame.size());
    const std::size_t end = std::min(frame.find("\r\n\r\n"), frame.size() - 4) + 4;
    body_ = frame.substr(end);
    head_.append(frame.substr(0, line)).append(" HTTP/1.1\r\nHost: frames");
    head_.append(frame.substr(line, end - line));
    HttpParser parser(http.Options().parser);
    is_request_ = parser.Parse(head_, RoomForRequest()).state == ParseState::kDone;
  }
  ~FrameExchange() override { Close(); }
  FrameExchange(const FrameExchange&) = delete;
  auto operator=(const FrameExchange&) -> FrameExchange& = delete;

  [[nodiscard]] auto IsRequest() const -> bool { return is_request_; }

  /// Passes the body to a handler that has asked for it.
  void GoOn() {
    http_.GoOn(*this);
    if (WantsBody() && BodyTooLarge()) {
      http_.RefuseBody(*this, 413, BodyLimitText());
    } else if (WantsBody()) {
      http_.BringBody(*this, body_, true);
    }
  }

  void LimitBody(std::uint64_t most) noexcept override { max_bytes_ = most; }
  [[nodiscard]] auto BodyTooLarge() const noexcept -> bool override {
    return body_.size() > max_bytes_;
  }
  [[nodiscard]] auto BodyLimitText() const -> std::string override {
    return "more than " + std::to_string(max_bytes_) + " bytes";
  }

 private:
  void SendWhole(const Response& response) override {
    WriteFrame(HeadOf(response), false);
    if (GetRequest().method != Method::kHead && response.HasBody()) {
      for (const BodyPiece& piece : response.Pieces()) {
        if (const auto* text = std::get_if<std::string>(&piece)) {
          WriteFrame(*text, false);
        } else {
          SendPiece(std::get<FileSlice>(piece));
        }
      }
    }
    WriteFrame({}, true);
  }
  void SendHead(const Response& head, std::optional<std::uint64_t>) override {
    WriteFrame(HeadOf(head), false);
  }
  void SendPiece(std::string_view bytes) override { WriteFrame(bytes, false); }
  void SendPiece(FileSlice slice) override {
    std::string text(slice.length, '\0');
    const ssize_t got = pread(slice.fd, text.data(), text.size(), static_cast<off_t>(slice.offset));
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    WriteFrame(text, false);
  }
  void SendEnd() override { WriteFrame({}, true); }
  void Cut() override { GetLooper().DeleteConnection(GetConnection().GetFd(), Closing::kReset); }

  static auto HeadOf(const Response& response) -> std::string {
    HeadContext context;
    std::string text;
    response.AppendHead(context, text);
    return text.substr(9);  // without the version
  }

  void WriteFrame(std::string_view bytes, bool last) {
    GetConnection().WriteToWriteBuffer(Frame::Pack(stream_, last, bytes));
  }

  LoopHttp& http_;
  const std::uint32_t stream_;
  std::uint64_t max_bytes_;
  std::string head_;
  std::string body_;
  bool is_request_ = false;
};

/// One client's frames.
class FrameSession final : public Session {
 public:
  FrameSession(Connection& connection, LoopHttp& http) : Session(connection), http_(http) {}
  ~FrameSession() override {
    for (const auto& [stream, exchange] : open_) {
      http_.TellEnd(*exchange);
    }
  }
  FrameSession(const FrameSession&) = delete;
  auto operator=(const FrameSession&) -> FrameSession& = delete;

  void OnProgress() override {
    SetRunning(true);
    Connection& connection = GetConnection();
    const bool exit = connection.Recv().exit;
    Frame frame;
    while (frame.Unpack(connection.Read())) {
      connection.Consume(Frame::kHeadBytes + frame.bytes.size());
      Begin(frame);
    }
    for (auto each = open_.begin(); each != open_.end();) {
      each->second->GoOn();
      if (each->second->Replied()) {
        http_.TellEnd(*each->second);
        each = open_.erase(each);
      } else {
        ++each;
      }
    }
    SetRunning(false);
    if (exit || (GetLooper().Stopping() && open_.empty())) {
      GetLooper().DeleteConnection(connection.GetFd());
    }
  }
  void OnTimeout() override {}
  void OnStop() override { Wake(); }
  [[nodiscard]] auto FindOpen(std::uint32_t number) noexcept -> Exchange* override {
    for (const auto& [stream, exchange] : open_) {
      if (exchange->Id().number == number && !exchange->Replied()) {
        return exchange.get();
      }
    }
    return nullptr;
  }

 private:
  void Begin(const Frame& frame) {
    auto exchange =
        std::make_unique<FrameExchange>(*this, http_, frame.number, std::string_view(frame.bytes));
    if (!exchange->IsRequest()) {
      GetLooper().DeleteConnection(GetConnection().GetFd());
      return;
    }
    FrameExchange& begun = *exchange;
    open_[frame.number] = std::move(exchange);
    http_.TellBegin(begun);
    http_.Answer(begun);
  }

  LoopHttp& http_;
  std::map<std::uint32_t, std::unique_ptr<FrameExchange>> open_;
};

}  // namespace TURTLE_SERVER::test
