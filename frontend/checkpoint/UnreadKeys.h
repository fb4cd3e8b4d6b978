// What becomes of keys of config.json that no family asks for.
//
// Tools write into that file what concerns themselves: how to train, to
// generate, to export. Such a key cannot change what a model computes, so it is
// a remark. Any other key may, so it is refused, unless the user answers for
// it.
#ifndef EFFC_FRONTEND_CHECKPOINT_UNREADKEYS_H
#define EFFC_FRONTEND_CHECKPOINT_UNREADKEYS_H

#include "frontend/checkpoint/Json.h"

#include "llvm/ADT/StringSet.h"

namespace effc::frontend {

/// What was decided on the way and why, one plain line each.
using Remarks = std::vector<std::string>;

/// Says what is done about unread keys of one configuration.
struct UnreadKeys {
  /// The keys that the user answers for; one of an object inside is written
  /// with those that lead to it: "rope_scaling.finetuned".
  llvm::StringSet<> allowed;
  Remarks &remarks;
};

/// What is known of a key that nobody has asked for.
struct UnreadKey {
  /// Why it cannot change the results; empty where it may.
  std::string harmless;
  /// The values with which it could not; empty where none is known.
  std::string expected;
};

/// Judges a key by its name and value. A null and a key that begins with '_'
/// are harmless everywhere; what tools write, where `isWhole`: in a
/// configuration, not in an object inside it.
UnreadKey judgeUnreadKey(llvm::StringRef key, const JsonValue &value,
                         bool isWhole);

/// The keys that tools write: what a misspelt one may have meant.
std::vector<llvm::StringRef> listToolKeys();

} // namespace effc::frontend

#endif // EFFC_FRONTEND_CHECKPOINT_UNREADKEYS_H
