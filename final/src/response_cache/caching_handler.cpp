#include "response_cache/caching_handler.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <optional>
#include <string>
#include <utility>

#include "log/log.h"
#include "web/exchange.h"

namespace TURTLE_SERVER {

namespace {

// Enough for two responses; after that a request no longer waits for others.
constexpr int kMaxWaits = 2;

auto WallClock() -> HttpTime { return HttpTime(std::time(nullptr)); }

// Appends the key of a request. The scheme is a part of the target, since a program may redirect
// http to https; it comes last, so that AppendTargetKey() is the beginning of both.
void AppendKey(const Exchange& exchange, std::string& key) {
  AppendCacheKey(exchange.GetRequest(), key);
  if (exchange.IsSecure()) {
    key.append("\n\nhttps");
  }
}

// Returns whether a response that has begun may be sent in other codings. A handler that has called
// KeepPlain() is not asked at a hit, so the cache remembers it.
auto CodingOf(const Exchange& exchange, const Response& head) -> KeptCoding {
  if (!exchange.Compresses()) {
    return KeptCoding::kUnknown;
  }
  return exchange.GetCompression() != nullptr && Compression::IsNegotiable(head)
             ? KeptCoding::kNegotiable
             : KeptCoding::kPlain;
}

}  // namespace

class CachingHandler::LocalReply : public Pinned {
 public:
  explicit LocalReply(std::shared_ptr<const KeptReply> kept) : kept_(std::move(kept)) {}
  [[nodiscard]] auto Kept() const noexcept -> const KeptReply& { return *kept_; }

  // The same in another coding; empty: there is none.
  [[nodiscard]] auto Variant(Coding coding) noexcept -> PinTo<LocalReply>& {
    return variants_[static_cast<std::size_t>(coding)];
  }

  // Notes that a coding doesn't make it shorter.
  void SetUseless(Coding coding) noexcept { useless_[static_cast<std::size_t>(coding)] = true; }
  [[nodiscard]] auto IsUseless(Coding coding) const noexcept -> bool {
    return useless_[static_cast<std::size_t>(coding)];
  }

  // Notes that the cache has no room for another variant.
  void SetFull() noexcept { is_full_ = true; }
  [[nodiscard]] auto IsFull() const noexcept -> bool { return is_full_; }

  [[nodiscard]] auto Weight() const noexcept -> std::size_t {
    std::size_t weight = kept_->Weight() + sizeof *this;
    for (const PinTo<LocalReply>& variant : variants_) {
      weight += variant ? variant->Weight() : 0;
    }
    return weight;
  }

 private:
  const std::shared_ptr<const KeptReply> kept_;  // the loops that keep it share it
  std::array<PinTo<LocalReply>, kCodingCount> variants_;
  std::array<bool, kCodingCount> useless_{};
  bool is_full_ = false;
};

// Records a response. A failure here does no harm to the response itself.
class CachingHandler::Recorder : public ReplyTap {
 public:
  Recorder(CachingHandler& handler, Exchange& exchange, const CacheAsk& ask)
      : handler_(handler), exchange_(exchange), ask_(ask) {}
  Recorder(const Recorder&) = delete;
  auto operator=(const Recorder&) -> Recorder& = delete;
  ~Recorder() override { Stop(); }

  void HearFor(std::shared_ptr<Making> making) noexcept { making_ = std::move(making); }

  void OnHead(const Response& head) noexcept override {
    Try([&] {
      head_.emplace(head, handler_.options_.default_ttl, handler_.looper_.Now(), WallClock(),
                    CodingOf(exchange_, head));
      const Keeping& keeping = head_->GetKeeping();
      if (!keeping.allowed) {
        Refuse();
      } else if (ask_.has_cookie && !keeping.for_cookies) {
        Stop();
      }
    });
  }

