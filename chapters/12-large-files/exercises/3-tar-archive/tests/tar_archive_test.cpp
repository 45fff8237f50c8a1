// An archive that any tar(1) unpacks, although it was never a file.
#include "files/tar_archive.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "files/open_beneath.h"
#include "files/read_file.h"
#include "support/site_folder.h"

namespace TURTLE_SERVER {
namespace {

constexpr std::size_t kBlock = 512;

auto OpenDescriptors() -> int {
  int count = 0;
  for (int fd = 0; fd < 1024; ++fd) {
    count += fcntl(fd, F_GETFD) == -1 ? 0 : 1;
  }
  return count;
}

// A field of text, up to its first NUL.
auto Text(std::string_view block, std::size_t at, std::size_t size) -> std::string {
  const std::string_view field = block.substr(at, size);
  return std::string(field.substr(0, field.find('\0')));
}

auto Number(std::string_view block, std::size_t at, std::size_t size) -> std::uint64_t {
  return std::stoull(Text(block, at, size), nullptr, 8);
}

// Checks a head, and returns the size of the content after it.
auto CheckHead(std::string_view head) -> std::uint64_t {
  EXPECT_EQ(Text(head, 100, 8), "0000644");
  EXPECT_EQ(Number(head, 108, 8), 0U);
  EXPECT_EQ(Number(head, 116, 8), 0U);
  EXPECT_EQ(head[156], '0');
  EXPECT_EQ(head.substr(257, 8), std::string_view("ustar\00000", 8));
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kBlock; ++i) {
    sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(head[i]);
  }
  EXPECT_EQ(Number(head, 148, 8), sum);
  EXPECT_EQ(head.substr(154, 2), std::string_view("\0 ", 2));
  return Number(head, 124, 12);
}

class TarArchiveTest : public testing::Test {
 protected:
  TarArchiveTest() : root_(OpenFolder(site_.Path())) {
    site_.Write("a.txt", "first");
    site_.Write("sub/b.txt", std::string(1000, 'b'));
    site_.Write("block.bin", std::string(kBlock, 'k'));
    site_.Write("empty", "");
    site_.Link("out", "/etc/passwd");
  }

  auto Tar(const std::vector<std::string>& names) const -> Response {
    return TarResponse(root_.Get(), names);
  }

  static auto Bytes(const Response& response) -> std::string {
    std::string bytes;
    for (const BodyPiece& piece : response.Pieces()) {
      if (const auto* text = std::get_if<std::string>(&piece)) {
        bytes += *text;
      } else {
        const auto& slice = std::get<FileSlice>(piece);
        bytes += ReadFile(slice.fd, slice.offset, slice.length).value_or("(unreadable)");
      }
    }
    return bytes;
  }

  // The files of an archive, by name.
  static auto Unpack(const Response& response) -> std::map<std::string, std::string> {
    std::map<std::string, std::string> files;
    const std::string bytes = Bytes(response);
    EXPECT_EQ(bytes.size(), response.BodySize());
    EXPECT_EQ(bytes.size() % kBlock, 0U);
    std::size_t at = 0;
    while (at + kBlock <= bytes.size() && bytes[at] != '\0') {
      const std::string_view head = std::string_view(bytes).substr(at, kBlock);
      const std::uint64_t size = CheckHead(head);
      const std::string prefix = Text(head, 345, 155);
      at += kBlock;
      files[(prefix.empty() ? "" : prefix + '/') + Text(head, 0, 100)] = bytes.substr(at, size);
      const std::size_t padded = (size + kBlock - 1) / kBlock * kBlock;
      EXPECT_EQ(bytes.substr(at + size, padded - size), std::string(padded - size, '\0'));
      at += padded;
    }
    EXPECT_EQ(bytes.substr(at), std::string(2 * kBlock, '\0'));
    return files;
  }

