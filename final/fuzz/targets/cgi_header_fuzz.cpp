// The header block of a CGI program: in pieces, against the reference. The first byte says how it
// is cut.
#include <algorithm>

#include "http/cgi_header.h"
#include "reference/cgi_header.h"
#include "targets/check.h"

namespace TURTLE_SERVER::fuzz {
namespace {

auto Describe(const reference::CgiBlock& block) -> std::string {
  std::string text(1, block.verdict);
  if (block.verdict != 'd') {
    return text;
  }
  text.append(std::to_string(block.bytes)).append("\n").append(1, block.kind);
  text.append(std::to_string(block.status)).append(" ").append(block.reason).append("\n");
  text.append(block.location).append("\n").append(block.content_type).append("\n");
  text.append(block.content_length).append("\n");
  for (const auto& [name, value] : block.fields) {
    text.append(name).append(": ").append(value).append("\n");
  }
  return text;
}

// Shows the parser `step` bytes more each time.
auto Parse(std::string_view output, std::size_t step, const CgiHeaderLimits& limits)
    -> reference::CgiBlock {
  constexpr std::string_view kVerdicts = "mdb";
  constexpr std::string_view kKinds = "dlc";
  CgiHeaderParser parser(limits);
  CgiHeader header;
  CgiHeaderResult result{};
  for (std::size_t size = 0; result.state == CgiHeaderState::kNeedMore && size < output.size();) {
    size = std::min(size + step, output.size());
    result = parser.Parse(std::string(output.substr(0, size)), header);
  }
  reference::CgiBlock block;
  block.verdict = kVerdicts[static_cast<std::size_t>(result.state)];
  block.bytes = result.head_bytes;
  block.kind = kKinds[static_cast<std::size_t>(header.kind)];
  block.status = header.status;
  block.reason = header.reason;
  block.location = header.location;
  block.content_type = header.content_type;
  if (header.content_length) {
    block.content_length = std::to_string(*header.content_length);
  }
  for (const CgiField& field : header.fields) {
    block.fields.emplace_back(field.name, field.value);
  }
  return block;
}

}  // namespace
}  // namespace TURTLE_SERVER::fuzz

extern "C" auto LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) -> int {
  using namespace TURTLE_SERVER;
  if (size == 0) {
    return 0;
  }
  const std::string_view output = fuzz::TextOf(data + 1, size - 1);
  CgiHeaderLimits limits;  // small, so that they are reached
  limits.max_bytes = 200;
  limits.max_fields = 6;
  const std::string expected =
      fuzz::Describe(reference::ReadCgiBlock(output, limits.max_bytes, limits.max_fields));
  for (const std::size_t step : {std::max<std::size_t>(output.size(), 1), data[0] % 16U + 1UL}) {
    fuzz::Same("block", fuzz::Describe(fuzz::Parse(output, step, limits)), expected);
  }
  return 0;
}
