#include "web/upload.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "support/no_descriptors.h"
#include "support/read_body.h"
#include "support/site_folder.h"
#include "support/small_files.h"

namespace TURTLE_SERVER {
namespace {

auto Field(const std::string& name, const std::string& value) -> std::string {
  return "--b\r\nContent-Disposition: form-data; name=" + name + "\r\n\r\n" + value + "\r\n";
}

auto File(const std::string& name, const std::string& content) -> std::string {
  return "--b\r\nContent-Disposition: form-data; name=" + name +
         "; filename=f.txt\r\nContent-Type: text/plain\r\n\r\n" + content + "\r\n";
}

auto WriteAll(Upload& upload, const std::string& body, std::size_t size = SIZE_MAX) -> int {
  const std::string whole = body + "--b--\r\n";
  for (const std::string_view piece : test::InPiecesOf(size, whole)) {
    if (const HeadFault fault = upload.Write(piece)) {
      EXPECT_EQ(upload.Write("--b").status, fault.status) << "an answer that was given stays";
      EXPECT_EQ(upload.Finish().status, fault.status);
      return fault.status;
    }
  }
  return upload.Finish().status;
}

auto ContentOf(const UploadedPart* part) -> std::string {
  if (part == nullptr) {
    return "missing";
  }
  std::string text = part->text;
  if (part->IsOnDisk()) {
    EXPECT_EQ(text, "");
    std::array<char, 4096> bytes;
    for (ssize_t count = 1; count > 0;) {
      count =
          ::pread(part->file.GetFd(), bytes.data(), bytes.size(), static_cast<off_t>(text.size()));
      text.append(bytes.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
    }
  }
  EXPECT_EQ(part->size, text.size());
  return text;
}

auto ContentOf(const std::string& path) -> std::string {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class UploadTest : public testing::Test {
 protected:
  UploadTest() {
    options_.folder = folder_.Path();
    options_.max_field_bytes = 100;
    options_.max_memory_file_bytes = 10;
    options_.max_files_on_disk = 2;
  }

  test::SiteFolder folder_;
  UploadOptions options_;
};

TEST_F(UploadTest, FieldsAndSmallFilesStayInMemoryAndLargeOnesDoNot) {
  const std::string large(20'000, 'x');
  const std::string body =
      Field("a", "1") + File("small", "12345") + File("large", large) + Field("b", "2");
  for (const std::size_t size : {std::size_t{1}, std::size_t{7}, body.size()}) {
    Upload upload("b", options_);
    ASSERT_EQ(WriteAll(upload, body, size), 0);
    ASSERT_EQ(upload.Parts().size(), 4U);
    EXPECT_EQ(ContentOf(upload.Find("a")), "1");
    EXPECT_EQ(ContentOf(upload.Find("b")), "2");
    EXPECT_EQ(ContentOf(upload.Find("small")), "12345");
    EXPECT_EQ(ContentOf(upload.Find("large")), large);
    EXPECT_FALSE(upload.Find("small")->IsOnDisk());
    EXPECT_TRUE(upload.Find("large")->IsOnDisk());
    EXPECT_EQ(upload.Find("large")->header.filename, "f.txt");
    EXPECT_EQ(upload.Find("large")->header.content_type, "text/plain");
    EXPECT_EQ(upload.Find("c"), nullptr);
    EXPECT_TRUE(std::filesystem::is_empty(folder_.Path())) << "the file has a name";
  }
}

TEST_F(UploadTest, AFileOnDiskIsReadFromItsStart) {
  Upload upload("b", options_);
  ASSERT_EQ(WriteAll(upload, File("a", "more than ten")), 0);
  std::array<char, 20> bytes;
  ASSERT_EQ(::read(upload.Find("a")->file.GetFd(), bytes.data(), bytes.size()), 13);
  EXPECT_EQ(std::string_view(bytes.data(), 13), "more than ten");
}

TEST_F(UploadTest, FilesShareTheMemoryAndGiveItBack) {
  Upload upload("b", options_);
  const std::string body = File("a", "1234567890") + File("b", "x") + File("c", "") +
                           File("d", "12345678901") + Field("e", "5");
  ASSERT_EQ(WriteAll(upload, body), 0);
  EXPECT_FALSE(upload.Find("a")->IsOnDisk()) << "exactly the limit";
  EXPECT_TRUE(upload.Find("b")->IsOnDisk());
  EXPECT_FALSE(upload.Find("c")->IsOnDisk());
  EXPECT_TRUE(upload.Find("d")->IsOnDisk());
  EXPECT_EQ(ContentOf(upload.Find("b")), "x");
  // A file that moves to the disk halfway leaves its room to the next.
  Upload again("b", options_);
  ASSERT_EQ(WriteAll(again, File("a", "12345678901") + File("b", "1234567890"), 1), 0);
  EXPECT_TRUE(again.Find("a")->IsOnDisk());
  EXPECT_FALSE(again.Find("b")->IsOnDisk());
}

TEST_F(UploadTest, LimitsAreExact) {
  const auto status_of = [&](const std::string& body) {
    Upload whole("b", options_);
    Upload bytes("b", options_);
    const int status = WriteAll(whole, body);
    EXPECT_EQ(WriteAll(bytes, body, 1), status);
    return status;
  };
  EXPECT_EQ(status_of(Field("n", std::string(99, 'x'))), 0);
  EXPECT_EQ(status_of(Field("n", std::string(100, 'x'))), 413);
  EXPECT_EQ(status_of(Field("n", std::string(98, 'x')) + Field("m", "")), 0);
  EXPECT_EQ(status_of(Field("n", std::string(98, 'x')) + Field("nm", "")), 413) << "names count";
  const std::string large = "more than ten";
  EXPECT_EQ(status_of(File("a", large) + File("b", large) + File("c", "small")), 0);
  EXPECT_EQ(status_of(File("a", large) + File("b", large) + File("c", large)), 413);
  options_.limits.max_part_bytes = large.size() - 1;
  EXPECT_EQ(status_of(File("a", large)), 413) << "the parser's limits are obeyed";
}

TEST_F(UploadTest, WhatIsMalformedOrCutOffIsRefused) {
  Upload malformed("b", options_);
  EXPECT_EQ(malformed.Write("--bx").status, 400);
  Upload cut("b", options_);
  EXPECT_FALSE(cut.Write(File("a", "more than ten")));
  EXPECT_EQ(cut.Finish().status, 400);
  EXPECT_EQ(cut.FileError(), 0);
}

TEST_F(UploadTest, ADiskThatDoesNotTakeItIs503) {
  options_.folder = folder_.Path("missing");
  Upload nowhere("b", options_);
  EXPECT_EQ(WriteAll(nowhere, File("a", "more than ten")), 503);
  EXPECT_EQ(nowhere.FileError(), ENOENT);
  options_.folder = folder_.Path();
  Upload crowded("b", options_);
  const test::NoDescriptors none;
  EXPECT_EQ(WriteAll(crowded, File("a", "more than ten")), 503);
  EXPECT_EQ(crowded.FileError(), EMFILE);
}

TEST_F(UploadTest, AFullDiskIsNoticedWhereverItIs) {
  Upload upload("b", options_);
  ASSERT_EQ(WriteAll(upload, File("a", "few bytes")), 0);
  const test::SmallFiles full(5);
  for (const std::size_t size : {std::size_t{20}, std::size_t{20'000}}) {
    Upload other("b", options_);
    EXPECT_EQ(WriteAll(other, File("a", std::string(size, 'x'))), 503) << size;
    EXPECT_EQ(other.FileError(), EFBIG) << size;
  }
  EXPECT_EQ(upload.Find("a")->Save(folder_.Path("a")), EFBIG);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.Path())) << "a part would pass for the whole";
}

TEST_F(UploadTest, IsSavedInTheWorkingFolderToo) {
  Upload upload("b", options_);
  ASSERT_EQ(WriteAll(upload, File("a", "few")), 0);
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.Path());
  const int error = upload.Find("a")->Save("saved");
  std::filesystem::current_path(before);
  EXPECT_EQ(error, 0);
  EXPECT_EQ(ContentOf(folder_.Path("saved")), "few");
}

TEST_F(UploadTest, IsSavedUnderANameOfTheServer) {
  Upload upload("b", options_);
  ASSERT_EQ(WriteAll(upload, File("large", "more than ten") + File("small", "few")), 0);
  for (const char* name : {"large", "small"}) {
    const UploadedPart& part = *upload.Find(name);
    ASSERT_EQ(part.Save(folder_.Path(name)), 0) << name;
    EXPECT_EQ(ContentOf(folder_.Path(name)), ContentOf(&part)) << name;
    EXPECT_EQ(std::filesystem::status(folder_.Path(name)).permissions(),
              std::filesystem::perms(0600));
    EXPECT_EQ(part.Save(folder_.Path(name)), EEXIST) << name;
    EXPECT_EQ(part.Save(folder_.Path("missing/") + name), ENOENT) << name;
  }
}

TEST_F(UploadTest, NothingStaysOfAnUploadThatIsGivenUp) {
  {
    Upload upload("b", options_);
    EXPECT_FALSE(upload.Write(File("a", "more than ten")));
    EXPECT_TRUE(upload.Find("a")->IsOnDisk());
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.Path()));
}

}  // namespace
}  // namespace TURTLE_SERVER
