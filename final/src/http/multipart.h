// A form with files: multipart/form-data (RFC 7578, in the syntax of RFC 2046, section 5.1).
//
//     --boundary\r\n
//     Content-Disposition: form-data; name="photo"; filename="me.jpg"\r\n
//     Content-Type: image/jpeg\r\n
//     \r\n
//     (bytes)\r\n
//     --boundary--\r\n
//
// Interface:
//  * MultipartBoundary() extracts the boundary from Content-Type.
//  * MultipartParser::Read() takes the bytes that have arrived and returns the next event: a part
//    begins, bytes of it, it ends. Finish() says whether the body was complete.
//
// Nothing of a part is kept here but the fields of its header, and no byte of its content is
// copied. If the end of a piece cuts a delimiter, only the number of its bytes is remembered. If
// they turn out to be content, they are the beginning of the delimiter, which is known.
//
// Input that two programs might read in two ways is refused: a bare LF, a folded field, a repeated
// field or parameter, a second boundary. So is a line that begins with the boundary and goes on (it
// must not occur in content). Parts that are allowed but mean nothing are skipped: preamble,
// epilogue, white space after a boundary, other fields, and `filename*`, which RFC 7578 forbids
// here.
//
// Thread: one at a time. No I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/head_fault.h"

namespace TURTLE_SERVER {

/// Limits how much of a body is accepted; each is inclusive. Above it: 413.
struct MultipartLimits {
  std::size_t max_parts = 1000;                            ///< fields and files
  std::size_t max_header_bytes = std::size_t{8} * 1024;    ///< of one part, line ends included
  std::uint64_t max_part_bytes = std::uint64_t{8} << 20;   ///< of the content of one part
  std::uint64_t max_body_bytes = std::uint64_t{32} << 20;  ///< of everything that is read
};

/// The head of a part. All of it is the client's word, not fact.
struct MultipartPart {
  std::string name;      ///< of the form's field; may be empty, or hold any byte
  bool is_file = false;  ///< there is a file name; if it is empty, no file was chosen
  /// The client's name for the file, to be shown to people: its last segment, which contains no
  /// '/', no '\' and no control character and is neither "." nor "..". It may be empty, or not
  /// UTF-8. Never make a path of it: two clients may choose the same, and some names mean devices.
  std::string filename;
  std::string content_type;  ///< as sent; "" for none, which means text/plain
};

/// The event that Read() returns.
enum class MultipartEvent : std::uint8_t {
  kMore,     ///< no more in this piece, all of it is consumed: go on with the next
  kPart,     ///< a part begins: see Part()
  kData,     ///< bytes of its content: `data`
  kPartEnd,  ///< its content is complete
  kBad,      ///< respond with `status`; the input so far is no complete form
};

/// The result of one step.
struct [[nodiscard]] MultipartStep {
  MultipartEvent event = MultipartEvent::kMore;  ///< which event it is
  std::size_t consumed = 0;                      ///< how many bytes of the input were used up
  std::string_view data{};  ///< with kData, never empty: a view into the input or the parser
  int status = 0;           ///< with kBad: 400 or 413
  const char* reason = "";  ///< with kBad: what is wrong, for a person; a literal
};

/// Extracts the boundary from a Content-Type field.
/// @param content_type the field's value
/// @param boundary is set to 1 to 70 characters that MultipartParser accepts
/// @return no fault; 415: not multipart/form-data; 400: no boundary, two, or an invalid one
auto MultipartBoundary(std::string_view content_type, std::string& boundary) -> HeadFault;

/// Parses one body.
class MultipartParser {
 public:
  /// Starts at the beginning of a body. Throws std::invalid_argument if `boundary` is not valid.
  /// @param boundary from MultipartBoundary()
  /// @param limits how much is accepted
  explicit MultipartParser(std::string_view boundary, const MultipartLimits& limits = {});

  /// Reads up to the next event. Repeat it with the rest of the input until it returns kMore. For
  /// each part come kPart, any number of kData, and kPartEnd, in this order. Apart from the number
  /// of kData, they do not depend on how the body was cut into pieces.
  /// @param input the bytes that follow those consumed so far
  /// @return see MultipartStep. kData and kPartEnd may consume nothing; after kBad every further
  ///     call returns the same.
  auto Read(std::string_view input) -> MultipartStep;

  /// Reports whether a body that ends here is complete.
  /// @return no fault, the status and reason of an earlier kBad, or 400
  [[nodiscard]] auto Finish() const noexcept -> HeadFault;

  /// Returns the part that began last. Valid until the next kPart; empty before the first.
  [[nodiscard]] auto Part() const noexcept -> const MultipartPart& { return part_; }

 private:
  // Where the next byte is.
  enum class Place : std::uint8_t {
    kPreamble,
    kAfterDelimiter,  // white space, CR LF, or the first '-' of the last delimiter
    kPadding,         // white space or CR LF
    kPaddingLf,
    kCloseDash,  // the second '-'
    kClosed,     // white space, or the CR LF before an epilogue
    kClosedLf,
    kEpilogue,
    kHeader,
    kContent,
    kBad,
  };

  void Search(std::string_view& rest, MultipartStep& step);
  auto TakeContent(std::string_view content, MultipartStep& step) -> std::size_t;
  void EndContent(MultipartStep& step);
  void ReadMark(char c);
  void BeginPart();
  void ReadHeader(std::string_view& rest, MultipartStep& step);
  void EndHeader(MultipartStep& step);
  auto ReadField(std::string_view line) -> const char*;
  auto ReadDisposition(std::string_view value) -> const char*;
  void Fail(int status, const char* reason);

  MultipartLimits limits_;
  std::string delimiter_;  // CR LF, "--" and the boundary; a CR only at its front
  std::string line_;       // of a header, as far as it has arrived
  MultipartPart part_;
  std::size_t matched_;  // bytes of the delimiter that were seen while searching for it
  std::size_t given_;    // how many of these are no content, or were already returned
  std::size_t parts_ = 0;
  std::size_t header_left_ = 0;  // bytes still allowed; likewise the others
  std::uint64_t part_left_ = 0;
  std::uint64_t body_left_;
  HeadFault fault_;  // with Place::kBad
  Place place_ = Place::kPreamble;
  bool has_disposition_ = false;
  bool has_content_type_ = false;
};

}  // namespace TURTLE_SERVER
