#include "web/line_format.h"

namespace TURTLE_SERVER {

LineFormat::LineFormat(std::string_view /*text*/) {}  // TODO

void LineFormat::Append(const AccessLogLine& /*line*/, const ExchangeRecord& /*record*/,
                        std::string& /*out*/) const {}  // TODO

}  // namespace TURTLE_SERVER
