#include "udp/udp_asker.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/captured_stderr.h"
#include "support/loop_thread.h"
#include "support/manual_clock.h"
#include "support/udp_client.h"
#include "udp/udp_socket.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kNumber = 8;  // bytes of it

// The server: it receives and responds as a test specifies.
class Server {
 public:
  struct Question {
    std::string number;
    std::string text;
    NetAddress from;
  };

  explicit Server(int port = 0) { socket_.Bind(NetAddress("127.0.0.1", port)); }

  [[nodiscard]] auto Address() const -> NetAddress { return socket_.LocalAddress(); }

  /// The next question; nullopt when none comes.
  auto Receive() -> std::optional<Question> {
    return test::AwaitDatagram(socket_) ? ReceiveNow() : std::nullopt;
  }

  /// Is a datagram waiting?
  auto HasMore() -> bool { return test::AwaitDatagram(socket_, milliseconds(0)); }

  void Send(std::string_view bytes, const NetAddress& to) {
    EXPECT_EQ(socket_.Send(bytes, to).status, IoStatus::kBytes);
  }

  void Answer(const Question& question, const std::string& text) {
    Send(question.number + text, question.from);
  }

 private:
  auto ReceiveNow() -> std::optional<Question> {
    std::string bytes(kMaxUdpPayload, '\0');
    NetAddress peer;
    const ReceiveResult result = socket_.Receive(bytes.data(), bytes.size(), peer);
    if (result.status != IoStatus::kBytes || result.bytes < kNumber) {
      return std::nullopt;
    }
    bytes.resize(result.bytes);
    return Question{bytes.substr(0, kNumber), bytes.substr(kNumber), peer};
  }

  UdpSocket socket_;
};

using Answers = std::vector<std::string>;  // "none" where there was none

class UdpAskerTest : public testing::Test {
 protected:
  ~UdpAskerTest() override {
    loop_.Ask([this] { asker_.reset(); });
  }

  void Make(const NetAddress& server, const AskOptions& options = {}) {
    loop_.Ask([&] { asker_ = std::make_unique<UdpAsker>(loop_.Get(), server, options); });
  }

  auto Note() -> AnswerCallback {
    return [this](std::optional<std::string_view> answer) {
      answers_.emplace_back(answer.value_or("none"));
    };
  }

  auto Ask(const std::string& text, AnswerCallback callback = nullptr) -> bool {
    return loop_.Ask([&, callback = callback ? std::move(callback) : Note()]() mutable {
      return asker_->Ask(text, std::move(callback));
    });
  }

  auto Open() -> std::size_t {
    return loop_.Ask([this] { return asker_->Open(); });
  }

  // The responses so far.
  auto Have() -> Answers {
    return loop_.Ask([this] { return answers_; });
  }

  auto AwaitAnswers(std::size_t count) -> bool {
    return loop_.Await([&] { return answers_.size() >= count; });
  }

  // Lets the loop receive what has been sent.
  void Settle() { loop_.RunRounds(3); }

  void Turn(milliseconds by) { clock_.Advance(by, loop_); }

  Server server_;
  test::ManualClock clock_;
  Answers answers_;  // the loop's
  std::unique_ptr<UdpAsker> asker_;
  test::LoopThread loop_{clock_.Source()};
};

TEST_F(UdpAskerTest, AsksAndIsAnswered) {
  Make(server_.Address());
  ASSERT_TRUE(Ask("time?"));
  EXPECT_EQ(Open(), 1U);
  const auto question = server_.Receive();
  ASSERT_TRUE(question);
  EXPECT_EQ(question->text, "time?");
  server_.Answer(*question, "noon");
  ASSERT_TRUE(AwaitAnswers(1));
  EXPECT_EQ(Have(), Answers{"noon"});
  EXPECT_EQ(Open(), 0U);
  Turn(seconds(100));
  EXPECT_FALSE(server_.HasMore()) << "what is answered is not asked again";
  EXPECT_EQ(Have(), Answers{"noon"});
}

TEST_F(UdpAskerTest, EmptyTextsAndLongOnes) {
  Make(server_.Address());
  const std::string longest(kMaxUdpPayload - kNumber, 'x');
  for (const std::string& text : {std::string(), longest}) {
    ASSERT_TRUE(Ask(text));
    const auto question = server_.Receive();
    ASSERT_TRUE(question);
    EXPECT_EQ(question->text, text);
    server_.Answer(*question, text);
  }
  ASSERT_TRUE(AwaitAnswers(2));
  EXPECT_EQ(Have(), (Answers{"", longest}));
  EXPECT_FALSE(Ask(longest + "x"));
  EXPECT_EQ(Open(), 0U);
  Settle();
  EXPECT_FALSE(server_.HasMore());
}

