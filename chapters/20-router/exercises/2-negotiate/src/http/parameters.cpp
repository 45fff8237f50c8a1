#include "http/parameters.h"

#include <algorithm>
#include <cstddef>

#include "base/ascii.h"

namespace TURTLE_SERVER {

namespace {

void SkipOws(std::string_view& text) {
  while (!text.empty() && ascii::IsOws(text.front())) {
    text.remove_prefix(1);
  }
}

// Cuts off the token at the front; "" if there is none.
auto TakeToken(std::string_view& text) -> std::string_view {
  const auto end = std::find_if_not(text.begin(), text.end(), ascii::IsToken);
  const std::string_view token = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(token.size());
  return token;
}

// True if a quoted value ends before `rest`: then the next parameter follows, or nothing.
auto EndsBefore(std::string_view rest) -> bool {
  SkipOws(rest);
  return rest.empty() || rest.front() == ';';
}

// Cuts off the quoted string whose opening quote is at the front. False: it has no end.
auto TakeQuoted(std::string_view& text, std::string_view& value, Backslash backslash) -> bool {
  const bool is_form = backslash == Backslash::kForm;
  std::size_t end = 1;
  while (end < text.size() && text[end] != '"') {
    const bool protects =
        text[end] == '\\' &&
        !(is_form && (text.substr(end + 1, 1) != "\"" || EndsBefore(text.substr(end + 2))));
    end += protects ? 2 : 1;
  }
  if (end >= text.size()) {
    return false;
  }
  value = text.substr(1, end - 1);
  text.remove_prefix(end + 1);
  return true;
}

}  // namespace

auto WithoutParameters(std::string_view value) -> std::string_view {
  return ascii::TrimOws(value.substr(0, value.find(';')));
}

auto TakeParameter(std::string_view& rest, Parameter& parameter, Backslash backslash)
    -> ParameterState {
  SkipOws(rest);
  while (!rest.empty() && rest.front() == ';') {
    rest.remove_prefix(1);
    SkipOws(rest);
    if (rest.empty() || rest.front() == ';') {
      continue;  // "a; ; b=c" has one (RFC 9110, section 5.6.6)
    }
    parameter.name = TakeToken(rest);
    if (parameter.name.empty() || rest.empty() || rest.front() != '=') {
      return ParameterState::kBad;
    }
    rest.remove_prefix(1);
    if (!rest.empty() && rest.front() == '"') {
      return TakeQuoted(rest, parameter.value, backslash) ? ParameterState::kTaken
                                                          : ParameterState::kBad;
    }
    parameter.value = TakeToken(rest);
    return parameter.value.empty() ? ParameterState::kBad : ParameterState::kTaken;
  }
  return rest.empty() ? ParameterState::kEnd : ParameterState::kBad;
}

}  // namespace TURTLE_SERVER
