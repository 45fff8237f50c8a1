// The promises of a channel between a connection and its socket. TURTLE_POLLER chooses the engine.
#include "core/channel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/file_slice.h"
#include "core/connection.h"
#include "core/looper.h"
#include "core/net_address.h"
#include "core/out_queue.h"
#include "core/server_options.h"
#include "support/captured_stderr.h"
#include "support/client.h"
#include "support/loop_thread.h"
#include "support/narrow_pair.h"
#include "support/rot13_channel.h"
#include "support/site_folder.h"
#include "support/static_site.h"
#include "support/tcp_pair.h"
#include "web/http_server.h"

namespace TURTLE_SERVER {
namespace {

using test::Client;
using test::LineChannel;
using test::LoopThread;
using test::Rot13;
using test::Rot13Channel;

constexpr std::size_t kMegabyte = std::size_t{1024} * 1024;

template <typename Made>
void SetChannel(Connection* connection) {
  connection->SetChannel(std::make_unique<Made>());
}

void Delete(Connection* connection, Closing closing = Closing::kAuto) {
  connection->GetLooper()->DeleteConnection(connection->GetFd(), closing);
}

void Echo(Connection* connection) {
  const bool exit = connection->Recv().exit;
  connection->WriteToWriteBuffer(connection->Read());
  connection->ClearReadBuffer();
  if (exit) {
    Delete(connection);
  }
}

class ChannelTest : public testing::Test {
 protected:
  [[nodiscard]] auto AwaitEmpty() -> bool {
    return loop_.Await([this] { return loop_.Get().ConnectionCount() == 0; });
  }

  // Connects a client and completes its handshake.
  auto Greeted(const ConnectionCallbacks& callbacks, ConnectionId* id = nullptr) -> Client {
    Client client = loop_.Connect(callbacks, id);
    EXPECT_TRUE(client.Send(LineChannel::kHello));
    EXPECT_EQ(client.Receive(LineChannel::kWelcome.size()), LineChannel::kWelcome);
    return client;
  }

  // Runs `act` for the connection on the loop's thread.
  template <typename Act>
  void With(ConnectionId id, Act act) {
    loop_.Ask([&] {
      Connection* const connection = loop_.Get().Find(id);
      ASSERT_NE(connection, nullptr);
      act(*connection);
    });
  }

