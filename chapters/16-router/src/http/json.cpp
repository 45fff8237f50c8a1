#include "http/json.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>

namespace TURTLE_SERVER {

namespace {

using Json = nlohmann::json;

// "line 3, column 14": where byte number `byte` is; the first has the number 1.
auto PlaceOf(std::string_view text, std::size_t byte) -> std::string {
  const std::string_view before = text.substr(0, byte - 1);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t column = before.size() - (before.rfind('\n') + 1);  // npos + 1 is 0
  return "line " + std::to_string(line) + ", column " + std::to_string(column + 1);
}

// Of "[…] parse error at line 1, column 2: syntax error while parsing value - invalid literal; last
// read: 'x'; expected …": what is wrong and what was expected, without the client's own bytes.
auto Reason(const Json::parse_error& error) -> std::string {
  constexpr std::string_view kBegin = " - ";
  std::string text = error.what();
  const std::size_t begin = text.find(kBegin);
  text.erase(0, begin == std::string::npos ? 0 : begin + kBegin.size());
  const std::size_t read = text.find("; last read: ");
  if (read != std::string::npos) {
    const std::size_t expected = text.rfind("; expected ");  // npos: not said
    text.erase(read, std::max(expected, read) - read);
  }
  return text;
}

// Called with each array and object that begins, before the parser goes on into it.
auto CheckDepth(int depth, Json::parse_event_t event, const Json& parsed) -> bool {
  static_cast<void>(parsed);
  const bool begins =
      event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
  if (begins && depth >= kMaxJsonDepth) {
    throw HttpError(400, "The JSON is deeper than " + std::to_string(kMaxJsonDepth) + " levels.");
  }
  return true;  // keep it
}

}  // namespace

auto ParseJson(std::string_view text) -> nlohmann::json {
  try {
    return Json::parse(text.begin(), text.end(), CheckDepth);
  } catch (const Json::parse_error& error) {
    throw HttpError(
        400, "The JSON is wrong at " + PlaceOf(text, error.byte) + ": " + Reason(error) + ".");
  } catch (const Json::out_of_range& error) {  // a number beyond every double
    throw HttpError(400, "The JSON holds a number that is too large.");
  }
}

auto FormatJson(const nlohmann::json& value) -> std::string {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace TURTLE_SERVER
