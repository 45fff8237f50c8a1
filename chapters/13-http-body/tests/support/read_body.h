// Drives a body reader the way a session does: as the bytes arrive, in pieces of any size.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "http/chunked.h"

namespace TURTLE_SERVER::test {

/// Everything that was read from one body.
struct WholeBody {
  BodyState state = BodyState::kMore;
  std::string content;       ///< all data, in order
  std::size_t consumed = 0;  ///< from all pieces together
  int status = 0;
  std::string reason;
};

/// Gives `pieces` to `reader` one after the other. Bytes of a piece after the body's end are left,
/// and later pieces are not given.
template <class Reader>
auto ReadBody(Reader& reader, const std::vector<std::string_view>& pieces) -> WholeBody {
  WholeBody body;
  for (std::string_view piece : pieces) {
    // Each piece has its own memory, so that a view into an earlier one is noticed.
    const std::vector<char> arrived(piece.begin(), piece.end());
    std::string_view rest(arrived.data(), arrived.size());
    do {
      const BodyResult result = reader.Read(rest);
      EXPECT_LE(result.consumed, rest.size());
      EXPECT_TRUE(result.consumed > 0 || result.state != BodyState::kMore || rest.empty());
      if (!result.data.empty()) {
        EXPECT_GE(result.data.data(), rest.data());
        EXPECT_LE(result.data.data() + result.data.size(), rest.data() + result.consumed);
      }
      rest.remove_prefix(result.consumed);
      body.consumed += result.consumed;
      body.content += result.data;
      body.state = result.state;
      body.status = result.status;
      body.reason = result.reason;
      if (testing::Test::HasFailure()) {
        return body;
      }
    } while (body.state == BodyState::kMore && !rest.empty());
    if (body.state != BodyState::kMore) {
      // A final result does not change any more.
      const BodyResult again = reader.Read("0123456789");
      EXPECT_EQ(again.state, body.state);
      EXPECT_EQ(again.consumed, 0U);
      EXPECT_EQ(again.status, body.status);
      EXPECT_TRUE(again.data.empty());
      break;
    }
  }
  return body;
}

/// Splits `text` into pieces of `size` bytes.
inline auto InPiecesOf(std::size_t size, std::string_view text) -> std::vector<std::string_view> {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    pieces.push_back(text.substr(0, size));
    text.remove_prefix(pieces.back().size());
  }
  return pieces;
}

}  // namespace TURTLE_SERVER::test
