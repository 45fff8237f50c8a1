#include "web/error_formats.h"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "http/status.h"
#include "log/log.h"

namespace TURTLE_SERVER {

void ErrorFormats::Add(std::string prefix, ErrorFormatter formatter) {
  RequirePrefix("error format", prefix);
  if (!formatter) {
    throw std::invalid_argument("error format \"" + prefix + "\": the function is empty");
  }
  formatters_.Add(std::move(prefix), std::move(formatter));
}

auto ErrorFormats::Find(std::string_view path, const Response& response) const noexcept
    -> const ErrorFormatter* {
  const int status = response.Status();
  const bool is_page = response.ErrorDetail() && status >= 400 && status <= 599;
  return is_page ? formatters_.Find(path).value : nullptr;
}

void ErrorFormats::Format(std::string_view path, ServerResponse& response) const noexcept {
  const ErrorFormatter* formatter = Find(path, response.Head());
  if (formatter == nullptr) {
    return;
  }
  try {
    const std::string detail = response.TakeErrorDetail().value_or("");
    ServerResponse formatted = response;
    (*formatter)(response.Status(), detail, formatted);
    response = std::move(formatted);
  } catch (...) {
    LogException("error format");
  }
}

auto ErrorFormats::Formatted(std::string_view path, const Response& response) const noexcept
    -> std::optional<Response> {
  if (Find(path, response) == nullptr) {
    return std::nullopt;
  }
  try {
    ServerResponse formatted(response);
    Format(path, formatted);
    return formatted.Whole();
  } catch (...) {
    LogException("error format");
    return std::nullopt;
  }
}

void ProblemJson(int status, std::string_view detail, ServerResponse& response) {
  nlohmann::json problem{{"status", status}};
  if (const std::string_view title = ReasonPhrase(status); !title.empty()) {
    problem["title"] = title;
  }
  if (!detail.empty()) {
    problem["detail"] = detail;
  }
  response.Json(problem).Set("Content-Type", "application/problem+json");
}

}  // namespace TURTLE_SERVER
