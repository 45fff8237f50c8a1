// Conditions and dates, against the reference. The first line has a method and the properties of
// the representation, out of "strong", "tag", "date" and "missing". Each other line is a field,
// whose value is also read as a date:
//
//   GET strong tag date
//   If-Range: Sun, 06 Nov 1994 08:49:37 GMT
#include "http/conditional.h"
#include "reference/conditional.h"
#include "reference/text.h"
#include "targets/check.h"

namespace TURTLE_SERVER::fuzz {
namespace {

constexpr int kThisYear = 2026;
constexpr HttpTime kNow{1'780'000'000};     // in May of it
constexpr HttpTime kModified{784'111'777};  // Sun, 06 Nov 1994 08:49:37 GMT

void CheckDate(std::string_view text) {
  const std::optional<HttpTime> date = ParseHttpDate(text, kNow);
  const std::optional<std::int64_t> expected = reference::ReadDate(text, kThisYear);
  Same("is a date", date.has_value(), expected.has_value());
  if (!date) {
    return;
  }
  Same("date", static_cast<std::int64_t>(date->count()), *expected);
  // The written form is read as the same time.
  std::string written;
  AppendHttpDate(*date, written);
  if (*date <= kMaxHttpTime && ParseHttpDate(written, kNow) != date) {
    Fail("a date does not survive being written: " + written);
  }
}

auto Describe(const ConditionResult& result) -> std::string {
  switch (result.action) {
    case ConditionResult::Action::kNotModified:
      return "304";
    case ConditionResult::Action::kPreconditionFailed:
      return "412";
    case ConditionResult::Action::kServe:
      break;
  }
  return result.range_applies ? "serve" : "serve all";
}

}  // namespace
}  // namespace TURTLE_SERVER::fuzz

extern "C" auto LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) -> int {
  using namespace TURTLE_SERVER;
  const auto lines = reference::Split(fuzz::TextOf(data, size), "\n");
  const auto has = [&](std::string_view word) {
    return lines[0].find(word) != std::string_view::npos;
  };
  Validators validators;
  reference::State state;
  validators.strong = state.strong = has("strong");
  validators.exists = state.exists = !has("missing");
  if (has("tag")) {
    validators.opaque_tag = state.tag = "\"a,b\"";
  }
  if (has("date")) {
    validators.last_modified = fuzz::kModified;
    state.modified = fuzz::kModified.count();
  }
  Headers headers;
  reference::Fields fields;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::size_t colon = lines[i].find(':');
    const std::string_view name = lines[i].substr(0, colon);
    if (colon == std::string_view::npos || !reference::IsAll(name, reference::IsTchar)) {
      continue;
    }
    const std::string_view value = reference::Trim(lines[i].substr(colon + 1));
    headers.Add(name, value);
    fields.emplace_back(reference::Lower(name), value);
    fuzz::CheckDate(value);
  }
  const std::string_view method = lines[0].substr(0, lines[0].find(' '));
  fuzz::Same("conditions",
             fuzz::Describe(EvaluateConditions(MethodOf(method), headers, validators, fuzz::kNow)),
             reference::Evaluate(method, fields, state, fuzz::kThisYear));
  return 0;
}
