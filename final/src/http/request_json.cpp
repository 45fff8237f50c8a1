#include "http/request_json.h"

#include <nlohmann/json.hpp>

#include "http/http_error.h"

namespace TURTLE_SERVER {

RequestJson::RequestJson(nlohmann::json root)
    : root_(std::make_shared<const nlohmann::json>(std::move(root))), value_(root_.get()) {}

auto RequestJson::Value() const&& -> nlohmann::json { return *value_; }

RequestJson::operator nlohmann::json() const { return *value_; }

void RequestJson::Refuse() {
  throw HttpError(400, "The JSON is not of the form that is wanted here.");
}

void RequestJson::ThrowRefusal() {
  try {
    throw;
  } catch (const nlohmann::json::exception&) {
    Refuse();
  }
}

}  // namespace TURTLE_SERVER
