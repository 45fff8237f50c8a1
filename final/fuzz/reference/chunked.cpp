#include "reference/chunked.h"

#include "reference/text.h"

namespace TURTLE_SERVER::reference {

namespace {

// Thrown: the status of a refusal, or -1 at the end of the input. Each function is a rule of the
// grammar.
class Reader {
 public:
  Reader(std::string_view input, const ChunkedLimits& limits, ChunkedBody& body)
      : input_(input), limits_(limits), body_(body) {}

  // chunked-body = *chunk last-chunk trailer-section CRLF
  void Body() {
    while (Chunk()) {
    }
    while (Peek() != '\r') {
      TrailerLine();
    }
    CrLf();
    body_.bytes = at_;
  }

 private:
  auto Peek() const -> char {
    if (at_ == input_.size()) {
      throw -1;
    }
    return input_[at_];
  }

  auto Take() -> char {
    const char c = Peek();
    ++at_;
    return c;
  }

  void Expect(char wanted) {
    if (Take() != wanted) {
      throw 400;
    }
  }

  void CrLf() {
    Expect('\r');
    Expect('\n');
  }

  // chunk = chunk-size [ chunk-ext ] CRLF chunk-data CRLF; false: it is the last-chunk.
  auto Chunk() -> bool {
    std::string digits;
    while (IsHex(Peek())) {
      digits += Take();
      if (digits.size() > 16) {
        throw 400;
      }
    }
    if (digits.empty()) {
      throw 400;
    }
    if (Peek() != '\r') {
      Extension();
    }
    CrLf();
    const std::uint64_t size = std::stoull(digits, nullptr, 16);
    if (size > limits_.body_bytes - body_.content.size()) {
      throw 413;
    }
    if (size == 0) {
      return false;
    }
    for (std::uint64_t i = 0; i < size; ++i) {
      body_.content += Take();
      extension_bytes_ -= extension_bytes_ > 0 ? 1 : 0;
    }
    CrLf();
    return true;
  }

  // chunk-ext = *( BWS ";" BWS token [ BWS "=" BWS ( token / quoted-string ) ] )
  void Extension() {
    do {
      BadSpace();
      if (Peek() != ';') {
        throw 400;
      }
      ExtensionByte();
      BadSpace();
      Token();
      const bool spaced = BadSpace();
      if (Peek() == '=') {
        ExtensionByte();
        BadSpace();
        if (Peek() == '"') {
          Quoted();
        } else {
          Token();
        }
      } else if (spaced && Peek() != ';') {
        throw 400;
      }
    } while (Peek() != '\r');
  }

  auto BadSpace() -> bool {
    bool any = false;
    for (; Peek() == ' ' || Peek() == '\t'; any = true) {
      ExtensionByte();
    }
    return any;
  }

  void Token() {
    do {
      if (!IsTchar(Peek())) {
        throw 400;
      }
      ExtensionByte();
    } while (IsTchar(Peek()));
  }

  void Quoted() {
    ExtensionByte();
    while (Peek() != '"') {
      if (Peek() == '\\') {
        ExtensionByte();
      }
      ExtensionByte();
    }
    ExtensionByte();
  }

  void ExtensionByte() {
    const char c = Take();
    if ((IsCtl(c) && c != '\t') || ++extension_bytes_ > limits_.extension_bytes) {
      throw 400;
    }
  }

  // field-line CRLF
  void TrailerLine() {
    std::size_t name = 0;
    for (char c = TrailerByte(); c != ':' || name == 0; c = TrailerByte(), ++name) {
      if (!IsTchar(c)) {
        throw 400;
      }
    }
    for (char c = TrailerByte(); c != '\r'; c = TrailerByte()) {
      if (IsCtl(c) && c != '\t') {
        throw 400;
      }
    }
    Expect('\n');
  }

  // The LF of a line is not counted.
  auto TrailerByte() -> char {
    const char c = Take();
    if (++trailer_bytes_ > limits_.trailer_bytes) {
      throw 431;
    }
    return c;
  }

  const std::string_view input_;
  const ChunkedLimits& limits_;
  ChunkedBody& body_;
  std::size_t at_ = 0;
  std::uint64_t extension_bytes_ = 0;  // not yet outweighed by content
  std::uint64_t trailer_bytes_ = 0;
};

}  // namespace

auto ReadChunked(std::string_view input, const ChunkedLimits& limits) -> ChunkedBody {
  ChunkedBody body;
  try {
    Reader(input, limits, body).Body();
  } catch (int status) {
    body.status = status;
  }
  return body;
}

}  // namespace TURTLE_SERVER::reference