TEST_F(UdpAskerTest, AsksAgainAndWaitsTwiceAsLong) {
  Make(server_.Address(), {milliseconds(100), 4, 64});
  ASSERT_TRUE(Ask("lost"));
  const auto first = server_.Receive();
  ASSERT_TRUE(first);
  for (const int wait : {100, 200, 400}) {
    Turn(milliseconds(wait - 1));
    EXPECT_FALSE(server_.HasMore()) << "before " << wait << " ms";
    Turn(milliseconds(1));
    const auto again = server_.Receive();
    ASSERT_TRUE(again) << "after " << wait << " ms";
    EXPECT_EQ(again->number, first->number);
    EXPECT_EQ(again->text, "lost");
  }
  Turn(milliseconds(799));
  EXPECT_EQ(Have(), Answers());
  EXPECT_EQ(Open(), 1U);
  Turn(milliseconds(1));
  EXPECT_EQ(Have(), Answers{"none"});
  EXPECT_EQ(Open(), 0U);
  Turn(seconds(100));
  EXPECT_FALSE(server_.HasMore()) << "four times is enough";
  server_.Answer(*first, "late");
  Settle();
  EXPECT_EQ(Have(), Answers{"none"}) << "nobody is told twice";
}

TEST_F(UdpAskerTest, TheAnswerToAnEarlierSendingCounts) {
  Make(server_.Address(), {milliseconds(100), 4, 64});
  ASSERT_TRUE(Ask("slow"));
  const auto first = server_.Receive();
  ASSERT_TRUE(first);
  Turn(milliseconds(100));
  const auto second = server_.Receive();
  ASSERT_TRUE(second);
  server_.Answer(*first, "to the first");
  server_.Answer(*second, "to the second");
  ASSERT_TRUE(AwaitAnswers(1));
  Settle();
  EXPECT_EQ(Have(), Answers{"to the first"});
}

TEST_F(UdpAskerTest, SeveralAtOnceInAnyOrder) {
  Make(server_.Address());
  std::vector<Server::Question> questions;
  for (const char* text : {"a", "b", "c"}) {
    ASSERT_TRUE(Ask(text, [this, text](std::optional<std::string_view> answer) {
      answers_.push_back(text + std::string(answer.value_or("none")));
    }));
    const auto question = server_.Receive();
    ASSERT_TRUE(question);
    questions.push_back(*question);
  }
  EXPECT_EQ(Open(), 3U);
  for (const std::size_t i : {2U, 0U, 1U}) {
    server_.Answer(questions[i], "!");
  }
  ASSERT_TRUE(AwaitAnswers(3));
  EXPECT_EQ(Have(), (Answers{"c!", "a!", "b!"}));
}

TEST_F(UdpAskerTest, WhatIsNoAnswerIsIgnored) {
  Make(server_.Address());
  ASSERT_TRUE(Ask("time?"));
  const auto question = server_.Receive();
  ASSERT_TRUE(question);
  std::string wrong = question->number;
  wrong[7] = static_cast<char>(wrong[7] ^ 1);
  server_.Send(wrong + "wrong number", question->from);
  server_.Send("", question->from);
  server_.Send(question->number.substr(0, kNumber - 1), question->from);
  Server stranger;
  stranger.Send(question->number + "a stranger's", question->from);
  Settle();
  EXPECT_EQ(Have(), Answers());
  EXPECT_EQ(Open(), 1U);
  server_.Answer(*question, "noon");
  ASSERT_TRUE(AwaitAnswers(1));
  EXPECT_EQ(Have(), Answers{"noon"});
}

// A stranger that can guess the number can respond before the server does, from a forged address.
TEST_F(UdpAskerTest, NumbersCannotBeGuessed) {
  constexpr int kCount = 200;
  AskOptions options;
  options.max_open = kCount;
  std::set<std::string> numbers;
  std::vector<std::uint64_t> steps;
  std::uint64_t before = 0;
  std::uint64_t ones = 0;
  std::uint64_t zeros = 0;
  for (int round = 0; round < 2; ++round) {
    loop_.Ask([this] { asker_.reset(); });
    Make(server_.Address(), options);
    for (int i = 0; i < kCount; ++i) {
      ASSERT_TRUE(Ask("?"));
      const auto question = server_.Receive();
      ASSERT_TRUE(question);
      std::uint64_t number = 0;
      for (const char byte : question->number) {
        number = number << 8 | static_cast<unsigned char>(byte);
      }
      numbers.insert(question->number);
      steps.push_back(number - before);
      before = number;
      ones |= number;
      zeros |= ~number;
    }
  }
  EXPECT_EQ(numbers.size(), 2U * kCount);
  EXPECT_EQ(std::set<std::uint64_t>(steps.begin(), steps.end()).size(), 2U * kCount);
  EXPECT_EQ(ones, ~std::uint64_t{0}) << "each bit is 1 now and then";
  EXPECT_EQ(zeros, ~std::uint64_t{0}) << "and 0";
}

