// A query, or the body of a form, against the reference.
#include <algorithm>
#include <cstddef>
#include <string>

#include "http/form.h"
#include "reference/form.h"
#include "targets/check.h"

extern "C" auto LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) -> int {
  using namespace TURTLE_SERVER;
  const std::string_view text = fuzz::TextOf(data, size);
  const reference::Pairs expected = reference::ReadForm(text);
  static Form form;  // its memory is reused
  FormLimits limits;
  limits.max_fields = 12;  // few, so that the limit is reached
  fuzz::Same("refused", static_cast<bool>(form.Parse(text, limits)), expected.size() > 12);
  limits.max_fields = size;
  if (form.Parse(text, limits)) {
    fuzz::Fail("a form without too many fields is refused");
  }
  fuzz::Same("number of fields", form.Size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const FormField& field = *(form.begin() + static_cast<std::ptrdiff_t>(i));
    fuzz::Same("name", field.name, expected[i].first);
    fuzz::Same("value", field.value, expected[i].second);
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(expected.size(), 8); ++i) {
    const std::string& name = expected[i].first;
    std::string all;
    std::string all_expected;
    form.ForEach(name, [&](std::string_view each) { all.append(each).append("&"); });
    for (const auto& pair : expected) {
      all_expected += pair.first == name ? pair.second + "&" : "";
    }
    fuzz::Same("values of a name", all, all_expected);
    fuzz::Same("first value", form.Find(name).value_or("none"),
               all_expected.substr(0, form.Find(name).value_or("").size()));
  }
  return 0;
}
