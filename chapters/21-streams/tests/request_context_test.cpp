// The typed context of a request: middleware sets values, handlers read them.
#include "web/request_context.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/captured_stderr.h"
#include "support/counting_new.h"
#include "support/http_client.h"
#include "support/running_server.h"

namespace TURTLE_SERVER {
namespace {

using test::Get;
using test::HttpClient;
using test::HttpReply;
using test::RunningServer;

struct User {
  std::string name;
};

struct Visits {
  int count = 0;
};

// Records when it is destroyed.
class Witness {
 public:
  Witness(std::vector<int>& gone, int number) : gone_(&gone), number_(number) {}
  Witness(Witness&& other) noexcept
      : gone_(std::exchange(other.gone_, nullptr)), number_(other.number_) {}
  Witness(const Witness&) = delete;
  auto operator=(const Witness&) -> Witness& = delete;
  auto operator=(Witness&&) -> Witness& = delete;
  ~Witness() {
    if (gone_ != nullptr) {
      gone_->push_back(number_);
    }
  }

 private:
  std::vector<int>* gone_;
  int number_;
};

TEST(RequestContextTest, EachTypeHasItsOwnValue) {
  RequestContext context;
  EXPECT_EQ(context.Find<User>(), nullptr);
  context.Set<User>({"ada"});
  context.Set(Visits{7});
  context.Set<int>(8);
  EXPECT_EQ(context.Get<User>().name, "ada");
  EXPECT_EQ(context.Get<Visits>().count, 7);
  EXPECT_EQ(context.Get<int>(), 8);
  EXPECT_EQ(context.Find<long>(), nullptr);
  context.Get<Visits>().count = 9;
  EXPECT_EQ(context.Find<Visits>()->count, 9);
}

TEST(RequestContextTest, AMissingValueIsNamed) {
  RequestContext context;
  context.Set(Visits{});
  try {
    static_cast<void>(context.Get<User>());
    FAIL() << "nothing was thrown";
  } catch (const std::out_of_range& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.find("the request's context has no "), 0U) << text;
    EXPECT_NE(text.find("::User"), std::string::npos) << text;
  }
}

TEST(RequestContextTest, AValueThatCannotBeCopiedIsMoved) {
  RequestContext context;
  const std::unique_ptr<int>& kept = context.Set(std::make_unique<int>(7));
  EXPECT_EQ(&context.Get<std::unique_ptr<int>>(), &kept);
  EXPECT_EQ(*kept, 7);
}

TEST(RequestContextTest, TheLastOfOneTypeCountsAndTheFirstStaysGood) {
  RequestContext context;
  const User& first = context.Set<User>({"ada"});
  context.Set<User>({"bob"});
  EXPECT_EQ(context.Get<User>().name, "bob");
  EXPECT_EQ(first.name, "ada");
}

TEST(RequestContextTest, TheNewestGoesFirst) {
  std::vector<int> gone;
  RequestContext context;
  context.Set(Witness(gone, 1));
  context.Set(Witness(gone, 2));
  context.Clear();
  EXPECT_EQ(gone, (std::vector<int>{2, 1}));
  EXPECT_EQ(context.Find<Witness>(), nullptr);
}

TEST(RequestContextTest, ACopySharesWhatIsThereAndNothingLater) {
  std::vector<int> gone;
  RequestContext context;
  context.Set(Witness(gone, 1));
  RequestContext copy = context;
  copy.Set<User>({"ada"});
  context.Set(Visits{7});
  EXPECT_EQ(context.Find<User>(), nullptr);
  EXPECT_EQ(copy.Find<Visits>(), nullptr);
  EXPECT_EQ(copy.Find<Witness>(), context.Find<Witness>());
  context.Clear();
  EXPECT_TRUE(gone.empty());
  copy.Clear();
  EXPECT_EQ(gone, std::vector<int>{1});
}

TEST(RequestContextTest, AnEmptyOneAllocatesNothing) {
  test::counts_allocations = true;
  const std::size_t before = test::allocations;
  RequestContext context;
  const RequestContext copy = context;
  static_cast<void>(copy.Find<User>());
  context.Clear();
  const std::size_t empty = test::allocations;
  context.Set(Visits{});
  const std::size_t with_one = test::allocations;
  test::counts_allocations = false;
  EXPECT_EQ(empty, before);
  EXPECT_EQ(with_one, before + 1);
}

// Sets the user of ?user=; on the way out, reports the user that it finds.
auto Login() -> Middleware {
  Middleware login;
  login.before = [](const ServerRequest& req) -> std::optional<ServerResponse> {
    if (const auto name = req.Query("user")) {
      req.Set<User>({std::string(*name)});
    }
    return std::nullopt;
  };
  login.after = [](const ServerRequest& req, ServerResponse& res) {
    const User* const user = req.Find<User>();
    const Visits* const visits = req.Find<Visits>();
    res.Set("X-User", user != nullptr ? user->name : "nobody");
    res.Set("X-Visits", visits != nullptr ? std::to_string(visits->count) : "none");
  };
  return login;
}

class RequestContextRouteTest : public testing::Test {
 protected:
  RequestContextRouteTest()
      : server_([this](HttpServer& http) {
          http.Use(Login());
          http.Get("/me", [](const ServerRequest& req, ServerResponse& res) {
            res.Text(req.Get<User>().name);
            req.Set(Visits{3});
          });
          http.Post("/me", [](const ServerRequest& req, ServerResponse& res) {
            res.Text(req.Get<User>().name + std::string(req.Body()));
          });
          http.Get("/later", [this](const ServerRequest& req, const Responder& responder) {
            req.Set(Visits{4});
            other_ = std::thread([responder, context = req.Context()] {
              responder.Reply(ServerResponse().Text(context.Get<User>().name));
            });
          });
          http.Mount("/", test::Answering([](Exchange& exchange) { exchange.ReplyFrom("/me"); }));
        }) {}

