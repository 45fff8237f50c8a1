// A compressed body: whole and in pieces. The first byte says how it is cut, and in which coding.
#include <algorithm>

#include "compress/body_decoder.h"
#include "targets/check.h"

extern "C" auto LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) -> int {
  using namespace TURTLE_SERVER;
  if (size == 0) {
    return 0;
  }
  const auto coding = static_cast<Coding>(1 + data[0] % 3);
  const std::string_view input = fuzz::TextOf(data + 1, size - 1);
  std::string plain[2];
  int status[2] = {};
  for (const int run : {0, 1}) {
    const std::size_t step = run == 0 ? std::max<std::size_t>(input.size(), 1) : 1 + data[0] / 3U;
    BodyDecoder decoder(coding, {std::uint64_t{1} << 20, SIZE_MAX});
    DecodedPiece piece;
    for (std::size_t at = 0; !piece.last; at = std::min(at + step, input.size())) {
      decoder.Add(input.substr(at, step), at + step >= input.size());
      while (!decoder.WantsInput() && !piece.last) {
        piece = decoder.Next();
        plain[run] += piece.plain;
      }
    }
    status[run] = piece.status;
  }
  if (coding != Coding::kZstd) {  // whole, it refuses some lengths that it takes in pieces
    fuzz::Same("status", status[1], status[0]);
  }
  if (status[0] == 0 && status[1] == 0) {  // a refusal may keep back plain bytes
    fuzz::Same("plain bytes", plain[1], plain[0]);
  }
  return 0;
}
