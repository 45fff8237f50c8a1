#include "http/request.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "http/view_shift.h"

namespace TURTLE_SERVER {

auto Request::Title(const char* what) const noexcept -> std::array<char, 256> {
  constexpr std::size_t kMaxMethod = 20;
  constexpr std::size_t kMaxPath = 180;  // the line must hold the reason, too
  const auto length = [](std::string_view text, std::size_t most) {
    return static_cast<int>(std::min(text.size(), most));
  };
  std::array<char, 256> title{};
  std::snprintf(title.data(), title.size(), "%.*s %.*s: %s", length(method_text, kMaxMethod),
                method_text.data(), length(uri.Path(), kMaxPath), uri.Path().data(), what);
  return title;
}

void Request::Clear() {
  // Member by member: assigning a fresh Request would free the memory of headers and path. The Uri
  // is left to its own Parse(), which drops the previous one.
  method = Method::kOther;
  method_text = target = host = head = {};
  minor_version = 1;
  headers.Clear();
  framing = {};
  keep_alive = true;
  expectation = Expectation::kNone;
  owned_.reset();
}

void Request::Detach() {
  if (owned_ != nullptr || head.empty()) {
    return;
  }
  owned_ = std::make_unique<char[]>(head.size());
  std::memcpy(owned_.get(), head.data(), head.size());
  const ViewShift shift{head.data(), owned_.get()};
  shift(head);
  shift(method_text);
  shift(target);
  shift(host);
  uri.Rebase(shift);
  headers.Rebase(shift);
}

}  // namespace TURTLE_SERVER
