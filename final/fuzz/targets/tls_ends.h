// A client, a watched channel, and the client's bytes on their way between both.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/read_scratch.h"
#include "support/pattern.h"
#include "targets/check.h"
#include "targets/tls_client.h"
#include "targets/tls_novelty.h"
#include "targets/tls_watch.h"
#include "tls/handshake_turns.h"

namespace TURTLE_SERVER::fuzz {

/// Both ends of one session. Each call that finds a fault aborts.
class TlsEnds {
 public:
  TlsEnds(HandshakeTurns& turns, ConnectionId id, TlsWish wish)
      : wish_(std::move(wish)), watch_(turns, id) {}

  /// Runs an action of the client, whose bytes are on their way then; nothing if it has not begun.
  template <typename Action>
  void AsClient(const Action& act) {
    if (client_) {
      act(*client_);
      wire_ += client_->Take();
      if (is_cut_) {
        is_whole_ = is_whole_ && wire_.empty();
        wire_.clear();
      }
      Compare();
    }
  }

  /// The client begins, or goes on with the handshake.
  void GoOn() {
    if (!client_) {
      client_.emplace(wish_);
    }
    AsClient([](TlsClient& client) { client.GoOn(); });
  }

  /// The client writes that many bytes.
  void Write(std::size_t count) {
    AsClient([count](TlsClient& client) { client.Write(Text(client.Sent().size(), count)); });
  }

  /// The client sends a record that OpenSSL would not make.
  void SealByHand(int type, const std::string& plain) {
    AsClient([&](TlsClient& client) { wire_ += client.SealByHand(type, plain); });
  }

  /// Changes a byte on its way. @param place its place, in 256ths of all that are on their way
  void Change(std::size_t place, unsigned char mask) {
    place = place * wire_.size() / 256;
    if (place < wire_.size() && mask != 0) {
      wire_[place] = static_cast<char>(static_cast<unsigned char>(wire_[place]) ^ mask);
      is_whole_ = false;
    }
  }

  /// Replaces bytes on their way.
  void Replace(std::size_t place, std::size_t count, const std::string& by) {
    place = std::min(place, wire_.size());
    is_whole_ = is_whole_ && by.empty() && std::min(count, wire_.size() - place) == 0;
    wire_.replace(place, count, by);
  }

  /// The first record on its way comes twice.
  void Repeat() {
    constexpr std::size_t kHead = 5;
    if (wire_.size() >= kHead) {
      Replace(0, 0,
              wire_.substr(0, kHead + static_cast<unsigned char>(wire_[3]) * std::size_t{256} +
                                  static_cast<unsigned char>(wire_[4])));
    }
  }

  /// No byte comes after the next few.
  void Cut(std::size_t place) {
    Replace(place, std::string::npos, {});
    is_cut_ = true;
  }

  /// Bytes arrive, as many as a connection would read now.
  void Deliver(std::size_t count) {
    TakeTurn();
    while (watch_.MayOpen() && count > 0 && !wire_.empty()) {
      const std::string part = wire_.substr(0, std::min(count, ReadScratch::kSize));
      wire_.erase(0, part.size());
      count -= part.size();
      Open(part);
    }
  }

  /// The channel opens what it has kept, if its turn has come.
  void TakeTurn() {
    if (watch_.MayOpen() && watch_.Get().Kept() == KeptInput::kReady) {
      Open({});
    }
  }

  /// The server has output.
  void Seal(std::size_t count) {
    if (watch_.MaySeal()) {
      GiveClient(watch_.Seal(Text(watch_.Sealed().size(), count)));
    }
  }

  /// The server ends its direction.
  void SealEnd() { GiveClient(watch_.SealEnd()); }

  /// True if the channel waits for its turn.
  [[nodiscard]] auto Waits() const -> bool { return watch_.Get().Kept() == KeptInput::kWaits; }

