#include "web/middleware_chain.h"

#include <algorithm>

#include "http/http_error.h"
#include "log/log.h"

namespace TURTLE_SERVER {

namespace {

// Within a catch block: logs, unless middleware has made something other than a 5xx of it.
void LogUnhandled(const ServerRequest& request, const ServerResponse& response) {
  constexpr int kServerError = 500;
  if (response.Status() >= kServerError) {
    LogException(request.Head().Title("request handler").data());
  }
}

}  // namespace

auto MiddlewareChain::Enter(const ServerRequest& request, ServerResponse& response) const
    -> std::optional<std::size_t> {
  std::size_t entered = 0;
  try {
    for (const Middleware* each : around_) {
      ++entered;
      if (auto early = each->before ? each->before(request) : std::nullopt) {
        response = std::move(*early);
        return entered;
      }
    }
  } catch (...) {
    Catch(request, response);
    return entered;
  }
  return std::nullopt;
}

auto MiddlewareChain::HasAfter() const noexcept -> bool {
  return std::any_of(around_.begin(), around_.end(),
                     [](const Middleware* each) { return each->after != nullptr; });
}

auto MiddlewareChain::Leave(const ServerRequest& request, ServerResponse& response,
                            std::size_t entered) const -> bool {
  bool is_given = true;
  Format(request, response);
  for (std::size_t i = std::min(entered, around_.size()); i > 0; --i) {
    const Middleware& each = *around_[i - 1];
    try {
      if (each.after) {
        each.after(request, response);
      }
    } catch (...) {
      Replace(request, response);
      is_given = false;
    }
  }
  Format(request, response);  // one of them may have made it an error page
  return is_given;
}

void MiddlewareChain::Catch(const ServerRequest& request, ServerResponse& response) const {
  response.Reset();
  try {
    throw;
  } catch (const HttpError& error) {
    response.Page(error.Status(), error.what());
    Tell(request, response, error);
  } catch (const std::exception& error) {
    response.Page(500);
    Tell(request, response, error);
    LogUnhandled(request, response);
  } catch (...) {
    response.Page(500);
    LogUnhandled(request, response);
  }
}

// Within a catch block: middleware has thrown. The others see the response that replaces it.
void MiddlewareChain::Replace(const ServerRequest& request, ServerResponse& response) const {
  response.Reset();
  try {
    throw;
  } catch (const HttpError& error) {
    response.Page(error.Status(), error.what());
  } catch (...) {
    LogException(request.Head().Title("middleware").data());
    response.Page(500);
  }
  Format(request, response);
}

void MiddlewareChain::Tell(const ServerRequest& request, ServerResponse& response,
                           const std::exception& error) const {
  Format(request, response);
  for (const Middleware* each : around_) {
    try {
      if (each->error) {
        each->error(request, response, error);
      }
    } catch (...) {
      Replace(request, response);
    }
  }
}

}  // namespace TURTLE_SERVER