  test::SiteFolder site_;
  UniqueFd root_;
};

TEST_F(TarArchiveTest, HasTheFilesAsTheyAre) {
  const Response response = Tar({"a.txt", "sub/b.txt", "block.bin", "empty"});
  ASSERT_EQ(response.Status(), 200);
  EXPECT_EQ(response.Find("Content-Type"), "application/x-tar");
  EXPECT_EQ(Unpack(response), (std::map<std::string, std::string>{
                                  {"a.txt", "first"},
                                  {"sub/b.txt", std::string(1000, 'b')},
                                  {"block.bin", std::string(kBlock, 'k')},
                                  {"empty", ""},
                              }));
}

TEST_F(TarArchiveTest, ReadsNone) {
  const Response response = Tar({"a.txt", "empty", "sub/b.txt"});
  int slices = 0;
  for (const BodyPiece& piece : response.Pieces()) {
    slices += std::holds_alternative<FileSlice>(piece) ? 1 : 0;
  }
  EXPECT_EQ(slices, 2);
}

TEST_F(TarArchiveTest, KnowsTheTimeOfAFile) {
  const timespec times[2] = {{1'600'000'000, 0}, {1'600'000'000, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, site_.Path("a.txt").c_str(), times, 0), 0);
  EXPECT_EQ(Number(Bytes(Tar({"a.txt"})).substr(0, kBlock), 136, 12), 1'600'000'000U);
}

TEST_F(TarArchiveTest, NothingIsAnArchiveToo) {
  EXPECT_EQ(Bytes(Tar({})), std::string(2 * kBlock, '\0'));
}

TEST_F(TarArchiveTest, LeavesOutWhatIsNoFileBeneathTheDirectory) {
  const int before = OpenDescriptors();
  const auto files = Unpack(Tar({"none", "sub", "out", "../x", "a.txt", ""}));
  EXPECT_EQ(files, (std::map<std::string, std::string>{{"a.txt", "first"}}));
  EXPECT_EQ(OpenDescriptors(), before) << "the files close with the response";
}

TEST_F(TarArchiveTest, SplitsLongNamesAtASlash) {
  const std::string d60(60, 'd');
  const std::string d90(90, 'e');
  for (const std::string& name : {
           std::string(100, 'n'),              // fits without a split
           d60 + '/' + std::string(100, 'n'),  // only there
           d60 + '/' + d90 + '/' + std::string(9, 'n'),
           d90 + '/' + d60 + "/" + d60,  // 90 + 60 before it, or 90
           std::string(155, 'p') + '/' + std::string(99, 'n'),
       }) {
    site_.Write(name, "long");
    const auto files = Unpack(Tar({name}));
    ASSERT_EQ(files.size(), 1U) << name;
    EXPECT_EQ(files.begin()->first, name);
    EXPECT_EQ(files.begin()->second, "long");
  }
}

TEST_F(TarArchiveTest, ANameThatDoesNotFitIsAnError) {
  for (const std::string& name : {
           std::string(101, 'n'),
           "d/" + std::string(101, 'n'),
           std::string(156, 'p') + "/n",
           std::string(100, 'p') + '/' + std::string(60, 'q') + '/' + std::string(101, 'n'),
       }) {
    site_.Write(name, "long");
    EXPECT_EQ(Tar({"a.txt", name}).Status(), 500) << name;
  }
}

TEST_F(TarArchiveTest, NeitherDoesASizeOfEightGibibytes) {
  constexpr std::uint64_t kLimit = std::uint64_t{8} * 1024 * 1024 * 1024;
  site_.Write("huge", "");
  std::filesystem::resize_file(site_.Path("huge"), kLimit - 1);
  EXPECT_EQ(Tar({"huge"}).BodySize(), kBlock + kLimit + 2 * kBlock);
  std::filesystem::resize_file(site_.Path("huge"), kLimit);
  EXPECT_EQ(Tar({"huge"}).Status(), 500);
}

TEST_F(TarArchiveTest, TooManyAreRefused) {
  EXPECT_EQ(Tar(std::vector<std::string>(kMaxArchivedFiles, "a.txt")).Status(), 200);
  EXPECT_EQ(Tar(std::vector<std::string>(kMaxArchivedFiles + 1, "a.txt")).Status(), 400);
}

}  // namespace
}  // namespace TURTLE_SERVER
