#include "cgi/cgi.h"

#include <memory>
#include <optional>
#include <utility>

#include "cgi/cgi_run.h"
#include "http/response.h"
#include "web/exchange.h"

namespace TURTLE_SERVER {

Cgi::Cgi(Looper& looper, CgiOptions options) : programs_(looper, std::move(options)) {}

void Cgi::Handle(Exchange& exchange) {
  std::optional<CgiTarget> target =
      ParseCgiTarget(exchange.SubPath(), exchange.GetRequest().uri.RawPath());
  const int found = target ? programs_.Find(target->program) : 404;
  if (found != 200) {
    exchange.Abort(found, {});  // the server's own page, since there is no program
  } else if (exchange.GetRequest().method == Method::kTrace) {
    exchange.Reply(ErrorResponse(405).Set("Allow", "GET, HEAD, POST, PUT, DELETE, PATCH, OPTIONS"));
  } else if (programs_.Full()) {
    exchange.Reply(TooManyPrograms());  // before the client sends its body
  } else {
    auto run = std::make_unique<CgiRun>(programs_, exchange, std::move(*target));
    CgiRun& begun = *run;
    exchange.Attach(std::move(run));
    begun.Begin();
  }
}

}  // namespace TURTLE_SERVER
