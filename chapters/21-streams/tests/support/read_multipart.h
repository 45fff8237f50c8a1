// Drives a multipart parser the way a server does: as the bytes arrive, in pieces of any size.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "http/multipart.h"

namespace TURTLE_SERVER::test {

/// One part with all its content.
struct WholePart {
  MultipartPart header;
  std::string content;
  bool complete = false;  ///< its end has arrived
};

/// Everything that was read from one body.
struct WholeForm {
  std::vector<WholePart> parts;
  int status = 0;      ///< of a refusal, or of a body that ends too early
  std::string reason;  ///< the reason for the status
};

/// Returns it as text, so that two can be compared and printed.
inline auto Describe(const WholeForm& form) -> std::string {
  std::string text = std::to_string(form.status) + " " + form.reason + "\n";
  for (const WholePart& part : form.parts) {
    text += "[" + part.header.name + "]";
    text += part.header.is_file ? "[" + part.header.filename + "]" : "";
    text += "(" + part.header.content_type + ") " + part.content;
    text += part.complete ? "\n" : " ...\n";
  }
  return text;
}

/// Gives `pieces` to a parser one after the other, and then calls Finish().
inline auto ReadMultipart(std::string_view boundary, const std::vector<std::string_view>& pieces,
                          const MultipartLimits& limits = {}) -> WholeForm {
  MultipartParser parser(boundary, limits);
  WholeForm form;
  MultipartStep step;
  for (const std::string_view piece : pieces) {
    // Each piece has its own memory, so that a view into an earlier one is noticed.
    const std::vector<char> arrived(piece.begin(), piece.end());
    std::string_view rest(arrived.data(), arrived.size());
    do {
      step = parser.Read(rest);
      rest.remove_prefix(step.consumed);
      EXPECT_EQ(step.data.empty(), step.event != MultipartEvent::kData);
      if (step.event == MultipartEvent::kPart) {
        form.parts.push_back({parser.Part(), "", false});
      } else if (step.event == MultipartEvent::kData) {
        form.parts.back().content += step.data;
      } else if (step.event == MultipartEvent::kPartEnd) {
        form.parts.back().complete = true;
      }
    } while (step.event != MultipartEvent::kMore && step.event != MultipartEvent::kBad);
    if (step.event == MultipartEvent::kBad) {
      const MultipartStep again = parser.Read("\r\n--");  // a final result does not change any more
      EXPECT_EQ(again.event, MultipartEvent::kBad);
      EXPECT_EQ(again.consumed, 0U);
      EXPECT_STREQ(again.reason, step.reason);
      break;
    }
    EXPECT_TRUE(rest.empty()) << "kMore, and something is left";
  }
  const HeadFault fault = parser.Finish();
  if (step.event == MultipartEvent::kBad) {
    EXPECT_EQ(fault.status, step.status);
    EXPECT_STREQ(fault.reason, step.reason);
  }
  form.status = fault.status;
  form.reason = fault.reason;
  return form;
}

}  // namespace TURTLE_SERVER::test