  void OnBody(std::string_view bytes) noexcept override {
    Try([&] {
      if (body_.size() + bytes.size() > handler_.options_.max_reply_bytes) {
        Refuse();
      } else if (handler_.heard_bytes_ + bytes.size() > handler_.options_.max_bytes) {
        Stop();  // too much is being recorded at once
      } else {
        body_ += bytes;
        handler_.heard_bytes_ += bytes.size();
        if (!exchange_.Replied() && !exchange_.CanWrite()) {
          Stop();  // a client that reads slowly must not delay the waiting ones
        }
      }
    });
  }

  void OnFile() noexcept override {
    Try([this] { Refuse(); });
  }

  void OnAbort(int /*status*/) noexcept override { Stop(); }

  void OnEnd() noexcept override {
    Try([this] {
      if (!handler_.KeepReply(*making_, *head_, exchange_, body_)) {
        Refuse();
      }
      Stop();
    });
  }

 private:
  template <typename Step>
  void Try(const Step& step) noexcept {
    if (!making_) {
      return;
    }
    try {
      step();
    } catch (...) {
      LogException("keeping a response");
      Stop();
    }
  }

  // Stores no response, and tells others not to wait, unless it is an error that may pass.
  void Refuse() {
    if (ask_.use == CacheUse::kShared && head_->Status() < 500) {
      handler_.KeepNever(*making_);
    }
    Stop();
  }

  void Stop() noexcept {
    handler_.heard_bytes_ -= body_.size();
    std::string().swap(body_);
    if (making_) {
      handler_.End(*std::exchange(making_, nullptr));
    }
  }

  CachingHandler& handler_;
  Exchange& exchange_;
  const CacheAsk ask_;
  std::shared_ptr<Making> making_;  // nullptr: the recording has ended
  std::optional<RecordedHead> head_;
  std::string body_;
};

// Drops the cached responses of a target, unless the request turns out to be refused. This happens
// before the client's response is sent, so the client can't be faster. If the response is never
// seen, the effect of the request is unknown.
class CachingHandler::Invalidation : public ReplyTap {
 public:
  Invalidation(ReplyTable& table, const Request& request) : table_(table) {
    AppendTargetKey(request, key_);
  }
  Invalidation(const Invalidation&) = delete;
  auto operator=(const Invalidation&) -> Invalidation& = delete;
  ~Invalidation() override { Drop(); }

  void OnHead(const Response& head) noexcept override {
    due_ = head.Status() < 400;
    Drop();
  }

  // A program that broke down (5xx) may have changed data before.
  void OnAbort(int status) noexcept override {
    due_ = status >= 500;
    Drop();
  }

 private:
  void Drop() noexcept {
    if (due_) {
      try {
        table_.Drop(key_);
        due_ = false;
      } catch (...) {
        LogException("dropping kept replies");
      }
    }
  }

