// A chunked body: in pieces, against the reference. The first byte says how it is cut.
#include <algorithm>
#include <memory>

#include "http/chunked.h"
#include "reference/chunked.h"
#include "targets/check.h"

namespace TURTLE_SERVER::fuzz {
namespace {

// Feeds the decoder `step` bytes at a time, each piece in a block that ends with it.
auto Decode(std::string_view input, std::size_t step, const BodyLimits& limits)
    -> reference::ChunkedBody {
  ChunkedDecoder decoder(limits);
  reference::ChunkedBody body;
  body.status = -1;
  while (body.bytes < input.size() && body.status == -1) {
    const std::size_t size = std::min(step, input.size() - body.bytes);
    const auto block = std::make_unique<char[]>(size);
    input.copy(block.get(), size, body.bytes);
    std::string_view rest(block.get(), size);
    while (!rest.empty() && body.status == -1) {
      const BodyResult result = decoder.Read(rest);
      if (result.state != BodyState::kBad && result.consumed == 0) {
        Fail("a step that consumes nothing");
      }
      body.content += result.data;
      body.bytes += result.consumed;
      rest.remove_prefix(result.consumed);
      body.status = result.state == BodyState::kMore   ? -1
                    : result.state == BodyState::kDone ? 0
                                                       : result.status;
    }
  }
  return body;
}

}  // namespace
}  // namespace TURTLE_SERVER::fuzz

extern "C" auto LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) -> int {
  using namespace TURTLE_SERVER;
  if (size == 0) {
    return 0;
  }
  const std::string_view input = fuzz::TextOf(data + 1, size - 1);
  BodyLimits limits;  // small, so that they are reached
  limits.max_body_bytes = 64;
  limits.max_extension_bytes = 16;
  limits.max_trailer_bytes = 32;
  const reference::ChunkedBody expected = reference::ReadChunked(
      input, {limits.max_body_bytes, limits.max_extension_bytes, limits.max_trailer_bytes});
  for (const std::size_t step : {std::max<std::size_t>(input.size(), 1), data[0] % 16U + 1UL}) {
    const reference::ChunkedBody body = fuzz::Decode(input, step, limits);
    fuzz::Same("status", body.status, expected.status);
    // A refusal may keep back content that came with it.
    const std::size_t comparable = expected.status > 0 ? body.content.size() : std::string::npos;
    fuzz::Same("content", body.content, expected.content.substr(0, comparable));
    if (expected.status == 0) {
      fuzz::Same("size of the body", body.bytes, expected.bytes);
    }
  }
  return 0;
}
