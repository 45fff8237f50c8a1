// A target, against the reference: "METHOD target". And the same as the value of Host.
#include "http/uri.h"
#include "reference/text.h"
#include "reference/uri.h"
#include "targets/check.h"

extern "C" auto LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) -> int {
  using namespace TURTLE_SERVER;
  const std::string_view input = fuzz::TextOf(data, size);
  const std::size_t space = input.find(' ');
  if (space == std::string_view::npos) {
    return 0;
  }
  const std::string_view method = input.substr(0, space);
  const std::string_view target = input.substr(space + 1);
  fuzz::Same("valid Host", IsValidHost(target), reference::IsHostField(target));
  if (!reference::IsAll(target, reference::IsVchar)) {
    return 0;  // the parser makes sure of that
  }
  Uri uri;
  const bool is_good = !uri.Parse(target, MethodOf(method));
  const auto expected = reference::ReadTarget(target, method);
  fuzz::Same("valid target", is_good, expected.has_value());
  if (expected) {
    constexpr std::string_view kForms = "oac*";
    fuzz::Same("form", kForms[static_cast<std::size_t>(uri.Form())], expected->form);
    fuzz::Same("path", uri.Path(), expected->path);
    fuzz::Same("query", uri.Query(), expected->query);
    fuzz::Same("has a query", uri.HasQuery(), expected->has_query);
    fuzz::Same("authority", uri.Authority(), expected->authority);
  }
  return 0;
}
