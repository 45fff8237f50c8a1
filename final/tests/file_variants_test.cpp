// Files in the codings that clients like: encoded in advance, or here.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compress/compression.h"
#include "files/file_cache.h"
#include "files/file_coder.h"
#include "files/static_files.h"
#include "support/clocked_server.h"
#include "support/decode.h"
#include "support/http_client.h"
#include "support/loop_thread.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

using std::chrono::seconds;
using test::HttpReply;

auto Words(std::size_t size, const std::string& word = "shell ") -> std::string {
  std::string text;
  while (text.size() < size) {
    text += word;
  }
  text.resize(size);
  return text;
}

// A directory that is served with compression.
class Site {
 public:
  explicit Site(FileCacheOptions cache = Large()) : server_(Setup(cache), Compressing()) {}

  static auto Large() -> FileCacheOptions {
    FileCacheOptions options;
    options.max_bytes = std::size_t{16} << 20;
    return options;
  }

  // Writes a file, and makes it so many seconds old.
  void Write(const std::string& name, const std::string& content, int age = 60) const {
    folder_.Write(name, content);
    std::filesystem::last_write_time(folder_.Path(name),
                                     std::filesystem::file_time_type::clock::now() - seconds(age));
  }

  // Gives a file the time of 2020, with these nanoseconds.
  void SetTime(const std::string& name, long nanoseconds) const {
    const timespec time{1'577'836'800, nanoseconds};
    const timespec times[] = {time, time};
    ASSERT_EQ(::utimensat(AT_FDCWD, folder_.Path(name).c_str(), times, 0), 0);
  }

  void Remove(const std::string& name) const { std::filesystem::remove(folder_.Path(name)); }

  auto Ask(const std::string& path, const std::string& accepts, const std::string& more = {})
      -> HttpReply {
    const std::string field = accepts.empty() ? "" : "Accept-Encoding: " + accepts + "\r\n";
    return client_.Ask(test::Get(path, field + more));
  }

  auto Head(const std::string& path, const std::string& accepts) -> HttpReply {
    return client_.Ask(
        "HEAD " + path + " HTTP/1.1\r\nHost: t\r\nAccept-Encoding: " + accepts + "\r\n\r\n",
        test::Asked::kHead);
  }

  // Asks until a response has this body, in this coding; as time passes, all that is new is old
  // enough to be trusted.
  auto AwaitBytes(const std::string& path, const std::string& coding, const std::string& bytes)
      -> HttpReply {
    const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
    while (true) {
      HttpReply reply = Ask(path, coding);
      const bool is_it = reply.Field("Content-Encoding") == coding && reply.body == bytes;
      if (is_it || std::chrono::steady_clock::now() > deadline) {
        EXPECT_TRUE(is_it) << reply.head;
        return reply;
      }
      server_.Advance(FileCache::kTrustTime);
    }
  }

  // The same for the plain text of a response.
  auto AwaitText(const std::string& path, const std::string& coding, const std::string& text)
      -> HttpReply {
    const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
    while (true) {
      HttpReply reply = Ask(path, coding);
      const bool is_it =
          reply.Field("Content-Encoding") == coding && test::Decode(coding, reply.body) == text;
      if (is_it || std::chrono::steady_clock::now() > deadline) {
        EXPECT_TRUE(is_it) << reply.head;
        return reply;
      }
    }
  }

  // Asks for the plain bytes until their tag is strong: until then, they may still change
  // unnoticed.
  auto AwaitStrongTag(const std::string& path) -> std::string {
    const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
    while (true) {
      std::string tag = Ask(path, "").Field("ETag");
      const bool is_strong = tag.substr(0, 1) == "\"";
      if (is_strong || std::chrono::steady_clock::now() > deadline) {
        EXPECT_TRUE(is_strong) << tag;
        return tag;
      }
      server_.Advance(FileCache::kTrustTime);
    }
  }

  auto Stats() -> LruStats {
    return server_.Loop().Ask([this] { return files_->CacheStats(); });
  }

 private:
  auto Setup(const FileCacheOptions& cache) -> std::function<void(Looper&, LoopHttp&)> {
    return [this, cache](Looper& looper, LoopHttp& http) {
      StaticFilesOptions options;
      options.root = folder_.Path();
      options.cache = cache;
      auto files = std::make_unique<StaticFiles>(looper, options);
      files_ = files.get();
      http.Mount("/", std::move(files));
    };
  }

  static auto Compressing() -> HttpOptions {
    HttpOptions options;
    options.compression = std::make_shared<const Compression>();
    return options;
  }

  test::SiteFolder folder_;
  StaticFiles* files_ = nullptr;
  test::ClockedServer server_;
  test::HttpClient client_{server_.Port()};
};

// --- encoded here --------------------------------------------------------------------------------

TEST(FileVariantsTest, AFileIsEncodedOnceForEachCoding) {
  Site site;
  const std::string text = Words(5000);
  site.Write("a.css", text);
  for (const std::string coding : {"gzip", "br", "zstd"}) {
    const HttpReply first = site.AwaitText("/a.css", coding, text);
    EXPECT_LT(first.body.size(), 500U);
    EXPECT_EQ(first.Field("Vary"), "Accept-Encoding");
    EXPECT_EQ(first.Field("Content-Type"), "text/css; charset=utf-8");
    EXPECT_EQ(first.Field("Content-Length"), std::to_string(first.body.size()));
    EXPECT_EQ(first.Field("Accept-Ranges"), "");
    EXPECT_EQ(site.Ask("/a.css", coding).head.substr(0, 17), "HTTP/1.1 200 OK\r\n");
    EXPECT_EQ(site.Ask("/a.css", coding).body, first.body);
  }
  const HttpReply plain = site.Ask("/a.css", "");
  EXPECT_EQ(plain.body, text);
  EXPECT_EQ(plain.Field("Vary"), "Accept-Encoding") << "caches on the way have to know";
  EXPECT_EQ(plain.Field("Accept-Ranges"), "bytes");
  EXPECT_EQ(site.Stats().entries, 1U) << "all are one entry";
}

TEST(FileVariantsTest, EachCodingHasItsTag) {
  Site site;
  site.Write("a.css", Words(5000));
  const std::string plain = site.AwaitStrongTag("/a.css");
  site.AwaitText("/a.css", "gzip", Words(5000));
  const std::string gzip = site.Ask("/a.css", "gzip").Field("ETag");
  const std::string br = site.Ask("/a.css", "br").Field("ETag");
  EXPECT_EQ(gzip, "W/" + plain.substr(0, plain.size() - 1) + "-gz\"");
  EXPECT_EQ(br, "W/" + plain.substr(0, plain.size() - 1) + "-br\"");
  const HttpReply same = site.Ask("/a.css", "gzip", "If-None-Match: " + gzip + "\r\n");
  EXPECT_EQ(same.status, 304);
  EXPECT_EQ(same.Field("ETag"), gzip);
  EXPECT_EQ(same.Field("Vary"), "Accept-Encoding");
  EXPECT_EQ(same.Field("Content-Encoding"), "");
  EXPECT_EQ(site.Ask("/a.css", "br", "If-None-Match: " + gzip + "\r\n").status, 200);
  EXPECT_EQ(site.Ask("/a.css", "", "If-None-Match: " + gzip + "\r\n").status, 200);
  EXPECT_EQ(site.Ask("/a.css", "gzip", "If-None-Match: " + plain + "\r\n").status, 200);
}

// Files are encoded one after the other: when the second is ready, the first would be, too.
TEST(FileVariantsTest, ALongFileStaysPlain) {
  Site site;
  const std::string small = Words(40'000);
  site.Write("big.css", Words(FileCoder::kMaxBytes + 1));
  site.Write("small.css", small);
  EXPECT_EQ(site.Ask("/big.css", "gzip").Field("Content-Encoding"), "");
  site.AwaitText("/small.css", "gzip", small);
  EXPECT_EQ(site.Ask("/big.css", "gzip").Field("Content-Encoding"), "");
}

// A crawler asks for all of them, and each that waits keeps a file open.
TEST(FileVariantsTest, FewLongFilesWaitAtATime) {
  constexpr std::size_t kFiles = FileCoder::kMaxJobs + 3;
  const test::SiteFolder folder;
  for (std::size_t i = 0; i < kFiles; ++i) {
    folder.Write(std::to_string(i) + ".css", Words(FileCoder::kStep + 1));
  }
  test::LoopThread loop;
  const UniqueFd root(::open(folder.Path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::optional<FileCache> cache;
  std::optional<FileCoder> coder;
  std::vector<PinTo<CachedFile>> files;
  loop.Ask([&] {
    cache.emplace(loop.Get(), root.Get(), Site::Large());
    coder.emplace(loop.Get(), *cache);
    for (std::size_t i = 0; i < kFiles; ++i) {
      const std::string name = std::to_string(i) + ".css";
      UniqueFd file(::open(folder.Path(name).c_str(), O_RDONLY | O_CLOEXEC));
      struct stat status {};
      ::fstat(file.Get(), &status);
      files.push_back(cache->Load(name, file, status, "text/css", true));
    }
    for (const PinTo<CachedFile>& file : files) {
      ASSERT_TRUE(file);
      EXPECT_FALSE(coder->Code(file, Coding::kGzip));
    }
  });
  ASSERT_TRUE(loop.Await(
      [&] { return static_cast<bool>(files[FileCoder::kMaxJobs - 1]->Variant(Coding::kGzip)); }));
  // A file is encoded after those that came before it: when this one is ready, all are.
  loop.Ask([&] { coder->Code(files.back(), Coding::kBrotli); });
  ASSERT_TRUE(
      loop.Await([&] { return static_cast<bool>(files.back()->Variant(Coding::kBrotli)); }));
  EXPECT_EQ(std::count_if(
                files.begin(), files.end(),
                [](const auto& file) { return static_cast<bool>(file->Variant(Coding::kGzip)); }),
            std::ptrdiff_t{FileCoder::kMaxJobs});
  loop.Ask([&] {
    files.clear();
    coder.reset();
    cache.reset();
  });
}

TEST(FileVariantsTest, ARangeIsOneOfThePlainBytes) {
  Site site;
  const std::string text = Words(5000);
  site.Write("a.css", text);
  const HttpReply gzip = site.AwaitText("/a.css", "gzip", text);
  const HttpReply part = site.Ask("/a.css", "gzip", "Range: bytes=10-19\r\n");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.Field("Content-Encoding"), "");
  EXPECT_EQ(part.body, text.substr(10, 10));
  const HttpReply whole =
      site.Ask("/a.css", "gzip", "Range: bytes=10-19\r\nIf-Range: " + gzip.Field("ETag") + "\r\n");
  EXPECT_EQ(whole.status, 200) << "a part of the plain bytes would not fit";
}

TEST(FileVariantsTest, AHeadSaysWhatAGetWouldGet) {
  for (const FileCacheOptions& cache : {Site::Large(), FileCacheOptions()}) {
    Site site(cache);
    site.Write("a.css", Words(5000));
    const HttpReply get = site.AwaitText("/a.css", "gzip", Words(5000));
    const HttpReply head = site.Head("/a.css", "gzip");
    for (const char* field : {"Content-Encoding", "Content-Length", "Vary", "ETag"}) {
      EXPECT_EQ(head.Field(field), get.Field(field)) << field << cache.max_bytes.has_value();
    }
  }
}

TEST(FileVariantsTest, AChangedFileIsEncodedAgain) {
  Site site;
  site.Write("a.css", Words(5000));
  site.AwaitText("/a.css", "gzip", Words(5000));
  site.Write("a.css", Words(6000, "other "));
  site.AwaitText("/a.css", "gzip", Words(6000, "other "));
}

TEST(FileVariantsTest, ALongFileIsServedAsItIsUntilItIsEncoded) {
  for (const std::size_t most_copied : {std::size_t{32} * 1024, std::size_t{1} << 20}) {
    FileCacheOptions options = Site::Large();
    options.max_copied_bytes = most_copied;
    Site site(options);
    const std::string text = Words(5 * FileCoder::kStep + 17, "the long way ");
    site.Write("a.js", text);
    const HttpReply first = site.Ask("/a.js", "gzip");
    EXPECT_EQ(first.Field("Content-Encoding"), "");
    EXPECT_EQ(first.body, text);
    EXPECT_EQ(first.Field("Vary"), "Accept-Encoding");
    site.AwaitText("/a.js", "gzip", text);
  }
}

TEST(FileVariantsTest, WhatDoesNotShrinkStaysAsItIs) {
  Site site;
  std::string noise;
  for (unsigned i = 0, next = 7; i < 5000; ++i) {
    next = next * 1664525U + 1013904223U;
    noise += static_cast<char>(next >> 24);
  }
  site.Write("a.txt", noise);
  site.Write("a.png", Words(5000));
  site.Write("short.txt", Words(999));
  for (int i = 0; i < 3; ++i) {
    for (const auto& [path, vary] : {std::pair("/a.txt", "Accept-Encoding"),
                                     {"/a.png", ""},
                                     {"/short.txt", "Accept-Encoding"}}) {
      const HttpReply reply = site.Ask(path, "gzip");
      EXPECT_EQ(reply.status, 200);
      EXPECT_EQ(reply.Field("Content-Encoding"), "") << path;
      EXPECT_EQ(reply.Field("Vary"), vary) << path;
    }
  }
}

// --- encoded in advance --------------------------------------------------------------------------

TEST(FileVariantsTest, AFileThatWasEncodedInAdvanceIsSentAsItIs) {
  Site site;
  site.Write("a.css", Words(5000));
  for (const auto& [coding, suffix] : {std::pair("gzip", ".gz"), {"br", ".br"}, {"zstd", ".zst"}}) {
    site.Write(std::string("a.css") + suffix, std::string("not really ") + coding, 30);
  }
  for (const char* coding : {"gzip", "br", "zstd"}) {
    const HttpReply reply = site.AwaitBytes("/a.css", coding, std::string("not really ") + coding);
    EXPECT_EQ(reply.Field("Content-Type"), "text/css; charset=utf-8");
    EXPECT_EQ(reply.Field("ETag").substr(0, 1), "\"") << "the same bytes each time";
  }
  EXPECT_EQ(site.Ask("/a.css", "").body, Words(5000));
}

// brotli(1) copies the time of the file, and loses the fraction.
TEST(FileVariantsTest, AFileThatHasTheTimeInWholeSecondsIsNotOlder) {
  Site site;
  site.Write("a.css", Words(5000));
  site.Write("a.css.br", "in advance");
  site.Write("a.css.gz", "from an earlier text");
  site.SetTime("a.css", 700'000'000);
  site.SetTime("a.css.br", 0);
  site.SetTime("a.css.gz", 699'999'999);
  site.AwaitBytes("/a.css", "br", "in advance");
  EXPECT_NE(site.Ask("/a.css", "gzip").body, "from an earlier text");
}

TEST(FileVariantsTest, AnOlderOneIsIgnoredAndSoIsALongerOne) {
  Site site;
  site.Write("a.css", Words(5000), 60);
  site.Write("a.css.gz", "from an earlier text", 61);
  site.Write("a.css.br", Words(5000), 30);
  site.AwaitText("/a.css", "gzip", Words(5000));
  site.AwaitText("/a.css", "br", Words(5000));
}

TEST(FileVariantsTest, AnEmptyOneIsNoEncoding) {
  Site site;
  const std::string text = Words(5000);
  site.Write("a.css", text);
  site.Write("a.css.gz", "");
  site.AwaitStrongTag("/a.css");
  site.AwaitText("/a.css", "gzip", text);
}

// It is then sent without the cache.
TEST(FileVariantsTest, AFileWithoutRoomInTheCacheIsSent) {
  FileCacheOptions cache;
  cache.max_bytes = 20'000;
  Site site(cache);
  for (const std::size_t size : {19'000, 19'700, 19'900, 20'000}) {
    site.Write("a.css", Words(size));
    EXPECT_EQ(site.Ask("/a.css", "").body, Words(size)) << size;
  }
  site.Write("b.css", Words(15'000));
  site.Write("b.css.gz", Words(8000));
  site.AwaitStrongTag("/b.css");
  EXPECT_EQ(site.Ask("/b.css", "").body, Words(15'000));
}

TEST(FileVariantsTest, ALargeOneIsKeptOpen) {
  Site site;
  const std::string large = Words(100'000, "large, but shorter ");
  site.Write("a.js", Words(200'000));
  site.Write("a.js.gz", large, 30);
  site.AwaitBytes("/a.js", "gzip", large);
  EXPECT_EQ(site.Ask("/a.js", "gzip").body, large);
}

TEST(FileVariantsTest, OneThatComesChangesOrGoesIsNoticed) {
  for (const FileCheck check : {FileCheck::kWatch, FileCheck::kAlways}) {
    FileCacheOptions options = Site::Large();
    options.check = check;
    Site site(options);
    site.Write("a.css", Words(5000));
    site.AwaitText("/a.css", "gzip", Words(5000));
    if (check == FileCheck::kWatch) {
      site.Write("a.css.gz", "comes", 30);
      site.AwaitBytes("/a.css", "gzip", "comes");
    }
    site.Write("a.css.gz", "changes", 20);
    if (check == FileCheck::kWatch) {
      site.AwaitBytes("/a.css", "gzip", "changes");
    }
    site.Remove("a.css.gz");
    site.AwaitText("/a.css", "gzip", Words(5000));
  }
}

}  // namespace
}  // namespace TURTLE_SERVER
