#include "web/exchange.h"

#include <stdexcept>

#include "core/looper.h"
#include "web/http_session.h"

namespace TURTLE_SERVER {

void Exchange::Reply(const Response& response) {
  if (replied_) {
    throw std::logic_error("a handler has replied twice to one request");
  }
  try {
    session_->SendReply(*this, response);
  } catch (...) {  // a part of it may be queued, and nothing can follow that
    GetLooper().DeleteConnection(GetConnection().GetFd());
    throw;
  }
  replied_ = true;
}

auto Exchange::Id() const noexcept -> ExchangeId { return session_->CurrentId(); }

auto Exchange::GetConnection() const noexcept -> Connection& { return session_->GetConnection(); }

auto Exchange::GetLooper() const noexcept -> Looper& { return *GetConnection().GetLooper(); }

void Exchange::Open(HttpSession& session) {
  session_ = &session;
  prefix_bytes_ = 0;
  replied_ = false;
}

void Exchange::Close() noexcept {
  state_.reset();
  request_.Clear();
}

}  // namespace TURTLE_SERVER
