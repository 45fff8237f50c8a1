#include "response_cache/kept_reply.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "base/ascii.h"
#include "http/status.h"

namespace TURTLE_SERVER {

namespace {

using std::chrono::seconds;

constexpr std::string_view kLineEnd = "\r\n";

// These describe one connection, or are written again (RFC 9111, section 3.1).
constexpr std::array<std::string_view, 12> kNotKept{
    "Age",        "Connection",        "Content-Length",
    "Keep-Alive", "Proxy-Connection",  "Proxy-Authenticate",
    "Te",         "Transfer-Encoding", "Proxy-Authentication-Info",
    "Trailer",    "Upgrade",           "Proxy-Authorization"};

// The fields of the 200 that its 304 repeats (RFC 9110, section 15.4.5).
constexpr std::array<std::string_view, 6> kInNotModified{
    "Cache-Control", "Content-Location", "Date", "ETag", "Expires", "Vary"};

template <std::size_t kCount>
auto Names(const std::array<std::string_view, kCount>& names, const ReplyField& field) -> bool {
  return std::any_of(names.begin(), names.end(), [&field](std::string_view name) {
    return ascii::EqualIgnoreCase(name, field.name);
  });
}

void AppendField(const ReplyField& field, std::string& text) {
  text.append(field.name).append(": ").append(field.value).append(kLineEnd);
}

// Returns the tag in the form that is compared; "" for a malformed one.
auto OpaqueTag(std::string_view etag) -> std::string_view {
  etag.remove_prefix(etag.substr(0, 2) == "W/" ? 2 : 0);
  const bool quoted = etag.size() >= 2 && etag.front() == '"' && etag.back() == '"';
  return quoted ? etag : std::string_view();
}

}  // namespace

auto KeptReply::Answers(const CacheAsk& ask, TimePoint now) const noexcept -> bool {
  return kind_ == KeptKind::kReply && IsFresh(now) && !ask.wants_new && Age(now) <= ask.max_age &&
         expires_ - now >= ask.min_fresh && (for_cookies_ || !ask.has_cookie);
}

auto KeptReply::Age(TimePoint now) const noexcept -> seconds {
  return std::max(seconds(0), std::chrono::duration_cast<seconds>(now - born_));
}

auto KeptReply::GetValidators() const noexcept -> Validators {
  Validators validators;
  validators.opaque_tag = OpaqueTag(etag_);
  validators.strong = etag_.substr(0, 1) == "\"";
  validators.last_modified = last_modified_;
  return validators;
}

// It is recorded like any other response, as of the time when the plain one was made. How long it
// is fresh doesn't matter: it is found by way of the plain one.
auto KeptReply::Encoded(const Compression& compression, Coding coding, Effort effort,
                        HttpTime wall) const -> std::unique_ptr<KeptReply> {
  const std::string_view fields = Text().substr(0, text_.size() - body_bytes_);
  Response response(status_);
  for (const ReplyField& field : ReplyFields(fields)) {
    if (!Names(kNotKept, field)) {
      response.Add(field.name, field.value);
    }
  }
  response.Body(std::string(Text().substr(fields.size())));
  if (!compression.Encode(coding, effort, response)) {
    return nullptr;
  }
  const RecordedHead head(response, seconds(0), born_, wall, KeptCoding::kPlain);
  return head.Keep("", std::get<std::string>(response.Pieces().front()));
}

auto KeptReply::Weight() const noexcept -> std::size_t {
  // The key is in each loop's cache and in the shared table, whose entries take these 128 bytes.
  constexpr std::size_t kTableBytes = 128;
  std::size_t names = 0;
  for (const std::string& name : vary_) {
    names += sizeof(std::string) + name.capacity();
  }
  return sizeof *this + kTableBytes + 3 * key_.capacity() + names + status_line_.capacity() +
         text_.capacity() + etag_.capacity();
}

RecordedHead::RecordedHead(const Response& head, seconds default_ttl, TimePoint clock,
                           HttpTime wall, KeptCoding coding)
    : status_(head.Status()), clock_(clock), wall_(wall), coding_(coding) {
  std::string date;
  AppendHttpDate(wall, date);
  HeadContext context;
  context.date = date;
  head.AppendHead(context, text_);
  const std::string_view text = text_;
  status_line_ = text.substr(0, text.find(kLineEnd) + kLineEnd.size());
  fields_ = ReplyFields(text.substr(status_line_.size()));
  keeping_ = KeepingOf(status_, fields_, default_ttl, wall);
}

auto RecordedHead::Keep(std::string key, std::string_view body) const
    -> std::unique_ptr<KeptReply> {
  auto kept =
      std::make_unique<KeptReply>(std::move(key), KeptKind::kReply, clock_ + keeping_.lifetime);
  kept->status_ = status_;
  kept->for_cookies_ = keeping_.for_cookies;
  kept->coding_ = coding_;
  kept->born_ = clock_ - keeping_.age;
  kept->status_line_ = status_line_;
  kept->etag_ = fields_.Find("ETag").value_or("");
  if (const auto modified = fields_.Find("Last-Modified")) {
    kept->last_modified_ = ParseHttpDate(*modified, wall_);
  }
  std::string& text = kept->text_;
  text.reserve(text_.size() + body.size() + 32);
  const auto in_not_modified = [&](const ReplyField& field) {
    return Names(kInNotModified, field) ||
           (kept->etag_.empty() && ascii::EqualIgnoreCase(field.name, "Last-Modified"));
  };
  for (const ReplyField& field : fields_) {
    if (!Names(kNotKept, field) && !in_not_modified(field)) {
      AppendField(field, text);
    }
  }
  if (StatusAllowsBody(status_)) {
    text.append("Content-Length: ").append(std::to_string(body.size())).append(kLineEnd);
    kept->body_bytes_ = body.size();
  }
  kept->tag_at_ = text.size();
  for (const ReplyField& field : fields_) {
    if (in_not_modified(field)) {
      AppendField(field, text);
    }
  }
  // Only here, since this cache itself does not look for it by Accept-Encoding.
  const std::vector<std::string>& vary = keeping_.vary;
  if (coding_ == KeptCoding::kNegotiable &&
      !std::binary_search(vary.begin(), vary.end(), "accept-encoding")) {
    AppendField({"Vary", "Accept-Encoding"}, text);
  }
  text.append(kLineEnd).append(body.substr(0, kept->body_bytes_));
  return kept;
}

auto RecordedHead::KeepNames(std::string key) const -> std::unique_ptr<KeptReply> {
  auto kept = std::make_unique<KeptReply>(std::move(key), KeptKind::kVaries, TimePoint::max());
  kept->vary_ = keeping_.vary;
  return kept;
}

}  // namespace TURTLE_SERVER