  // The loop may call these until it ends, and they use the members below.
  const std::string words_ = test::Pattern(3 * kMegabyte);
  const ConnectionCallbacks echo_{SetChannel<Rot13Channel>, Echo};
  const ConnectionCallbacks lines_{SetChannel<LineChannel>, Echo};
  ConnectionCallbacks callbacks_;
  UniqueFd file_;
  std::string seen_;
  std::vector<RecvResult> results_;
  int calls_ = 0;
  bool broken_ = false;
  LoopThread loop_;
};

TEST_F(ChannelTest, AHandlerSeesOpenedBytesAndTheClientSealedOnes) {
  callbacks_ = {SetChannel<Rot13Channel>, [this](Connection* connection) {
                  const bool exit = connection->Recv().exit;
                  seen_ += connection->Read();
                  connection->ClearReadBuffer();
                  connection->WriteToWriteBuffer(exit ? "bye" : "");
                  if (exit) {
                    Delete(connection);
                  }
                }};
  Client client = loop_.Connect(callbacks_);
  ASSERT_TRUE(client.Send("uryyb"));
  client.FinishSending();
  EXPECT_EQ(client.ReceiveAll(), "olr");
  EXPECT_TRUE(client.Ended());
  EXPECT_TRUE(AwaitEmpty());
  EXPECT_EQ(loop_.Ask([&] { return seen_; }), "hello");
}

TEST_F(ChannelTest, MegabytesPassByteForByte) {
  Client client = loop_.Connect(echo_);
  bool sent = false;
  std::thread sender([&] {
    sent = client.Send(words_);
    client.FinishSending();
  });
  const std::string received = client.ReceiveAll();
  sender.join();
  EXPECT_TRUE(sent);
  EXPECT_TRUE(received == words_) << received.size();
  EXPECT_TRUE(client.Ended());
  EXPECT_TRUE(AwaitEmpty());
}

// Here most wire bytes yield no input, and the last of a line yields several bytes.
TEST_F(ChannelTest, WireBytesThatMeanNothingYetAreNoInput) {
  callbacks_ = {SetChannel<LineChannel>, [this](Connection* connection) {
                  const RecvResult result = connection->Recv();
                  seen_ += connection->Read();
                  connection->ClearReadBuffer();
                  if (result.read != 0) {
                    results_.push_back(result);
                  }
                }};
  Client client = Greeted(callbacks_);
  for (const char each : std::string_view("nop\n")) {
    ASSERT_TRUE(client.Send({&each, 1}));
    loop_.RunRounds(3);
  }
  ASSERT_TRUE(loop_.Await([&] { return !results_.empty(); }));
  EXPECT_EQ(loop_.Ask([&] { return results_.front().read; }), 4U);
  EXPECT_EQ(loop_.Ask([&] { return seen_; }), "abc\n");
}

TEST_F(ChannelTest, InputThatIsNotConsumedIsKeptInOnePiece) {
  callbacks_ = {SetChannel<Rot13Channel>, [](Connection* connection) {
                  connection->Recv();
                  if (connection->Read().size() >= 6) {
                    connection->WriteToWriteBuffer(connection->Read());
                    connection->ClearReadBuffer();
                  }
                }};
  Client client = loop_.Connect(callbacks_);
  Client neighbour = loop_.Connect(callbacks_);
  ASSERT_TRUE(client.Send("abc"));
  loop_.RunRounds(3);
  ASSERT_TRUE(neighbour.Send("ghijkl"));
  EXPECT_EQ(neighbour.Receive(6), "ghijkl");
  ASSERT_TRUE(client.Send("def"));
  EXPECT_EQ(client.Receive(6), "abcdef");
}

TEST_F(ChannelTest, InputAboveTheLimitStaysInTheKernel) {
  callbacks_ = {SetChannel<Rot13Channel>, [this](Connection* connection) {
                  while (connection->Recv().read != 0) {
                  }
                  calls_ = connection->Read().size() >= Connection::kInputLimit ? 1 : 0;
                }};
  ConnectionId id{};
  Client client = loop_.Connect(callbacks_, &id);
  std::thread sender([&] { EXPECT_TRUE(client.Send(words_)); });
  EXPECT_TRUE(loop_.Await([&] { return calls_ == 1; }));
  EXPECT_TRUE(loop_.Await([&] {
    Connection* const connection = loop_.Get().Find(id);
    EXPECT_LT(connection->Read().size(), Connection::kInputLimit + kMegabyte / 8);
    seen_ += connection->Read();
    connection->ClearReadBuffer();
    loop_.Get().Schedule(connection);
    return seen_.size() == words_.size();
  }));
  sender.join();
  EXPECT_TRUE(Rot13(seen_) == words_);
}

TEST_F(ChannelTest, FilesAndMemoryLeaveInOrder) {
  file_ = test::MakeFile(words_);
  callbacks_ = {SetChannel<Rot13Channel>, [this](Connection* connection) {
                  if (connection->Recv().read != 0) {
                    connection->ClearReadBuffer();
                    connection->WriteToWriteBuffer("head");
                    connection->WriteFile({file_.Get(), 7, words_.size() - 7});
                    connection->WritePinned("between", Pin());
                    connection->WriteFile({file_.Get(), 1, 5});
                    connection->WriteToWriteBuffer("tail");
                    Delete(connection);
                  }
                }};
  Client client = loop_.Connect(callbacks_);
  ASSERT_TRUE(client.Send("go"));
  const std::string expected = "head" + words_.substr(7) + "between" + words_.substr(1, 5) + "tail";
  EXPECT_TRUE(client.ReceiveAll() == Rot13(expected));
  EXPECT_TRUE(client.Ended());
  EXPECT_TRUE(AwaitEmpty());
}

TEST_F(ChannelTest, AFileThatIsShorterThanPromisedEndsTheConnection) {
  file_ = test::MakeFile("0123456789");
  callbacks_ = {SetChannel<Rot13Channel>, [this](Connection* connection) {
                  const RecvResult result = connection->Recv();
                  if (result.read != 0) {
                    connection->ClearReadBuffer();
                    connection->WriteFile({file_.Get(), 5, 100});
                  }
                  if (result.exit) {
                    broken_ = connection->Broken();
                    Delete(connection);
                  }
                }};
  Client client = loop_.Connect(callbacks_);
  ASSERT_TRUE(client.Send("go"));
  EXPECT_LT(client.ReceiveAll().size(), 100U);
  EXPECT_TRUE(AwaitEmpty());
  EXPECT_TRUE(loop_.Ask([&] { return broken_; }));
}

TEST_F(ChannelTest, ASlowReaderPausesTheConnectionAndGetsEverything) {
  const std::string_view words(words_.data(), kMegabyte);
  callbacks_ = {SetChannel<Rot13Channel>, [this](Connection* connection) {
                  ++calls_;
                  connection->Recv();
                  connection->ClearReadBuffer();
                }};
  ConnectionId id{};
  Client client = loop_.Connect(callbacks_, &id);
  ASSERT_TRUE(loop_.Await([&] { return calls_ == 1; }));
  With(id, [&](Connection& connection) {
    test::ShrinkSendBuffer(id.fd);
    connection.WriteToWriteBuffer(words);
    EXPECT_TRUE(connection.Paused());
    EXPECT_EQ(connection.UnsentBytes(), words.size());
    connection.Send();
    EXPECT_TRUE(connection.Paused()) << "the kernel has taken all, and this test tests nothing";
    EXPECT_EQ(connection.Recv().read, 0U);
  });
  EXPECT_EQ(loop_.Ask([&] { return calls_; }), 1);
  EXPECT_TRUE(client.Receive(words.size()) == Rot13(words));
  EXPECT_TRUE(loop_.Await([&] { return calls_ >= 2; })) << "the pause has no end";
  With(id, [&](Connection& connection) {
    EXPECT_FALSE(connection.Paused());
    EXPECT_EQ(connection.UnsentBytes(), 0U);
  });
}

TEST_F(ChannelTest, LastWordsReachASlowReaderBeforeTheEnd) {
  const std::string_view words(words_.data(), kMegabyte);
  ConnectionId id{};
  Client client = Greeted(lines_, &id);
  With(id, [&](Connection& connection) {
    test::ShrinkSendBuffer(id.fd);
    connection.WritePinned(words, Pin());
    Delete(&connection);
  });
  ASSERT_TRUE(loop_.Await([&] { return loop_.Get().PartingCount() == 1; }))
      << "the kernel has taken all of it, and this test tests nothing";
  EXPECT_TRUE(client.ReceiveAll() == Rot13(words) + std::string(LineChannel::kEnd));
  EXPECT_TRUE(client.Ended());
  EXPECT_TRUE(AwaitEmpty());
}

// It is more than enough to pause a connection, but the handshake needs its input anyway.
TEST_F(ChannelTest, OutputWaitsForTheHandshake) {
  callbacks_ = {[this](Connection* connection) {
                  SetChannel<LineChannel>(connection);
                  connection->WritePinned(words_, Pin());
                },
                Echo};
  ConnectionId id{};
  Client client = loop_.Connect(callbacks_, &id);
  loop_.RunRounds(3);
  With(id, [&](Connection& connection) { EXPECT_EQ(connection.UnsentBytes(), words_.size()); });
  ASSERT_TRUE(client.Send("hel"));
  loop_.RunRounds(3);
  ASSERT_TRUE(client.Send("lo\nmore\n"));
  const std::string expected = std::string(LineChannel::kWelcome) + Rot13(words_) + "more\n";
  EXPECT_TRUE(client.Receive(expected.size()) == expected);
}

// A client that is refused at once learns it after the handshake.
TEST_F(ChannelTest, LastWordsWaitForTheHandshake) {
  callbacks_ = {[](Connection* connection) {
                  SetChannel<LineChannel>(connection);
                  connection->WriteToWriteBuffer("no room");
                  Delete(connection, Closing::kLinger);
                },
                Echo};
  Client client = Greeted(callbacks_);
  EXPECT_EQ(client.ReceiveAll(), "ab ebbzend\n");
  EXPECT_TRUE(client.Ended());
  client.FinishSending();
  EXPECT_TRUE(AwaitEmpty());
}

TEST_F(ChannelTest, AHalfClosedClientGetsItsReplies) {
  Client client = Greeted(lines_);
  ASSERT_TRUE(client.Send("one\ntwo\n"));
  client.FinishSending();
  EXPECT_EQ(client.ReceiveAll(), "one\ntwo\nend\n");
  EXPECT_TRUE(client.Ended());
  EXPECT_TRUE(AwaitEmpty());
}

// The socket stays open: the end is the channel's. The bytes before it come first.
TEST_F(ChannelTest, TheEndWithinTheChannelIsTheEndOfTheInput) {
  callbacks_ = {SetChannel<LineChannel>, [this](Connection* connection) {
                  results_.push_back(connection->Recv());
                  connection->WriteToWriteBuffer(connection->Read());
                  connection->ClearReadBuffer();
                  if (results_.back().exit) {
                    EXPECT_TRUE(connection->PeerFinished());
                    EXPECT_FALSE(connection->Broken());
                    Delete(connection);
                  }
                }};
  Client client = Greeted(callbacks_);
  ASSERT_TRUE(client.Send("one\nend\nignored\n"));
  EXPECT_EQ(client.ReceiveAll(), "one\nend\n");
  EXPECT_TRUE(AwaitEmpty());
  loop_.Ask([&] {
    ASSERT_GE(results_.size(), 2U);
    EXPECT_EQ(results_[results_.size() - 2].read, 4U);
    EXPECT_FALSE(results_[results_.size() - 2].exit);
    EXPECT_EQ(results_.back().read, 0U);
  });
}

TEST_F(ChannelTest, AnEndWithoutInputBeforeItIsReportedAtOnce) {
  Client client = Greeted(lines_);
  ASSERT_TRUE(client.Send(LineChannel::kEnd));
  EXPECT_EQ(client.ReceiveAll(), LineChannel::kEnd);
  EXPECT_TRUE(client.Ended());
  EXPECT_TRUE(AwaitEmpty());
}

// As after a reset, except that the channel's own bytes reach the client, which keeps sending.
TEST_F(ChannelTest, ABrokenChannelSendsItsAlertAndNothingElse) {
  callbacks_ = {SetChannel<LineChannel>, [this](Connection* connection) {
                  const bool exit = connection->Recv().exit;
                  if (exit) {
                    broken_ = connection->Broken();
                    connection->WriteToWriteBuffer("secret");
                    Delete(connection);
                  }
                }};
  Client client = Greeted(callbacks_);
  ASSERT_TRUE(client.Send("garbage\nmore\n"));
  ASSERT_TRUE(client.Send("and more\n"));
  EXPECT_EQ(client.ReceiveAll(), LineChannel::kAlert);
  EXPECT_TRUE(client.Ended());
  client.FinishSending();
  EXPECT_TRUE(AwaitEmpty());
  EXPECT_TRUE(loop_.Ask([&] { return broken_; }));
}

TEST_F(ChannelTest, BytesBeforeTheBreakComeFirst) {
  callbacks_ = {SetChannel<LineChannel>, [this](Connection* connection) {
                  const bool exit = connection->Recv().exit;
                  seen_ += connection->Read();
                  connection->ClearReadBuffer();
                  if (exit) {
                    Delete(connection);
                  }
                }};
  Client client = Greeted(callbacks_);
  ASSERT_TRUE(client.Send("nop\ngarbage\n"));
  EXPECT_EQ(client.ReceiveAll(), LineChannel::kAlert);
  client.FinishSending();
  EXPECT_TRUE(AwaitEmpty());
  EXPECT_EQ(loop_.Ask([&] { return seen_; }), "abc\n");
}

TEST_F(ChannelTest, AChannelMayBreakWhileLastWordsAreSent) {
  ConnectionId id{};
  Client client = Greeted(lines_, &id);
  With(id, [&](Connection& connection) {
    test::ShrinkSendBuffer(id.fd);
    connection.WritePinned(words_, Pin());
    Delete(&connection);
  });
  ASSERT_TRUE(loop_.Await([&] { return loop_.Get().PartingCount() == 1; }));
  ASSERT_TRUE(client.Send(LineChannel::kGarbage));
  loop_.RunRounds(5);
  const std::string received = client.ReceiveAll();
  EXPECT_LT(received.size(), words_.size()) << "all of it was sealed, and this test tests nothing";
  EXPECT_EQ(received.substr(received.size() - LineChannel::kAlert.size()), LineChannel::kAlert);
  EXPECT_TRUE(client.Ended());
  client.FinishSending();
  EXPECT_TRUE(AwaitEmpty());
}

// A response that is cut short must not look whole.
TEST_F(ChannelTest, AResetHasNoSealedEnd) {
  ConnectionId id{};
  Client client = Greeted(lines_, &id);
  With(id, [&](Connection& connection) { Delete(&connection, Closing::kReset); });
  EXPECT_EQ(client.ReceiveAll(), "");
  EXPECT_TRUE(client.WasReset());
  EXPECT_TRUE(AwaitEmpty());
}

TEST_F(ChannelTest, AClientThatResetsIsDone) {
  ConnectionId id{};
  Client client = Greeted(lines_, &id);
  With(id, [&](Connection& connection) {
    test::ShrinkSendBuffer(id.fd);
    connection.WritePinned(words_, Pin());
  });
  client.Reset();
  EXPECT_TRUE(AwaitEmpty());
}

TEST_F(ChannelTest, AnExceptionInOpenCostsTheConnectionAlone) {
  const test::CapturedStderr captured;
  Client neighbour = Greeted(lines_);
  Client client = Greeted(lines_);
  ASSERT_TRUE(client.Send(LineChannel::kThrow));
  EXPECT_EQ(client.ReceiveAll(), "");
  ASSERT_TRUE(neighbour.Send("fine\n"));
  EXPECT_EQ(neighbour.Receive(5), "fine\n");
  EXPECT_NE(captured.Text().find("opening input"), std::string::npos) << captured.Text();
}

TEST_F(ChannelTest, AnExceptionInSealCostsTheConnectionAlone) {
  const test::CapturedStderr captured;
  Client neighbour = Greeted(lines_);
  Client client = Greeted(lines_);
  ASSERT_TRUE(client.Send("guebj\n"));
  EXPECT_EQ(client.ReceiveAll(), "");
  ASSERT_TRUE(neighbour.Send("fine\n"));
  EXPECT_EQ(neighbour.Receive(5), "fine\n");
  EXPECT_NE(captured.Text().find("sealing output"), std::string::npos) << captured.Text();
}

// --- a web server whose clients have channels ----------------------------------------------------

class ChannelHttp : public testing::Test {
 protected:
  void SetUp() override {
    folder_.Write("large.bin", words_);
    folder_.Write("small.txt", "small");
    ServerOptions options;
    options.threads = 1;
    options.channel = [this](Connection&) -> std::unique_ptr<Channel> {
      if (plain_) {
        return nullptr;
      }
      return std::make_unique<Rot13Channel>();
    };
    server_ = std::make_unique<HttpServer>(NetAddress("127.0.0.1", 0), HttpOptions(), options);
    StaticFilesOptions files;
    files.root = folder_.Path();
    server_->Mount("/", test::Serving(files));
    thread_ = std::thread([this] {
      server_->Begin();
      ended_.set_value();
    });
  }

