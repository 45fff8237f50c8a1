#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "bench/client_session.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::microseconds;

auto Reply(const std::string& body, const std::string& fields = "", int status = 200)
    -> std::string {
  return "HTTP/1.1 " + std::to_string(status) + " X\r\n" + fields +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

class ClientSessionTest : public testing::Test {
 protected:
  ClientSessionTest() {
    context_.check = &check_;
    context_.measured = &measured_;
    session_.Open();
  }

  static auto At(int us) -> TimePoint { return TimePoint(microseconds(us)); }

  auto Errors(ErrorKind kind) const -> std::uint64_t {
    return measured_.tally.errors[static_cast<std::size_t>(kind)].Get();
  }
  auto AllErrors() const -> std::uint64_t {
    Totals totals;
    measured_.tally.AddTo(totals);
    return totals.Errors();
  }
  auto Requests() const -> std::uint64_t { return measured_.tally.requests.Get(); }

  Measurements measured_;
  ReplyReference reference_;
  ReplyCheck check_{reference_};
  SessionContext context_;
  ClientSession session_{context_};
};

TEST_F(ClientSessionTest, MeasuresAReply) {
  session_.Ask(1, At(100), At(100));
  EXPECT_EQ(session_.Pending(), 1U);
  EXPECT_FALSE(session_.ExpectsMore());
  const std::string reply = Reply("hello");
  EXPECT_EQ(session_.Take(reply.substr(0, 10), At(130)), Outcome::kWait);
  EXPECT_TRUE(session_.ExpectsMore());
  EXPECT_EQ(session_.Take(reply.substr(10), At(150)), Outcome::kAnswer);
  EXPECT_FALSE(session_.ExpectsMore());
  EXPECT_EQ(session_.Pending(), 0U);
  EXPECT_EQ(Requests(), 1U);
  EXPECT_EQ(measured_.tally.bytes.Get(), reply.size());
  EXPECT_DOUBLE_EQ(measured_.first_byte.Mean(), 30);
  EXPECT_EQ(measured_.latency.Max(), 50'000U);
  EXPECT_EQ(AllErrors(), 0U);
}

TEST_F(ClientSessionTest, LatencyCountsFromWhenTheRequestWasDue) {
  session_.Ask(1, At(100), At(900));
  EXPECT_EQ(session_.Take(Reply(""), At(1000)), Outcome::kAnswer);
  EXPECT_EQ(measured_.latency.Max(), 900'000U);
  EXPECT_DOUBLE_EQ(measured_.first_byte.Max(), 100) << "that is the server's";
}

TEST_F(ClientSessionTest, PipelinedRepliesComeInAnyPieces) {
  const std::string replies = Reply("a") + Reply("a") + Reply("a");
  for (std::size_t cut = 0; cut <= replies.size(); ++cut) {
    session_.Ask(3, At(0), At(0));
    const Outcome first = session_.Take(replies.substr(0, cut), At(1));
    EXPECT_EQ(first, cut == replies.size() ? Outcome::kAnswer : Outcome::kWait);
    EXPECT_EQ(session_.Take(replies.substr(cut), At(2)), Outcome::kAnswer);
  }
  EXPECT_EQ(Requests(), 3 * (replies.size() + 1));
  EXPECT_EQ(AllErrors(), 0U);
}

TEST_F(ClientSessionTest, AServerMayEndAfterAReply) {
  session_.Ask(3, At(0), At(0));
  EXPECT_EQ(session_.Take(Reply("a") + Reply("a", "Connection: close\r\n"), At(1)), Outcome::kLast);
  EXPECT_TRUE(session_.ExpectsMore());
  EXPECT_EQ(session_.End(LineEnd::kBroken, At(2)), Outcome::kClosed)
      << "even a reset takes nothing away";
  EXPECT_EQ(Requests(), 2U);
  EXPECT_EQ(AllErrors(), 0U);
}

TEST_F(ClientSessionTest, OneRequestForEachConnection) {
  context_.one_request = true;
  for (int i = 0; i < 2; ++i) {
    session_.Open();
    session_.Ask(1, At(0), At(0));
    EXPECT_EQ(session_.Take(Reply("a"), At(1)), Outcome::kLast);
    EXPECT_EQ(session_.End(LineEnd::kEnd, At(2)), Outcome::kClosed);
  }
  EXPECT_EQ(Requests(), 2U);
}

TEST_F(ClientSessionTest, TheEndCompletesABodyWithoutLength) {
  session_.Ask(1, At(0), At(0));
  EXPECT_EQ(session_.Take("HTTP/1.1 200 OK\r\n\r\nabc", At(1)), Outcome::kWait);
  EXPECT_EQ(session_.End(LineEnd::kEnd, At(5)), Outcome::kClosed);
  EXPECT_EQ(Requests(), 1U);
  EXPECT_EQ(measured_.latency.Max(), 5000U);
}

TEST_F(ClientSessionTest, EndsThatAreErrors) {
  session_.Ask(1, At(0), At(0));
  EXPECT_EQ(session_.End(LineEnd::kEnd, At(1)), Outcome::kFail);
  EXPECT_EQ(Errors(ErrorKind::kReset), 1U) << "not a byte of the reply";

  session_.Open();
  session_.Ask(1, At(0), At(0));
  EXPECT_EQ(session_.Take(Reply("hello").substr(0, 40), At(1)), Outcome::kWait);
  EXPECT_EQ(session_.End(LineEnd::kEnd, At(1)), Outcome::kFail);
  EXPECT_EQ(Errors(ErrorKind::kTruncated), 1U);

  session_.Open();
  session_.Ask(1, At(0), At(0));
  EXPECT_EQ(session_.Take("HTTP/1.1 200 OK\r\n\r\nabc", At(1)), Outcome::kWait);
  EXPECT_EQ(session_.End(LineEnd::kBroken, At(1)), Outcome::kFail);
  EXPECT_EQ(Errors(ErrorKind::kReset), 2U) << "a reset completes nothing";

  session_.Open();
  session_.Ask(1, At(0), At(0));
  EXPECT_EQ(session_.Take("HTTP/1.1 200 OK\r\n\r\nabc", At(1)), Outcome::kWait);
  EXPECT_EQ(session_.End(LineEnd::kCut, At(1)), Outcome::kFail);
  EXPECT_EQ(Errors(ErrorKind::kTruncated), 2U) << "anyone can cut a line";

  session_.Open();
  session_.Ask(1, At(0), At(0));
  session_.TimeOut();
  EXPECT_EQ(Errors(ErrorKind::kTimeout), 1U);
  EXPECT_EQ(AllErrors(), 5U);
  EXPECT_EQ(Requests(), 0U);
}

TEST_F(ClientSessionTest, ABodyIsComparedWithTheFirst) {
  const auto ask = [&](const std::string& reply) {
    session_.Ask(1, At(0), At(0));
    return session_.Take(reply, At(1));
  };
  EXPECT_EQ(ask(Reply("hello")), Outcome::kAnswer);
  EXPECT_EQ(ask(Reply("hellp")), Outcome::kAnswer);
  EXPECT_EQ(ask(Reply("hello!")), Outcome::kAnswer);
  EXPECT_EQ(ask(Reply("hello")), Outcome::kAnswer);
  EXPECT_EQ(Errors(ErrorKind::kMismatch), 2U);
  EXPECT_EQ(Requests(), 2U);
  EXPECT_EQ(ask(Reply("partial", "", 206)), Outcome::kAnswer);
  EXPECT_EQ(Requests(), 3U) << "another status has a reference of its own";
  EXPECT_EQ(ask(Reply("other", "", 404)), Outcome::kAnswer);
  EXPECT_EQ(ask(Reply("moved", "", 302)), Outcome::kAnswer);
  EXPECT_EQ(Errors(ErrorKind::kStatus), 2U);
  EXPECT_EQ(measured_.latency.Count(), 3U) << "only of good replies";
  context_.check = nullptr;
  EXPECT_EQ(ask(Reply("anything")), Outcome::kAnswer);
  EXPECT_EQ(Requests(), 4U);
}

TEST_F(ClientSessionTest, WorkersShareTheReference) {
  ReplyCheck other(reference_);
  EXPECT_TRUE(check_.Matches({200, 5, 1}));
  EXPECT_FALSE(other.Matches({200, 5, 2}));
  EXPECT_TRUE(other.Matches({200, 5, 1}));
  EXPECT_FALSE(check_.Matches({200, 6, 1}));
}

TEST_F(ClientSessionTest, MoreThanWasAskedForIsAnError) {
  session_.Ask(1, At(0), At(0));
  EXPECT_EQ(session_.Take(Reply("a") + "x", At(1)), Outcome::kFail);
  EXPECT_EQ(Requests(), 1U);
  EXPECT_EQ(Errors(ErrorKind::kProtocol), 1U);

  session_.Open();
  EXPECT_EQ(session_.Take(Reply("a"), At(1)), Outcome::kFail) << "nobody has asked";
  session_.Open();
  session_.Ask(1, At(0), At(0));
  EXPECT_EQ(session_.Take("no HTTP\r\n\r\n", At(1)), Outcome::kFail);
  EXPECT_EQ(Errors(ErrorKind::kProtocol), 3U);
  session_.Open();
  session_.Ask(1, At(0), At(0));
  EXPECT_EQ(session_.Take(Reply("a"), At(1)), Outcome::kAnswer) << "a new connection is as new";
}

}  // namespace
}  // namespace TURTLE_SERVER
