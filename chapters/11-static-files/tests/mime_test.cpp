#include "http/mime.h"

#include <gtest/gtest.h>

#include <string>

namespace TURTLE_SERVER {
namespace {

constexpr std::string_view kUnknown = "application/octet-stream";

TEST(MimeTest, KnowsWhatASiteIsMadeOf) {
  EXPECT_EQ(MimeType("/index.html"), "text/html; charset=utf-8");
  EXPECT_EQ(MimeType("style.css"), "text/css; charset=utf-8");
  EXPECT_EQ(MimeType("a/b/app.js"), "text/javascript; charset=utf-8");
  EXPECT_EQ(MimeType("module.mjs"), "text/javascript; charset=utf-8");
  EXPECT_EQ(MimeType("search_index.json"), "application/json");
  EXPECT_EQ(MimeType("logo.svg"), "image/svg+xml");
  EXPECT_EQ(MimeType("photo.jpeg"), "image/jpeg");
  EXPECT_EQ(MimeType("sitemap.xml"), "application/xml");
  EXPECT_EQ(MimeType("sitemap.xml.gz"), "application/gzip");
  EXPECT_EQ(MimeType("font.woff"), "font/woff");
  EXPECT_EQ(MimeType("font.woff2"), "font/woff2");
  EXPECT_EQ(MimeType("code.wasm"), "application/wasm");
  EXPECT_EQ(MimeType("first.7z"), "application/x-7z-compressed");
  EXPECT_EQ(MimeType("last.zst"), "application/zstd");
}

TEST(MimeTest, KnowsDocumentsFilmsAndArchives) {
  EXPECT_EQ(MimeType("a.docx"),
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document");
  EXPECT_EQ(MimeType("a.xlsx"),
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet");
  EXPECT_EQ(MimeType("a.pptx"),
            "application/vnd.openxmlformats-officedocument.presentationml.presentation");
  EXPECT_EQ(MimeType("a.doc"), "application/msword");
  EXPECT_EQ(MimeType("a.odt"), "application/vnd.oasis.opendocument.text");
  EXPECT_EQ(MimeType("a.m3u8"), "application/vnd.apple.mpegurl");
  EXPECT_EQ(MimeType("a.ts"), "video/mp2t");
  EXPECT_EQ(MimeType("a.avi"), "video/x-msvideo");
  EXPECT_EQ(MimeType("a.mkv"), "video/matroska");
  EXPECT_EQ(MimeType("a.3gp"), "video/3gpp");
  EXPECT_EQ(MimeType("a.mpd"), "application/dash+xml");
  EXPECT_EQ(MimeType("a.rar"), "application/vnd.rar");
  EXPECT_EQ(MimeType("a.jar"), "application/java-archive");
  EXPECT_EQ(MimeType("a.tsv"), "text/tab-separated-values; charset=utf-8");
  EXPECT_EQ(MimeType("a.heic"), "image/heic");
}

TEST(MimeTest, TheCaseOfAnExtensionDoesNotMatter) {
  EXPECT_EQ(MimeType("INDEX.HTM"), "text/html; charset=utf-8");
  EXPECT_EQ(MimeType("Photo.JpG"), "image/jpeg");
}

TEST(MimeTest, OnlyTheLastExtensionOfTheLastNameCounts) {
  EXPECT_EQ(MimeType("archive.html.zip"), "application/zip");
  EXPECT_EQ(MimeType("/site.html/data"), kUnknown);
  EXPECT_EQ(MimeType("/v1.2/README"), kUnknown);
  EXPECT_EQ(MimeType("/.html"), kUnknown);
  EXPECT_EQ(MimeType("/.hidden.html"), "text/html; charset=utf-8");
}

TEST(MimeTest, AnythingElseIsBytes) {
  for (const char* path : {"", "/", ".", "..", "name.", "name.htmlx", "name.htm l", "html",
                           "name.averyveryverylongextension", "name.\xff\xfe"}) {
    EXPECT_EQ(MimeType(path), kUnknown) << path;
  }
  EXPECT_EQ(MimeType(std::string_view("a.html\0b", 8)), kUnknown);
}

}  // namespace
}  // namespace TURTLE_SERVER
