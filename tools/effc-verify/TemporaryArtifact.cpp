#include "tools/effc-verify/TemporaryArtifact.h"

#include "tools/terminal/Failure.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

using namespace effc::verify;

TemporaryArtifact::TemporaryArtifact() {
  const char *root = secure_getenv("TMPDIR");
  folder = std::string(root && *root ? root : "/tmp") + "/effc-verify-XXXXXX";
  if (!mkdtemp(folder.data()))
    throw cli::Failure("cannot make a folder '" + folder +
                       "': " + std::strerror(errno) +
                       "; TMPDIR names the folder that it is made in");
}

TemporaryArtifact::~TemporaryArtifact() {
  std::error_code ignored; // what cannot be removed stays in a temporary folder
  std::filesystem::remove_all(folder, ignored);
}
