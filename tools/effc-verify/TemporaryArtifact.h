// A place for an artifact that nobody keeps.
#ifndef EFFC_TOOLS_EFFC_VERIFY_TEMPORARYARTIFACT_H
#define EFFC_TOOLS_EFFC_VERIFY_TEMPORARYARTIFACT_H

#include <string>

namespace effc::verify {

/// A name in a new folder of its own under $TMPDIR (else /tmp), which goes with
/// the object, together with what lies there. Throws Failure.
class TemporaryArtifact {
public:
  TemporaryArtifact();
  ~TemporaryArtifact();
  TemporaryArtifact(const TemporaryArtifact &) = delete;
  TemporaryArtifact &operator=(const TemporaryArtifact &) = delete;

  std::string path() const { return folder + "/model.effc"; }

private:
  std::string folder;
};

} // namespace effc::verify

#endif // EFFC_TOOLS_EFFC_VERIFY_TEMPORARYARTIFACT_H
