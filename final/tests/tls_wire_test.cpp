// The wire of a session: what OpenSSL reads from it and writes to it, and what fails.
#include "tls/tls_wire.h"

#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "core/block_pool.h"
#include "core/io_result.h"
#include "core/out_queue.h"
#include "support/certificate_files.h"
#include "support/failing_new.h"
#include "tls/openssl.h"

namespace TURTLE_SERVER {
namespace {

// --- memory that runs out, OpenSSL's too --------------------------------------------------------

auto OpenSslAllocate(std::size_t size, const char* /*file*/, int /*line*/) -> void* {
  return test::Allocate(size);
}

auto OpenSslReallocate(void* memory, std::size_t size, const char* /*file*/, int /*line*/)
    -> void* {
  return std::realloc(memory, size);
}

void OpenSslFree(void* memory, const char* /*file*/, int /*line*/) { std::free(memory); }

// OpenSSL agrees only before its first allocation, CRYPTO_set_mem_functions(3).
const bool openssl_may_fail =
    CRYPTO_set_mem_functions(OpenSslAllocate, OpenSslReallocate, OpenSslFree) == 1;

// Takes all free blocks of this thread, so that an OutQueue has to allocate.
class EmptyPool {
 public:
  EmptyPool() {
    while (BlockPool::Kept() != 0) {
      blocks_.push_back(BlockPool::Take());
    }
  }
  EmptyPool(const EmptyPool&) = delete;
  auto operator=(const EmptyPool&) -> EmptyPool& = delete;
  ~EmptyPool() {
    for (void* const block : blocks_) {
      BlockPool::Give(block);
    }
  }

 private:
  std::vector<void*> blocks_;
};

// --- bytes --------------------------------------------------------------------------------------

// Returns what is in a queue, and takes it.
auto Take(OutQueue& queue) -> std::string {
  std::string text(queue.Size(), '\0');
  for (std::size_t copied = 0; copied < text.size();) {
    const IoResult result = queue.Copy(text.data() + copied, text.size() - copied);
    if (result.status != IoStatus::kBytes || result.bytes == 0) {
      ADD_FAILURE() << "the queue has no bytes";
      break;
    }
    copied += result.bytes;
    queue.Consume(result.bytes);
  }
  return text;
}

class TlsWireTest : public testing::Test {
 protected:
  TlsWireTest() : context_(SSL_CTX_new(TLS_method())), session_(SSL_new(context_.get())) {
    wire_.Connect(*session_);
    bio_ = SSL_get_rbio(session_.get());
  }

  // Reads at most so many bytes; "" if there are none.
  [[nodiscard]] auto Read(std::size_t most) const -> std::string {
    std::string text(most, '\0');
    std::size_t read = 0;
    const int result = BIO_read_ex(bio_, text.data(), most, &read);
    EXPECT_EQ(result, read == 0 ? 0 : 1);
    text.resize(read);
    return text;
  }

  // Writes a text. @return false if the wire doesn't take all of it
  [[nodiscard]] auto Write(std::string_view text) const -> bool {
    std::size_t written = 1234;
    const bool good = BIO_write_ex(bio_, text.data(), text.size(), &written) == 1;
    EXPECT_EQ(written, good ? text.size() : 0);
    return good;
  }

