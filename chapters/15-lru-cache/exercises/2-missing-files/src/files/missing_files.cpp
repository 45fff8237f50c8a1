#include "files/missing_files.h"

namespace TURTLE_SERVER {

// TODO
MissingFiles::MissingFiles(Looper& /*looper*/, int /*root*/, std::size_t /*max_bytes*/) {}

auto MissingFiles::IsMissing(std::string_view /*name*/) -> bool { return false; }

void MissingFiles::Note(const std::string& /*name*/) {}

auto MissingFiles::Stats() const noexcept -> LruStats { return {}; }

}  // namespace TURTLE_SERVER
