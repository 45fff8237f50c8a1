// Forms with files, on a live server.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "http/http_error.h"
#include "support/captured_stderr.h"
#include "support/http_client.h"
#include "support/running_server.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

using test::HttpClient;
using test::HttpReply;
using test::RunningServer;

auto Part(const std::string& disposition, const std::string& content) -> std::string {
  return "--b\r\nContent-Disposition: form-data; " + disposition + "\r\n\r\n" + content + "\r\n";
}

auto Form(const std::string& parts, const std::string& type = "multipart/form-data; boundary=b",
          const std::string& fields = "") -> std::string {
  const std::string body = parts + "--b--\r\n";
  return "POST /photos/7 HTTP/1.1\r\nHost: t\r\nContent-Type: " + type + "\r\n" + fields +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

// Lists the name of every part.
void Describe(const ServerRequest& req, const Upload& upload, ServerResponse& res) {
  std::string text(req.Parameter("album"));
  for (const UploadedPart& part : upload.Parts()) {
    text += ' ' + part.header.name + '=' + std::to_string(part.size) + (part.IsOnDisk() ? "d" : "");
  }
  res.Status(201).Text(text);
}

TEST(UploadRouteTest, AFormIsThereAsAWhole) {
  RunningServer server([](HttpServer& http) { http.Post("/photos/{album}", Describe); });
  HttpClient client(server.Port());
  const std::string small = Part("name=title", "tower") + Part("name=a; filename=a.jpg", "abc");
  const HttpReply reply = client.Ask(Form(small));
  EXPECT_EQ(reply.status, 201);
  EXPECT_EQ(reply.body, "7 title=5 a=3");
  const std::string large(300'000, 'x');
  EXPECT_EQ(client.Ask(Form(small + Part("name=b; filename=b", large))).body,
            "7 title=5 a=3 b=300000d");
  EXPECT_EQ(client.Ask(Form("")).body, "7");
}

TEST(UploadRouteTest, AFileIsSavedUnderANameOfTheServers) {
  test::SiteFolder folder;
  const std::string path = folder.Path() + "/photo";
  UploadOptions options;
  options.folder = folder.Path();
  options.max_memory_file_bytes = 10;
  RunningServer server([&](HttpServer& http) {
    http.Post("/photos/{album}",
              UploadAction(
                  [&path](const ServerRequest&, const Upload& upload, ServerResponse& res) {
                    const UploadedPart* photo = upload.Find("photo");
                    if (photo == nullptr || !photo->IsOnDisk()) {
                      throw HttpError(400, "a photo is missing");
                    }
                    res.Status(photo->Save(path) == 0 ? 201 : 500);
                  },
                  options));
  });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Form(Part("name=photo; filename=\"../../x\"", "0123456789abcdef"))).status,
            201);
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "0123456789abcdef");
  EXPECT_EQ(client.Ask(Form(Part("name=other; filename=x", "0123456789abcdef"))).status, 400);
  const std::filesystem::directory_iterator left(folder.Path());
  EXPECT_EQ(std::distance(begin(left), end(left)), 1) << "nothing but what was saved";
}

TEST(UploadRouteTest, WhatIsNoSuchFormIsRefused) {
  UploadOptions options;
  options.limits.max_parts = 2;
  RunningServer server(
      [&](HttpServer& http) { http.Post("/photos/{album}", UploadAction(Describe, options)); });
  HttpClient client(server.Port());
  const std::string part = Part("name=a", "x");
  EXPECT_EQ(client.Ask(Form(part, "application/json")).status, 415);
  EXPECT_EQ(client.Ask(Form(part, "multipart/form-data")).status, 400);
  EXPECT_EQ(client.Ask(Form(Part("nome=a", "x"))).status, 400);
  EXPECT_EQ(client.Ask(Form(part + part + part)).status, 413);
  EXPECT_EQ(client.Ask(Form(part, "multipart/form-data; boundary=c")).status, 400) << "cut short";
  const HttpReply early = HttpClient(server.Port())
                              .Ask(
                                  "POST /photos/7 HTTP/1.1\r\nHost: t\r\nContent-Type: text/plain"
                                  "\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n");
  EXPECT_EQ(early.status, 415) << "before it is sent";
}

// Here the server's own limit is 1 MiB, the default.
TEST(UploadRouteTest, AFormMayBeAsLargeAsItsRouteSays) {
  UploadOptions small;
  small.limits.max_body_bytes = 300;
  RunningServer server([&](HttpServer& http) {
    http.Post("/photos/{album}", Describe).Put("/photos/{album}", UploadAction(Describe, small));
  });
  const auto status = [&](const std::string& method, std::size_t bytes) {
    std::string request = Form(Part("name=a; filename=a", std::string(bytes, 'x')));
    return HttpClient(server.Port()).Ask(method + request.substr(request.find(' '))).status;
  };
  EXPECT_EQ(status("POST", std::size_t{5} << 20), 201);
  EXPECT_EQ(status("PUT", 10), 201);
  EXPECT_EQ(status("PUT", 300), 413);
}

TEST(UploadRouteTest, ADiskThatTakesNothingIsA503AndLogged) {
  const test::CapturedStderr errors;
  UploadOptions options;
  options.folder = "/nowhere";
  options.max_memory_file_bytes = 1;
  RunningServer server(
      [&](HttpServer& http) { http.Post("/photos/{album}", UploadAction(Describe, options)); });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Form(Part("name=a; filename=a", "xyz"))).status, 503);
  EXPECT_NE(errors.Text().find("/nowhere: No such file or directory"), std::string::npos);
}

TEST(UploadRouteTest, MiddlewareIsAroundItToo) {
  RunningServer server([](HttpServer& http) {
    Middleware mark;
    mark.after = [](const ServerRequest&, ServerResponse& res) { res.Set("X-Seen", "1"); };
    http.Use(mark).Post("/photos/{album}", Describe);
  });
  HttpClient client(server.Port());
  EXPECT_EQ(client.Ask(Form(Part("name=a", "x"))).Field("X-Seen"), "1");
  EXPECT_EQ(client.Ask(Form(Part("nome=a", "x"))).Field("X-Seen"), "1");
}

}  // namespace
}  // namespace TURTLE_SERVER
