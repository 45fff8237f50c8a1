#include "http/json.h"

#include <nlohmann/json.hpp>

#include "base/json_fault.h"

namespace TURTLE_SERVER {

namespace {

using Json = nlohmann::json;

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

auto WrongAt(const JsonFault& fault) -> HttpError {
  return HttpError(400, "The JSON is wrong at line " + std::to_string(fault.line) + ", column " +
                            std::to_string(fault.column) + ": " + fault.reason + ".");
}

}  // namespace

auto ParseJson(std::string_view text) -> nlohmann::json {
  try {
    Json value = Json::parse(text.begin(), text.end(), CheckDepth);
    if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
      throw WrongAt(FindJsonFault(text, nul + 1));  // the parser takes it for the end
    }
    return value;
  } catch (const Json::parse_error& error) {
    throw WrongAt(FindJsonFault(text, error.byte));
  } catch (const Json::out_of_range&) {  // a number beyond every double
    throw HttpError(400, "The JSON holds a number that is too large.");
  }
}

auto FormatJson(const nlohmann::json& value) -> std::string {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace TURTLE_SERVER