  ReplyTable& table_;
  std::string key_;
  bool due_ = true;
};

CachingHandler::CachingHandler(Looper& looper, const ResponseCacheOptions& options,
                               std::shared_ptr<ReplyTable> table,
                               std::unique_ptr<RequestHandler> inner)
    : looper_(looper),
      options_(options),
      table_(std::move(table)),
      entries_(options.max_bytes, options.max_reply_bytes),
      waiters_(looper, [this](Exchange& exchange, int waits) { Serve(exchange, waits); }),
      inner_(std::move(inner)) {}

void CachingHandler::Serve(Exchange& exchange, int waits) {
  const Request& request = exchange.GetRequest();
  const CacheAsk ask = AskOf(request);
  if (ask.use == CacheUse::kNone) {
    PassBy(exchange);
    return;
  }
  const PinTo<LocalReply> local = Look(exchange);
  if (local && local->Kept().Answers(ask, looper_.Now())) {
    Answer(exchange, local);
  } else if (ask.only_if_cached) {
    exchange.Reply(ErrorResponse(504, "There is no stored response."));
  } else if (request.method == Method::kHead) {
    inner_->Handle(exchange);
  } else if (local || ask.use == CacheUse::kAlone || waits >= kMaxWaits) {
    Make(exchange, ask, nullptr);
  } else if (const Joined joined = table_->Join(key_, looper_.Now(), waiters_); joined.leads) {
    Make(exchange, ask, joined.making);
  } else if (joined.making) {
    waiters_.Add(exchange, joined.making, waits + 1);
  } else {
    Serve(exchange, waits + 1);  // it was stored a moment ago
  }
}

// Returns the response stored for the request, by this loop or another one; key_ is then its key.
auto CachingHandler::Look(const Exchange& exchange) -> PinTo<LocalReply> {
  const Request& request = exchange.GetRequest();
  key_.clear();
  AppendKey(exchange, key_);
  PinTo<LocalReply> local = Find(key_);
  if (local && local->Kept().Kind() == KeptKind::kVaries) {
    AppendVariant(local->Kept().Vary(), request, key_);
    local = Find(key_);
  }
  return local;
}

auto CachingHandler::Find(const std::string& key) -> PinTo<LocalReply> {
  const TimePoint now = looper_.Now();
  if (const PinTo<LocalReply>* const found = entries_.Find(key)) {
    if ((*found)->Kept().IsFresh(now)) {
      return *found;
    }
    entries_.Erase(key);
  }
  std::shared_ptr<const KeptReply> kept = table_->Find(key, now);
  return kept ? KeepLocally(std::move(kept)) : PinTo<LocalReply>();
}

void CachingHandler::Answer(Exchange& exchange, const PinTo<LocalReply>& plain) {
  if (plain->Kept().GetCoding() == KeptCoding::kPlain) {
    exchange.KeepPlain();
  }
  const PinTo<LocalReply> local = Negotiated(exchange, plain);
  const KeptReply& kept = local->Kept();
  const Request& request = exchange.GetRequest();
  const bool same =
      kept.Status() == 200 && HasConditions(request.headers) &&
      EvaluateConditions(request.method, request.headers, kept.GetValidators(), WallClock())
              .action == ConditionResult::Action::kNotModified;
  std::array<char, 24> digits;  // left uninitialised
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(),
                                 static_cast<std::int64_t>(kept.Age(looper_.Now()).count()))
                       .ptr;
  start_.assign(same ? "HTTP/1.1 304 Not Modified\r\n" : kept.StatusLine());
  start_.append("Age: ").append(digits.data(), end).append("\r\n");
  ReadyReply reply;
  reply.text = same ? kept.NotModifiedText() : kept.Text();
  reply.body_bytes = same ? 0 : kept.BodyBytes();
  reply.pin = local;
  reply.negotiated = plain->Kept().GetCoding() == KeptCoding::kNegotiable;
  exchange.Reply(same ? 304 : kept.Status(), start_, reply);
}

// Returns the response in the coding that the client likes best.
auto CachingHandler::Negotiated(const Exchange& exchange, const PinTo<LocalReply>& plain)
    -> PinTo<LocalReply> {
  const Compression* const compression = exchange.GetCompression();
  if (compression == nullptr || plain->Kept().GetCoding() != KeptCoding::kNegotiable) {
    return plain;
  }
  const Coding coding =
      compression->CodingFor(exchange.GetRequest(), compression->Options().codings);
  if (coding == Coding::kIdentity || plain->IsUseless(coding)) {
    return plain;
  }
  if (const PinTo<LocalReply>& variant = plain->Variant(coding)) {
    return variant;
  }
  try {
    return MakeVariant(*compression, plain, coding);
  } catch (...) {
    LogException("encoding a stored response");
    plain->Variant(coding) = {};
    return plain;
  }
}

