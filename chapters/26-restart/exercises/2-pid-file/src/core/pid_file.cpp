#include "core/pid_file.h"

#include <utility>

namespace TURTLE_SERVER {

PidFile::PidFile(std::string path) : path_(std::move(path)) {}  // TODO: lock it, and write it

PidFile::~PidFile() = default;  // TODO: remove it

}  // namespace TURTLE_SERVER
