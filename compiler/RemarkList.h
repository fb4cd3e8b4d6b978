// Remarks as people read them: each once, of all layers together, counted.
#ifndef EFFC_COMPILER_REMARKLIST_H
#define EFFC_COMPILER_REMARKLIST_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace effc {

/// Collects remarks in the order in which they are made. Entry points and targets
/// have kernels of the same ops, whose remarks come once for each.
class RemarkList {
public:
  /// `targets` are all that are compiled for.
  explicit RemarkList(std::vector<std::string> targets)
      : targets(std::move(targets)) {}

  /// What is said from here on is of one target; empty: of none in particular.
  void setTarget(llvm::StringRef target) { current = target.str(); }
  void add(llvm::StringRef where, llvm::StringRef text);

  /// Each remark once, without "remark: " before it and a line's end behind: what
  /// some targets alone say names them, "layers.0.ssd (host): ...".
  std::vector<std::string> lines() const;
  /// The same with what is said alike of several layers on one line, "layers.0-5.ssd:
  /// ...", where its first stands; and a summary as the last line. None where
  /// there is no remark.
  std::vector<std::string> groupedLines() const;

private:
  struct Remark {
    std::string where, text;
    std::vector<std::string> targets;
  };
  std::vector<std::string> targets;
  std::string current;
  std::vector<Remark> remarks;
  llvm::StringMap<size_t> known; // by place and text
};

/// "0-3, 5, 7-8" as "0-3,5,7-8", of ascending numbers.
std::string describeNumbers(const std::vector<unsigned> &numbers);

} // namespace effc

#endif // EFFC_COMPILER_REMARKLIST_H