// Without room, a variant is for one client, as any response that isn't stored.
auto CachingHandler::MakeVariant(const Compression& compression, const PinTo<LocalReply>& plain,
                                 Coding coding) -> PinTo<LocalReply> {
  const Effort effort = plain->IsFull() ? Effort::kLow : Effort::kHigh;
  auto coded = plain->Kept().Encoded(compression, coding, effort, WallClock());
  if (!coded) {
    plain->SetUseless(coding);
    return plain;
  }
  PinTo<LocalReply> variant = MakePinned<LocalReply>(std::move(coded));
  if (!plain->IsFull()) {
    plain->Variant(coding) = variant;
    if (!Store(plain)) {
      plain->Variant(coding) = {};
      plain->SetFull();
      Store(plain);
    }
  }
  return variant;
}

void CachingHandler::PassBy(Exchange& exchange) {
  const Request& request = exchange.GetRequest();
  if (Invalidates(request.method)) {
    exchange.Tap(std::make_unique<Invalidation>(*table_, request));
  }
  inner_->Handle(exchange);
}

// Lets the handler make a response, and records it. `making` is nullptr if no request waits for it.
void CachingHandler::Make(Exchange& exchange, const CacheAsk& ask,
                          const std::shared_ptr<Making>& making) {
  try {
    auto recorder = std::make_unique<Recorder>(*this, exchange, ask);
    recorder->HearFor(making ? making : table_->Begin(key_));
    exchange.Tap(std::move(recorder));
  } catch (...) {
    if (making) {
      End(*making);
    }
    throw;
  }
  inner_->Handle(exchange);
}

// @return false if there is no room for it
auto CachingHandler::Keep(const Making& making, std::unique_ptr<KeptReply> kept) -> bool {
  std::shared_ptr<const KeptReply> shared = table_->Keep(making, std::move(kept));
  return !shared || KeepLocally(std::move(shared));
}

auto CachingHandler::KeepLocally(std::shared_ptr<const KeptReply> kept) -> PinTo<LocalReply> {
  PinTo<LocalReply> local = MakePinned<LocalReply>(std::move(kept));
  return Store(local) ? local : PinTo<LocalReply>();
}

// Takes the response in, or in again with what has been added to it.
auto CachingHandler::Store(const PinTo<LocalReply>& local) -> bool {
  return entries_.Insert(local->Kept().Key(), local, local->Weight()) != nullptr;
}

auto CachingHandler::KeepReply(const Making& making, const RecordedHead& head,
                               const Exchange& exchange, std::string_view body) -> bool {
  const std::vector<std::string>& names = head.GetKeeping().vary;
  std::string key;
  AppendKey(exchange, key);
  if (!names.empty()) {
    const PinTo<LocalReply> known = Find(key);
    if (!(known && known->Kept().Vary() == names) && !Keep(making, head.KeepNames(key))) {
      return false;
    }
    AppendVariant(names, exchange.GetRequest(), key);
  }
  return Keep(making, head.Keep(std::move(key), body));
}

// The note is renewed before it expires: otherwise all requests would wait for each other from time
// to time.
void CachingHandler::KeepNever(const Making& making) {
  const TimePoint now = looper_.Now();
  const PinTo<LocalReply> known = Find(making.Key());
  if (known && known->Kept().Kind() == KeptKind::kNever &&
      known->Kept().IsFresh(now + kNeverTime / 2)) {
    return;
  }
  Keep(making, std::make_unique<KeptReply>(making.Key(), KeptKind::kNever, now + kNeverTime));
}

void CachingHandler::End(const Making& making) noexcept {
  for (ReplyWaiters* const waiters : table_->End(making)) {
    waiters->Tell();
  }
}

// Declared in response_cache/response_cache.h, which users include.
auto Cached(const ResponseCacheOptions& options, HandlerFactory factory, CacheMade made)
    -> HandlerFactory {
  return [options, factory = std::move(factory), made = std::move(made),
          table = std::make_shared<ReplyTable>()](Looper& looper) {
    auto handler = std::make_unique<CachingHandler>(looper, options, table, factory(looper));
    if (made) {
      made(looper, handler->SharedStats());
    }
    return handler;
  };
}

}  // namespace TURTLE_SERVER
