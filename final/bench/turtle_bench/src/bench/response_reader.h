// Reads a server's responses as they come, in any pieces.
//
// A load generator sees the same head millions of times: it differs once a second, when the date
// does. So the last parsed head is remembered, and one that is the same byte for byte is not parsed
// again. Its meaning is a function of its bytes and of the method, which is the same for the whole
// run. The body is not kept; its digest is.
//
// Interface:
//  * Read() takes bytes up to the end of one response; Next() prepares for the next.
//  * End() handles the end of the connection, which some bodies last until.
//  * Head(), BodySize() and BodyValue() describe a complete response.
//
// Nothing is allocated, except for a head that arrives in pieces, whose memory is then reused.
//
// Thread: the loop's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "bench/body_digest.h"
#include "bench/response_head.h"
#include "http/chunked.h"

namespace TURTLE_SERVER {

/// The head that was parsed last. One for all readers whose requests have the same method.
struct HeadMemo {
  bool to_head = false;     ///< the method is HEAD
  std::string text{};       ///< the head's bytes; empty: none yet
  ResponseHead head{};      ///< their meaning
  std::uint64_t parsed{0};  ///< how often a head was parsed, for tests
};

/// The state of a response.
enum class ReplyState : std::uint8_t {
  kMore,  ///< continues with the next bytes
  kDone,  ///< complete
  kBad,   ///< not a valid response: the start of the next one is unknown
};

/// The verdict of ResponseReader::Read().
struct [[nodiscard]] ReadResult {
  ReplyState state = ReplyState::kMore;  ///< one of the three
  std::size_t used = 0;                  ///< bytes of the input that belong to this response
  const char* fault = "";                ///< kBad: the fault; a literal
};

/// Reads the responses of one connection, one after the other.
class ResponseReader {
 public:
  /// The longest head that is accepted, the interim ones (1xx) before it not counted.
  static constexpr std::size_t kMaxHead = std::size_t{64} * 1024;

  /// @param memo outlives the reader
  explicit ResponseReader(HeadMemo& memo) noexcept;

  /// Reads further, at most up to the end of the response.
  /// @param input the bytes after those that were used so far
  auto Read(std::string_view input) -> ReadResult;

  /// Handles the end of the connection.
  /// @return kDone if that completes the response, kMore if no byte of it has come, else
  ///     kBad.
  [[nodiscard]] auto End() const noexcept -> ReplyState;

  /// Returns true once a byte of the response has arrived.
  [[nodiscard]] auto Begun() const noexcept -> bool { return place_ != Place::kStart; }

  /// Returns the final head; valid from the end of the head on.
  [[nodiscard]] auto Head() const noexcept -> const ResponseHead& { return head_; }

  /// Bytes of the body so far, without the chunks around them. For a response to HEAD, the length
  /// in its head.
  [[nodiscard]] auto BodySize() const noexcept -> std::uint64_t {
    return head_.end == BodyEnd::kNone ? head_.length : digest_.Size();
  }

  /// Returns the digest of the body so far.
  [[nodiscard]] auto BodyValue() const noexcept -> std::uint64_t { return digest_.Value(); }

  /// Resets it for the next response.
  void Next() noexcept;

 private:
  enum class Place : std::uint8_t { kStart, kHead, kBody, kDone, kBad };

  auto ReadHead(std::string_view input) -> ReadResult;
  auto FinishHead(std::string_view text) -> const char*;
  auto ReadBody(std::string_view input) -> ReadResult;
  auto ReadChunks(std::string_view input) -> ReadResult;

  HeadMemo* memo_;
  Place place_ = Place::kStart;
  ResponseHead head_;
  std::string pieces_;  // of a head that is not complete
  BodyDigest digest_;
  ChunkedDecoder chunks_;
};

}  // namespace TURTLE_SERVER
