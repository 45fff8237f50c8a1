#include "web/exchange.h"

#include <stdexcept>
#include <string>

#include "core/looper.h"
#include "web/session.h"

namespace TURTLE_SERVER {

void Exchange::Reply(const Response& response) {
  if (replied_) {
    throw std::logic_error("a handler has replied twice to one request");
  }
  if (response.Status() < 200) {
    throw std::invalid_argument("reply with status " + std::to_string(response.Status()) +
                                ": not a final one");
  }
  try {
    SendWhole(response);
  } catch (...) {  // a part of it may be queued, and no response can follow that
    GetLooper().DeleteConnection(GetConnection().GetFd());
    throw;
  }
  replied_ = true;
  session_->Wake();
}
auto Exchange::Id() const noexcept -> ExchangeId { return {GetConnection().Id(), number_}; }

auto Exchange::GetConnection() const noexcept -> Connection& { return session_->GetConnection(); }

auto Exchange::GetLooper() const noexcept -> Looper& { return session_->GetLooper(); }

void Exchange::Open(Session& session, std::uint32_t number) {
  session_ = &session;
  prefix_bytes_ = 0;
  number_ = number;
  replied_ = false;
}

void Exchange::Close() noexcept {
  state_.reset();
  request_.Clear();
}

}  // namespace TURTLE_SERVER
