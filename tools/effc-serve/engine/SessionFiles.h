//===- SessionFiles.h - Sessions that outlive the process -----------------===//
//
// In a folder: ID.session, JSON with the tokens, and beside it a state file, which
// ID.session names. Each is written whole or not at all, the state file first, so
// that a session that can be found is whole. Whoever can write there can change what
// models say. Any thread, but one at a time for each session.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_TOOLS_EFFC_SERVE_ENGINE_SESSIONFILES_H
#define EFFC_TOOLS_EFFC_SERVE_ENGINE_SESSIONFILES_H

#include "tools/effc-serve/engine/Sessions.h"

#include <span>
#include <string>
#include <vector>

namespace effc::serve {

class SessionFiles {
public:
  /// `folder`: "": there is none, and each call throws ApiError. Made if it is not
  /// there; throws Failure where that is not possible.
  explicit SessionFiles(std::string folder);

  bool has(const std::string &id) const;
  /// Replaces what is saved of it. `model` is what its model is called.
  void save(const NamedSession &session, const std::string &model) const;
  /// Reads one back. Throws ApiError: there is none, it is damaged, or of a model
  /// that is not among `models`.
  NamedSession load(const std::string &id,
                    std::span<const std::unique_ptr<ServedModel>> models) const;
  void remove(const std::string &id) const;
  /// The names of those that are saved.
  std::vector<std::string> list() const;

private:
  std::string pathOf(const std::string &name) const;
  void requireFolder() const;
  std::string folder;
};

} // namespace effc::serve

#endif // EFFC_TOOLS_EFFC_SERVE_ENGINE_SESSIONFILES_H