  void TearDown() override {
    if (thread_.joinable()) {
      server_->Stop();
      EXPECT_EQ(ended_.get_future().wait_for(test::kPatience), std::future_status::ready);
      thread_.join();
    }
  }

  auto NewClient() -> Client { return Client(server_->LocalAddress().Port()); }

  static auto Request(std::string_view target, std::string_view fields = {}) -> std::string {
    return Rot13(test::Get(target, fields));
  }

  // Returns the body of the first response, if its status is `status`.
  static auto Body(const std::string& response, std::string_view status) -> std::string {
    EXPECT_EQ(response.substr(0, 12), "HTTP/1.1 " + std::string(status));
    const std::size_t end = response.find("\r\n\r\n");
    return end == std::string::npos ? "no head" : response.substr(end + 4);
  }

  const std::string words_ = test::Pattern(3 * kMegabyte);
  const test::SiteFolder folder_;
  std::atomic<bool> plain_{false};
  std::unique_ptr<HttpServer> server_;
  std::promise<void> ended_;
  std::thread thread_;
};

TEST_F(ChannelHttp, ServesALargeFile) {
  Client client = NewClient();
  ASSERT_TRUE(client.Send(Request("/large.bin", "Connection: close\r\n")));
  EXPECT_TRUE(Body(Rot13(client.ReceiveAll()), "200") == words_);
  EXPECT_TRUE(client.Ended());
}

TEST_F(ChannelHttp, ServesARequestThatComesByteByByte) {
  Client client = NewClient();
  for (const char each : Request("/small.txt", "Connection: close\r\n")) {
    ASSERT_TRUE(client.Send({&each, 1}));
  }
  EXPECT_EQ(Body(Rot13(client.ReceiveAll()), "200"), "small");
}

TEST_F(ChannelHttp, ServesPipelinedRequestsInOrder) {
  constexpr int kRequests = 50;
  std::string requests;
  for (int i = 0; i < kRequests; ++i) {
    requests += Request("/small.txt");
  }
  requests += Request("/large.bin", "Connection: close\r\n");
  Client client = NewClient();
  ASSERT_TRUE(client.Send(requests));
  std::string received = Rot13(client.ReceiveAll());
  for (int i = 0; i < kRequests; ++i) {
    const std::string body = Body(received, "200");
    ASSERT_EQ(body.substr(0, 5), "small");
    received = body.substr(5);
  }
  EXPECT_TRUE(Body(received, "200") == words_);
}

TEST_F(ChannelHttp, RefusesAClientAboveTheLimitThroughItsChannel) {
  server_->SetMaxConnections(1);
  Client served = NewClient();
  ASSERT_TRUE(served.Send(Request("/small.txt")));
  EXPECT_EQ(served.Receive(8), "UGGC/1.1");
  Client above = NewClient();
  ASSERT_TRUE(above.Send(Request("/small.txt")));
  EXPECT_EQ(Rot13(above.ReceiveAll()).substr(0, 12), "HTTP/1.1 503");
  EXPECT_TRUE(above.Ended());
}

TEST_F(ChannelHttp, AClientWithoutAChannelHasThePlainSocket) {
  plain_ = true;
  Client client = NewClient();
  ASSERT_TRUE(client.Send(test::Get("/small.txt", "Connection: close\r\n")));
  EXPECT_EQ(Body(client.ReceiveAll(), "200"), "small");
}

// --- the queue -----------------------------------------------------------------------------------

TEST(OutQueueCopy, GivesWhatIsAtTheFrontAcrossPieces) {
  const UniqueFd file = test::MakeFile("0123456789");
  OutQueue queue;
  std::string room(100, '-');
  EXPECT_EQ(queue.Copy(room.data(), room.size()).bytes, 0U);
  queue.Append("head");
  queue.AppendFile({file.Get(), 2, 3});
  queue.AppendPinned("tail", Pin());
  EXPECT_EQ(queue.Copy(room.data(), room.size()).bytes, 11U);
  EXPECT_EQ(room.substr(0, 12), "head234tail-");
  EXPECT_EQ(queue.Size(), 11U) << "it stays queued";
  queue.Consume(5);
  EXPECT_EQ(queue.Copy(room.data(), 3).bytes, 3U);
  EXPECT_EQ(room.substr(0, 3), "34t");
}

TEST(OutQueueCopy, SaysWhenAFileIsTooShort) {
  const UniqueFd file = test::MakeFile("0123456789");
  OutQueue queue;
  queue.AppendFile({file.Get(), 8, 3});
  std::string room(100, '-');
  EXPECT_EQ(queue.Copy(room.data(), room.size()).bytes, 2U);
  queue.Consume(2);
  const IoResult result = queue.Copy(room.data(), room.size());
  EXPECT_EQ(result.status, IoStatus::kError);
  EXPECT_EQ(result.error, EIO);
}

TEST(LineState, OfABrokenChannelCanStillEnd) {
  EXPECT_TRUE(MayMove(LineState::kOpen, LineState::kChannelBroken));
  EXPECT_TRUE(MayMove(LineState::kChannelBroken, LineState::kEnded));
  EXPECT_TRUE(MayMove(LineState::kChannelBroken, LineState::kBroken));
  EXPECT_FALSE(MayMove(LineState::kEnded, LineState::kChannelBroken));
  EXPECT_FALSE(MayMove(LineState::kBroken, LineState::kChannelBroken));
}

}  // namespace
}  // namespace TURTLE_SERVER