TEST_F(UdpAskerTest, TakesNoMoreThanItMay) {
  AskOptions options;
  options.max_open = 2;
  Make(server_.Address(), options);
  ASSERT_TRUE(Ask("a"));
  ASSERT_TRUE(Ask("b"));
  EXPECT_FALSE(Ask("c"));
  const auto a = server_.Receive();
  const auto b = server_.Receive();
  ASSERT_TRUE(a && b);
  Settle();
  EXPECT_FALSE(server_.HasMore());
  server_.Answer(*a, "A");
  ASSERT_TRUE(AwaitAnswers(1));
  EXPECT_TRUE(Ask("d"));
  EXPECT_EQ(Open(), 2U);
}

TEST_F(UdpAskerTest, ACallbackMayAsk) {
  AskOptions options;
  options.max_open = 1;
  options.sendings = 1;
  Make(server_.Address(), options);
  bool asked = false;
  ASSERT_TRUE(Ask("first", [&](std::optional<std::string_view> answer) {
    answers_.emplace_back(answer.value_or("none"));
    asked = asker_->Ask("second", [&](std::optional<std::string_view> second) {
      answers_.emplace_back(second.value_or("none"));
      asked = asker_->Ask("third", Note()) && asked;
    });
  }));
  const auto first = server_.Receive();
  ASSERT_TRUE(first);
  server_.Answer(*first, "1");
  const auto second = server_.Receive();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->text, "second");
  Turn(seconds(1));  // no response
  const auto third = server_.Receive();
  ASSERT_TRUE(third);
  server_.Answer(*third, "3");
  ASSERT_TRUE(AwaitAnswers(3));
  EXPECT_EQ(Have(), (Answers{"1", "none", "3"}));
  EXPECT_TRUE(asked) << "its own place is free by then";
}

TEST_F(UdpAskerTest, WhatACallbackThrowsHurtsNobodyElse) {
  Make(server_.Address(), {milliseconds(100), 1, 64});
  const test::CapturedStderr captured;
  const auto throws = [this](std::optional<std::string_view> answer) {
    answers_.emplace_back(answer.value_or("none"));
    throw std::runtime_error("no more paper");
  };
  ASSERT_TRUE(Ask("a", throws));
  const auto a = server_.Receive();
  ASSERT_TRUE(a);
  server_.Answer(*a, "A");
  ASSERT_TRUE(AwaitAnswers(1));
  ASSERT_TRUE(Ask("b", throws));
  ASSERT_TRUE(Ask("c"));
  Turn(milliseconds(100));
  ASSERT_TRUE(AwaitAnswers(3));
  Turn(seconds(10));
  EXPECT_EQ(Have(), (Answers{"A", "none", "none"})) << "each is called once";
  EXPECT_EQ(Open(), 0U);
  EXPECT_NE(captured.Text().find("no more paper"), std::string::npos) << captured.Text();
}

// No socket listens, and the kernel reports that: at the next call on the socket.
TEST_F(UdpAskerTest, AServerMayComeLater) {
  NetAddress address;
  {
    const Server gone;
    address = gone.Address();
  }
  Make(address, {milliseconds(100), 4, 64});
  ASSERT_TRUE(Ask("a"));
  Settle();
  ASSERT_TRUE(Ask("b"));
  Settle();
  Turn(milliseconds(100));
  Settle();
  EXPECT_EQ(Have(), Answers()) << "to be refused is no answer";
  EXPECT_EQ(Open(), 2U);
  Server server(address.Port());
  Turn(milliseconds(200));
  std::set<std::string> texts;
  for (int i = 0; i < 2; ++i) {
    const auto question = server.Receive();
    ASSERT_TRUE(question) << "the third sending";
    texts.insert(question->text);
    server.Answer(*question, "here");
  }
  EXPECT_EQ(texts, (std::set<std::string>{"a", "b"}));
  ASSERT_TRUE(AwaitAnswers(2));
  EXPECT_EQ(Have(), (Answers{"here", "here"}));
}

TEST_F(UdpAskerTest, WhenItGoesNobodyIsCalled) {
  Make(server_.Address());
  const auto held = std::make_shared<int>(0);
  ASSERT_TRUE(Ask("a", [held, note = Note()](auto answer) { note(answer); }));
  ASSERT_TRUE(Ask("b"));
  const auto question = server_.Receive();
  ASSERT_TRUE(question);
  loop_.Ask([this] { asker_.reset(); });
  EXPECT_EQ(held.use_count(), 1);
  server_.Answer(*question, "too late");
  Turn(seconds(100));
  EXPECT_EQ(Have(), Answers());
}

}  // namespace
}  // namespace TURTLE_SERVER
