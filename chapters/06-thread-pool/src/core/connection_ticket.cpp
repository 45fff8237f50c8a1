#include "core/connection_ticket.h"

#include <utility>

namespace TURTLE_SERVER {

ConnectionTicket::ConnectionTicket(const Connection& connection)
    : mailbox_(connection.GetLooper()->GetMailbox()),
      looper_(connection.GetLooper()),
      id_(connection.Id()) {}

auto ConnectionTicket::Post(ConnectionCallback callback, Task gone) const -> bool {
  return mailbox_->Post(
      [looper = looper_, id = id_, callback = std::move(callback), gone = std::move(gone)] {
        Connection* connection = looper->Find(id);
        if (connection != nullptr) {
          try {
            callback(connection);
            connection->Send();
          } catch (...) {  // half of the output may be queued
            looper->DeleteConnection(id.fd);
            throw;
          }
        } else if (gone) {
          gone();
        }
      });
}

}  // namespace TURTLE_SERVER
