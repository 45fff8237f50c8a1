#include "reference/form.h"

#include <cstdlib>

#include "reference/text.h"

namespace TURTLE_SERVER::reference {

namespace {

// "Percent-decode", section 1.3, after "replace any 0x2B (+) with 0x20 (SP)".
auto Decode(std::string text) -> std::string {
  for (char& c : text) {
    c = c == '+' ? ' ' : c;
  }
  std::string output;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string digits = text.substr(at + 1, 2);
    if (text[at] == '%' && digits.size() == 2 && IsAll(digits, IsHex)) {
      output += static_cast<char>(std::strtoul(digits.c_str(), nullptr, 16));
      at += 2;
    } else {
      output += text[at];
    }
  }
  return output;
}

}  // namespace

auto ReadForm(std::string_view text) -> Pairs {
  Pairs pairs;
  for (const std::string_view sequence : Split(text, "&")) {
    if (sequence.empty()) {
      continue;
    }
    const std::vector<std::string_view> pieces = Split(sequence, "=");
    const std::string_view value =
        pieces.size() > 1 ? sequence.substr(pieces[0].size() + 1) : std::string_view();
    pairs.emplace_back(Decode(std::string(pieces[0])), Decode(std::string(value)));
  }
  return pairs;
}

}  // namespace TURTLE_SERVER::reference