  /// Goes on as a good client would, if everything was good so far.
  /// @return true if all is done; false: it goes on in the next round
  auto Settle() -> bool {
    if (!is_whole_ || is_cut_ || watch_.IsEnded() || (client_ && !client_->IsGood())) {
      Deliver(std::string::npos);
      if (is_whole_ && wire_.empty() && watch_.MayOpen() && client_ && client_->AsksTooMuch()) {
        Fail("a flood of questions about keys is answered");
      }
      return !Waits();
    }
    GoOn();
    Deliver(std::string::npos);
    if (watch_.Status() == ChannelStatus::kBroken) {
      if (!MustRefuse()) {
        Fail("a good client is refused: " + client_->Reason());
      }
      return true;
    }
    if (!client_->IsOpen() || !watch_.Get().CanSeal() || !wire_.empty()) {
      return false;
    }
    Converse();
    return true;
  }

 private:
  static constexpr std::size_t kMostText = std::size_t{256} * 1024;  // of each side

  // Returns a part of the text that a side writes; "" after its end.
  static auto Text(std::size_t begin, std::size_t count) -> std::string_view {
    static const std::string text = test::Pattern(kMostText);
    return std::string_view(text).substr(std::min(begin, text.size()), count);
  }

  // A client of TLS 1.3 is done before the server is. A client of TLS 1.2 still needs the bytes
  // that the server sends now.
  void Open(std::string_view wire) {
    const bool could_seal = watch_.Get().CanSeal();
    const std::string reply = watch_.Open(wire, client_ ? client_->Sent() : "");
    const bool is_first = watch_.Get().CanSeal() && !could_seal;
    const bool needs_reply = client_ && SSL_version(client_->Get()) == TLS1_2_VERSION;
    if (is_first && (!client_ || (!needs_reply && !client_->IsOpen()))) {
      Fail("a handshake without the client");
    }
    if (watch_.IsResumed() && (!client_->ShowsTicket() || wish_.host == "b.test")) {
      Fail("a session goes on under another name");
    }
    GiveClient(reply);
  }

  void GiveClient(const std::string& wire) {
    AsClient([&](TlsClient& client) { client.Give(wire); });
    NoteNovelty({static_cast<int>(watch_.Status()), watch_.Get().CanSeal() ? 1 : 0,
                 client_ ? static_cast<int>(SSL_get_state(client_->Get())) : 0},
                wire, client_ ? client_->Reason() : "");
  }

  // All that the server seals arrives unchanged: only the other direction is spoilt.
  void Compare() const {
    const std::string& received = client_->Received();
    const std::string_view sealed = watch_.Sealed();
    if (received != sealed.substr(0, received.size())) {
      Fail("the client receives what the server has not sealed");
    }
    const bool reads = client_->IsOpen() && client_->Reason().empty();
    if (reads && received.size() != sealed.size()) {
      Fail("the client receives " + std::to_string(received.size()) + " bytes of " +
           std::to_string(sealed.size()));
    }
  }

  // True if the channel has to break off.
  [[nodiscard]] auto MustRefuse() const -> bool { return wish_.protocols == kOtherProtocol; }

  // The rest of a good session.
  void Converse() {
    constexpr std::size_t kFew = 100;
    if (MustRefuse()) {
      Fail("a client that should be refused is not");
    }
    Write(kFew);
    Deliver(std::string::npos);
    Seal(kFew);
    AsClient([](TlsClient& client) { client.End(); });
    Deliver(std::string::npos);
    Seal(kFew);
    SealEnd();
    Same("bytes that the client has sent", watch_.Opened(), client_->Sent().size());
    if (watch_.Status() != ChannelStatus::kEnded || !client_->SawEnd() ||
        !client_->Reason().empty()) {
      Fail("a good session does not end well: " + client_->Reason());
    }
    if (client_->ShowsTicket() && wish_.host == "a.test" && !watch_.IsResumed()) {
      Fail("a good ticket resumes nothing");
    }
    Same("resumed", watch_.IsResumed(), client_->IsResumed());
  }

  const TlsWish wish_;
  std::optional<TlsClient> client_;  // once it has begun
  std::string wire_;                 // the client's bytes on their way
  bool is_whole_ = true;             // nobody has spoilt them
  bool is_cut_ = false;              // no more will come
  TlsWatch watch_;
};

}  // namespace TURTLE_SERVER::fuzz
