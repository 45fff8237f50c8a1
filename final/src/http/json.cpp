#include "http/json.h"

#include <cstddef>
#include <nlohmann/json.hpp>

#include "base/json_fault.h"
#include "http/http_error.h"

namespace TURTLE_SERVER {

namespace {

using Json = nlohmann::json;

// True if some place of `text` may be too deep. As long as the text is JSON, the scan counts as the
// parser does. After a mistake it may err in either direction, but the parser stops there.
auto LooksTooDeep(std::string_view text) noexcept -> bool {
  std::ptrdiff_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '"':
        in_string = !in_string;
        break;
      case '\\':
        ++i;  // an escaped quote ends nothing
        break;
      case '[':
      case '{':
        depth += in_string ? 0 : 1;
        if (depth > kMaxJsonDepth) {
          return true;
        }
        break;
      case ']':
      case '}':
        depth -= in_string ? 0 : 1;
        break;
      default:
        break;
    }
  }
  return false;
}

// Called for each array and object that begins, before the parser enters it.
auto CheckDepth(int depth, Json::parse_event_t event, const Json& parsed) -> bool {
  static_cast<void>(parsed);
  const bool begins =
      event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
  if (begins && depth >= kMaxJsonDepth) {
    throw HttpError(400, "The JSON is deeper than " + std::to_string(kMaxJsonDepth) + " levels.");
  }
  return true;  // keep it
}

// With a callback, the parser records every level and every key. So it gets one only when it must
// find out which comes first, the depth or another mistake.
auto Parse(std::string_view text) -> Json {
  return LooksTooDeep(text) ? Json::parse(text.begin(), text.end(), CheckDepth)
                            : Json::parse(text.begin(), text.end());
}

auto WrongAt(const JsonFault& fault) -> HttpError {
  return HttpError(400, "The JSON is wrong at line " + std::to_string(fault.line) + ", column " +
                            std::to_string(fault.column) + ": " + fault.reason + ".");
}

// Appends the steps from `from` to `to`, one of the values in it, to `path`. The path is searched
// for when something is wrong with the value, so that good values need not know where they are.
auto FindPath(const Json& from, const Json* to, std::string& path) -> bool {
  if (&from == to) {
    return true;
  }
  const std::size_t before = path.size();
  for (auto each = from.begin(); from.is_structured() && each != from.end(); ++each) {
    if (from.is_object()) {
      path.append(path.empty() ? "" : ".").append(each.key());
    } else {
      path.append("[").append(std::to_string(each - from.begin())).append("]");
    }
    if (FindPath(*each, to, path)) {
      return true;
    }
    path.resize(before);
  }
  return false;
}

auto Mismatch(const std::string& path, std::string_view wanted, const Json& found) -> std::string {
  const std::string type = found.type_name();
  const char* const article = found.is_null() ? "" : found.is_structured() ? "an " : "a ";
  return path + ": expected " + std::string(wanted) + ", not " + article + type;
}

[[noreturn]] void ThrowRefusal(const std::string& detail) {
  try {
    throw;
  } catch (const Json::exception&) {
    throw HttpError(400, detail);
  }
}

}  // namespace

auto ParseJson(std::string_view text) -> nlohmann::json {
  try {
    Json value = Parse(text);
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

RequestJson::RequestJson(nlohmann::json root)
    : root_(std::make_shared<const nlohmann::json>(std::move(root))), value_(root_.get()) {}

auto RequestJson::Value() const&& -> nlohmann::json { return *value_; }

RequestJson::operator nlohmann::json() const { return *value_; }

auto RequestJson::Path() const -> std::string {
  std::string path;
  return FindPath(*root_, value_, path) && !path.empty() ? path : "the JSON";
}

void RequestJson::RefuseInteger(const std::string& min, const std::string& max) const {
  throw HttpError(400, value_->is_number()
                           ? Path() + ": expected an integer from " + min + " to " + max
                           : Mismatch(Path(), "an integer", *value_));
}

void RequestJson::RefuseMember(std::string_view name) const {
  const std::string member = (IsRoot() ? "" : Path() + ".") + std::string(name);
  ThrowRefusal(value_->is_object() ? member + " is missing"
                                   : Mismatch(Path(), "an object", *value_));
}

void RequestJson::RefuseElement(std::size_t index) const {
  const std::string element = (IsRoot() ? "" : Path()) + "[" + std::to_string(index) + "]";
  ThrowRefusal(value_->is_array() ? element + " is missing"
                                  : Mismatch(Path(), "an array", *value_));
}

void RequestJson::Refuse(std::string_view wanted) const {
  ThrowRefusal(wanted.empty() ? Path() + " does not have the expected form"
                              : Mismatch(Path(), wanted, *value_));
}

}  // namespace TURTLE_SERVER
