#include <gtest/gtest.h>

#include "bench/session_store.h"

namespace TURTLE_SERVER {
namespace {

auto Session(int version) -> SslSessionPtr {
  SslSessionPtr session(SSL_SESSION_new());
  SSL_SESSION_set_protocol_version(session.get(), version);
  return session;
}

TEST(SessionStoreTest, ATicketIsUsedOnce) {
  SessionStore store(4);
  EXPECT_EQ(store.Take(), nullptr);
  SslSessionPtr session = Session(TLS1_3_VERSION);
  const SSL_SESSION* const put = session.get();
  store.Put(std::move(session));
  EXPECT_EQ(store.Take().get(), put);
  EXPECT_EQ(store.Take(), nullptr);
}

TEST(SessionStoreTest, ASessionOfTls12MayBeUsedAgain) {
  SessionStore store(4);
  SslSessionPtr session = Session(TLS1_2_VERSION);
  const SSL_SESSION* const put = session.get();
  store.Put(std::move(session));
  const SslSessionPtr first = store.Take();
  EXPECT_EQ(first.get(), put);
  EXPECT_EQ(store.Take().get(), put);
}

TEST(SessionStoreTest, TheNewestComeFirstAndTheOldestAreDropped) {
  SessionStore store(2);
  const SSL_SESSION* put[3] = {};
  for (const SSL_SESSION*& each : put) {
    SslSessionPtr session = Session(TLS1_3_VERSION);
    each = session.get();
    store.Put(std::move(session));
  }
  EXPECT_EQ(store.Take().get(), put[2]);
  EXPECT_EQ(store.Take().get(), put[1]);
  EXPECT_EQ(store.Take(), nullptr);
}

TEST(SessionStoreTest, OneWithoutRoomKeepsNothing) {
  SessionStore store(0);
  store.Put(Session(TLS1_3_VERSION));
  EXPECT_EQ(store.Take(), nullptr);
}

}  // namespace
}  // namespace TURTLE_SERVER
