// A multipart/form-data body: whole and in pieces, against the reference. The first byte says how
// it is cut, the first line is the Content-Type:
//
//   3multipart/form-data; boundary=b
//   --b
//   ...
#include <algorithm>
#include <memory>
#include <string>

#include "http/multipart.h"
#include "reference/multipart.h"
#include "targets/check.h"

namespace TURTLE_SERVER::fuzz {
namespace {

auto Describe(const reference::FormData& form) -> std::string {
  std::string text = std::to_string(form.status) + "\n";
  for (const reference::FormPart& part : form.parts) {
    text += "name " + part.name + "\nfile " + part.filename + "\ntype " + part.content_type + "\n" +
            part.content + (part.is_complete ? "\nend\n" : "\n");
  }
  return text;
}

void Take(const MultipartStep& step, const MultipartPart& header, reference::FormData& form) {
  switch (step.event) {
    case MultipartEvent::kPart:
      form.parts.push_back({header.name, header.is_file ? "[" + header.filename + "]" : "",
                            header.content_type, "", false});
      break;
    case MultipartEvent::kData:
      if (step.data.empty() || form.parts.empty() || form.parts.back().is_complete) {
        Fail("data that is none");
      }
      form.parts.back().content += step.data;
      break;
    case MultipartEvent::kPartEnd:
      form.parts.back().is_complete = true;
      break;
    case MultipartEvent::kMore:
    case MultipartEvent::kBad:
      break;
  }
}

// Feeds the parser `step_bytes` at a time, each piece in a block that ends with it.
auto Parse(const std::string& boundary, std::string_view body, std::size_t step_bytes,
           const MultipartLimits& limits) -> reference::FormData {
  MultipartParser parser(boundary, limits);
  reference::FormData form;
  MultipartStep step;
  for (std::size_t at = 0; at < body.size() && step.event != MultipartEvent::kBad;) {
    const std::size_t size = std::min(step_bytes, body.size() - at);
    const auto block = std::make_unique<char[]>(size);
    body.copy(block.get(), size, at);
    at += size;
    std::string_view rest(block.get(), size);
    do {
      step = parser.Read(rest);
      rest.remove_prefix(step.consumed);
      Take(step, parser.Part(), form);
    } while (step.event != MultipartEvent::kMore && step.event != MultipartEvent::kBad);
    if (step.event == MultipartEvent::kMore && !rest.empty()) {
      Fail("kMore, and something is left");
    }
  }
  form.status = parser.Finish().status;
  if (step.event == MultipartEvent::kBad && form.status != step.status) {
    Fail("Finish() knows nothing of a refusal");
  }
  return form;
}

}  // namespace
}  // namespace TURTLE_SERVER::fuzz

extern "C" auto LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) -> int {
  using namespace TURTLE_SERVER;
  if (size == 0) {
    return 0;
  }
  const std::string_view input = fuzz::TextOf(data + 1, size - 1);
  const std::string_view content_type = input.substr(0, input.find('\n'));
  const std::string_view body = input.substr(std::min(content_type.size() + 1, input.size()));
  std::string boundary;
  const reference::Boundary expected_boundary = reference::ReadBoundary(content_type);
  fuzz::Same("status of Content-Type", MultipartBoundary(content_type, boundary).status,
             expected_boundary.status);
  if (expected_boundary.status != 0) {
    return 0;
  }
  fuzz::Same("boundary", boundary, expected_boundary.text);
  MultipartLimits limits;  // small, so that they are reached
  limits.max_parts = 5;
  limits.max_header_bytes = 200;
  limits.max_part_bytes = 40;
  limits.max_body_bytes = 600;
  const std::string expected =
      fuzz::Describe(reference::ReadFormData(boundary, body, {5, 200, 40, 600}));
  for (const std::size_t step : {std::max<std::size_t>(body.size(), 1), data[0] % 16U + 1UL}) {
    fuzz::Same("form", fuzz::Describe(fuzz::Parse(boundary, body, step, limits)), expected);
  }
  return 0;
}
