// Handlers that several tests use.
#pragma once

#include "core/connection.h"
#include "core/looper.h"

namespace TURTLE_SERVER::test {

/// Deletes a connection from its loop.
inline void Delete(Connection* connection) {
  connection->GetLooper()->DeleteConnection(connection->GetFd());
}

/// The handler of the documentation, without its call of Send().
inline void Echo(Connection* connection) {
  const auto [read, exit] = connection->Recv();
  if (exit) {
    Delete(connection);
    return;
  }
  connection->WriteToWriteBuffer(connection->Read());
  connection->ClearReadBuffer();
}

}  // namespace TURTLE_SERVER::test