  ~RequestContextRouteTest() override {
    if (other_.joinable()) {
      other_.join();
    }
  }

  auto Ask(const std::string& request) -> HttpReply {
    return HttpClient(server_.Port()).Ask(request);
  }

  [[nodiscard]] auto Port() const -> int { return server_.Port(); }

 private:
  std::thread other_;
  RunningServer server_;
};

TEST_F(RequestContextRouteTest, AHandlerReadsWhatMiddlewareHasSetAndTheWayOutWhatTheHandlerHas) {
  const HttpReply reply = Ask(Get("/me?user=ada"));
  EXPECT_EQ(reply.body, "ada");
  EXPECT_EQ(reply.Field("X-User"), "ada");
  EXPECT_EQ(reply.Field("X-Visits"), "3");
}

TEST_F(RequestContextRouteTest, ItIsThereWhenTheBodyHasCome) {
  HttpClient client(Port());
  client.Send("POST /me?user=ada HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\n\r\n");
  client.Send("!!");
  EXPECT_EQ(client.ReadReply().body, "ada!!");
}

TEST_F(RequestContextRouteTest, ALateAnswerHasIt) {
  const HttpReply reply = Ask(Get("/later?user=ada"));
  EXPECT_EQ(reply.body, "ada");
  EXPECT_EQ(reply.Field("X-User"), "ada");
  EXPECT_EQ(reply.Field("X-Visits"), "4");
}

TEST_F(RequestContextRouteTest, TheNextRequestBeginsWithoutIt) {
  HttpClient client(Port());
  EXPECT_EQ(client.Ask(Get("/me?user=ada")).status, 200);
  const test::CapturedStderr log;
  const HttpReply next = client.Ask(Get("/me"));
  EXPECT_EQ(next.status, 500);
  EXPECT_EQ(next.Field("X-User"), "nobody");
  EXPECT_EQ(next.Field("X-Visits"), "none");
  EXPECT_NE(log.Text().find("context has no "), std::string::npos) << log.Text();
}

}  // namespace
}  // namespace TURTLE_SERVER