  OutQueue output_;
  TlsWire wire_;
  SslContextPtr context_;
  SslPtr session_;
  BIO* bio_ = nullptr;  // the session's
};

// --- reading ------------------------------------------------------------------------------------

TEST_F(TlsWireTest, ReadsTheInputPieceByPiece) {
  wire_.Begin("a turtle", output_);
  EXPECT_EQ(Read(1), "a");
  EXPECT_EQ(Read(4), " tur");
  EXPECT_EQ(Read(100), "tle");
  EXPECT_EQ(Read(100), "");
  wire_.End();
}

TEST_F(TlsWireTest, ReadsBytesOfAnyValue) {
  const std::string bytes("\0\xff\n\0", 4);
  wire_.Begin(bytes, output_);
  EXPECT_EQ(Read(4), bytes);
  wire_.End();
}

TEST_F(TlsWireTest, EmptyInputIsARetryAndNoEnd) {
  wire_.Begin({}, output_);
  EXPECT_EQ(Read(10), "");
  EXPECT_TRUE(BIO_should_retry(bio_));
  EXPECT_TRUE(BIO_should_read(bio_));
  EXPECT_FALSE(BIO_should_write(bio_));
  EXPECT_FALSE(BIO_eof(bio_));
  wire_.End();
}

TEST_F(TlsWireTest, AReadThatSucceedsIsNoRetry) {
  wire_.Begin({}, output_);
  EXPECT_EQ(Read(10), "");
  wire_.Begin("x", output_);
  EXPECT_EQ(Read(10), "x");
  EXPECT_FALSE(BIO_should_retry(bio_));
  wire_.End();
}

TEST_F(TlsWireTest, ASessionWithoutInputWantsToRead) {
  SSL_set_accept_state(session_.get());
  wire_.Begin({}, output_);
  const int result = SSL_do_handshake(session_.get());
  EXPECT_EQ(SSL_get_error(session_.get(), result), SSL_ERROR_WANT_READ);
  wire_.End();
  EXPECT_TRUE(output_.Empty());
}

TEST_F(TlsWireTest, TheEndForgetsTheInput) {
  wire_.Begin("a turtle", output_);
  EXPECT_EQ(Read(2), "a ");
  wire_.End();
  EXPECT_EQ(Read(10), "");
  wire_.Begin({}, output_);
  EXPECT_EQ(Read(10), "");
  wire_.End();
}

// --- writing ------------------------------------------------------------------------------------

TEST_F(TlsWireTest, AppendsWhatIsWrittenInOrder) {
  output_.Append("before, ");
  wire_.Begin({}, output_);
  EXPECT_TRUE(Write("one, "));
  EXPECT_TRUE(Write("two"));
  wire_.End();
  EXPECT_EQ(Take(output_), "before, one, two");
}

TEST_F(TlsWireTest, EachCallHasItsOwnOutput) {
  OutQueue other;
  wire_.Begin({}, output_);
  EXPECT_TRUE(Write("one"));
  wire_.End();
  wire_.Begin({}, other);
  EXPECT_TRUE(Write("two"));
  wire_.End();
  EXPECT_EQ(Take(output_), "one");
  EXPECT_EQ(Take(other), "two");
}

TEST_F(TlsWireTest, WithoutOutputAWriteFailsForGood) {
  EXPECT_FALSE(Write("before"));
  wire_.Begin({}, output_);
  EXPECT_EQ(Read(10), "");  // leaves the mark of a retry
  wire_.End();
  EXPECT_FALSE(Write("after"));
  EXPECT_FALSE(BIO_should_retry(bio_));
  EXPECT_TRUE(output_.Empty());
}

TEST_F(TlsWireTest, FlushesAtOnceAndKnowsNoOtherCommand) {
  EXPECT_EQ(BIO_flush(bio_), 1);
  EXPECT_EQ(BIO_pending(bio_), 0U);
  EXPECT_EQ(BIO_reset(bio_), 0);
}

// --- no memory ----------------------------------------------------------------------------------

TEST_F(TlsWireTest, TheEndThrowsOnceWhatTheOutputThrew) {
  const EmptyPool pool;
  wire_.Begin({}, output_);
  test::FailAllocations(1);
  const bool first = Write("one");
  EXPECT_EQ(test::StopFailing(), 1U);
  EXPECT_FALSE(first);
  EXPECT_FALSE(BIO_should_retry(bio_));
  EXPECT_THROW(wire_.End(), std::bad_alloc);
  EXPECT_NO_THROW(wire_.End());
}

TEST_F(TlsWireTest, AfterAFailureNothingIsWrittenUntilTheEnd) {
  const EmptyPool pool;
  wire_.Begin({}, output_);
  test::FailAllocations(1);
  EXPECT_FALSE(Write("one"));
  EXPECT_EQ(test::StopFailing(), 1U);
  EXPECT_FALSE(Write("two")) << "the peer would see a gap";
  EXPECT_THROW(wire_.End(), std::bad_alloc);
  EXPECT_TRUE(output_.Empty());
  wire_.Begin({}, output_);
  EXPECT_TRUE(Write("three"));
  EXPECT_NO_THROW(wire_.End());
  EXPECT_EQ(Take(output_), "three");
}

TEST_F(TlsWireTest, AfterAFailureInputIsForgottenToo) {
  const EmptyPool pool;
  wire_.Begin("a turtle", output_);
  test::FailAllocations(1);
  EXPECT_FALSE(Write("one"));
  EXPECT_EQ(test::StopFailing(), 1U);
  EXPECT_THROW(wire_.End(), std::bad_alloc);
  EXPECT_EQ(Read(10), "");
  EXPECT_FALSE(Write("two")) << "there is no output";
}

TEST(TlsWireMemoryTest, AWireThatHasNoMemoryThrowsAndTheNextOneIsGood) {
  if (!openssl_may_fail) {
    GTEST_SKIP() << "OpenSSL has allocated memory before main()";
  }
  const SslContextPtr context(SSL_CTX_new(TLS_method()));
  std::size_t refused = 0;
  bool has_failed = true;
  for (std::size_t first = 1; has_failed; ++first) {
    TlsWire wire;
    const SslPtr session(SSL_new(context.get()));
    ASSERT_NE(session, nullptr);
    test::FailAllocations(first);
    try {
      wire.Connect(*session);
    } catch (const std::bad_alloc&) {
      ++refused;
    }
    has_failed = test::StopFailing() != 0;
    ERR_clear_error();
  }
  EXPECT_GT(refused, 0U);
  TlsWire wire;
  const SslPtr session(SSL_new(context.get()));
  wire.Connect(*session);
  OutQueue output;
  wire.Begin("x", output);
  std::array<char, 2> read{};
  EXPECT_EQ(BIO_read(SSL_get_rbio(session.get()), read.data(), 1), 1);
  EXPECT_EQ(read[0], 'x');
  wire.End();
}

// --- sessions -----------------------------------------------------------------------------------

TEST_F(TlsWireTest, TheSessionReadsAndWritesByTheSameWire) {
  EXPECT_EQ(SSL_get_rbio(session_.get()), bio_);
  EXPECT_EQ(SSL_get_wbio(session_.get()), bio_);
}

TEST(TlsWireSessionTest, TwoSessionsTalkOverTheirWires) {
  const test::CertificateFiles certificate{};
  const SslContextPtr context(SSL_CTX_new(TLS_method()));
  ASSERT_EQ(SSL_CTX_use_certificate(context.get(), certificate.Get()), 1);
  ASSERT_EQ(SSL_CTX_use_PrivateKey(context.get(), certificate.PrivateKey()), 1);
  std::array<TlsWire, 2> wires;
  const std::array<SslPtr, 2> sessions = {SslPtr(SSL_new(context.get())),
                                          SslPtr(SSL_new(context.get()))};
  SSL_set_connect_state(sessions[0].get());
  SSL_set_accept_state(sessions[1].get());
  for (std::size_t side = 0; side < 2; ++side) {
    wires[side].Connect(*sessions[side]);
  }
  std::string input;
  OutQueue output;
  for (int step = 0; step < 6; ++step) {  // the client's, the server's, the client's ...
    const auto side = static_cast<std::size_t>(step % 2);
    wires[side].Begin(input, output);
    ERR_clear_error();
    SSL_do_handshake(sessions[side].get());
    wires[side].End();
    input = Take(output);
  }
  ASSERT_TRUE(SSL_is_init_finished(sessions[0].get()));
  ASSERT_TRUE(SSL_is_init_finished(sessions[1].get()));

  const std::string sent(40'000, 't');  // three records
  wires[0].Begin({}, output);
  ASSERT_EQ(SSL_write(sessions[0].get(), sent.data(), static_cast<int>(sent.size())),
            static_cast<int>(sent.size()));
  wires[0].End();
  input = Take(output);
  EXPECT_GT(input.size(), sent.size());
  EXPECT_EQ(input.find("tttttttt"), std::string::npos);
  std::string received;
  wires[1].Begin(input, output);
  std::array<char, 16384> bytes{};
  std::size_t read = 0;
  while (SSL_read_ex(sessions[1].get(), bytes.data(), bytes.size(), &read) == 1) {
    received.append(bytes.data(), read);
  }
  wires[1].End();
  EXPECT_EQ(received, sent);
}

}  // namespace
}  // namespace TURTLE_SERVER
