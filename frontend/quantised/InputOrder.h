// A matrix whose inputs were sorted before it was quantised ("an order of activations"):
// inputs of one group lie apart from each other, and no block of its columns has one scale.
// The checkpoint has such a matrix twice, and the order beside it:
//
//   X.weight              F32 [N, K]     as it is multiplied by
//   X.weight.in_groups    blocks [N, K]  column j is column order[j] of X.weight
//   X.weight.input_order  F32 [K]        order: the inputs group by group, by number
#ifndef EFFC_FRONTEND_QUANTISED_INPUTORDER_H
#define EFFC_FRONTEND_QUANTISED_INPUTORDER_H

#include "frontend/checkpoint/TensorFile.h"

#include <optional>

namespace effc::frontend {

inline std::string inGroupsName(llvm::StringRef matrix) {
  return (matrix + ".in_groups").str();
}
inline std::string inputOrderName(llvm::StringRef matrix) {
  return (matrix + ".input_order").str();
}

/// Inputs by number, those of a group in their order; none where a group but the last has
/// not `each` inputs.
std::optional<std::vector<uint32_t>>
orderByGroups(llvm::ArrayRef<uint32_t> groups, uint64_t each);

/// The tensor of an order.
class InputOrder : public TensorMaker {
public:
  /// `ofMatrix` are the parts of the matrix, of which it takes no bytes.
  InputOrder(std::vector<uint32_t> order, std::vector<Part> ofMatrix);

  llvm::Expected<std::vector<uint8_t>>
  make(llvm::ArrayRef<llvm::ArrayRef<uint8_t>> bytes) const override;

private:
  std::vector<uint32_t> order;
};

} // namespace effc::frontend

#endif // EFFC_FRONTEND_QUANTISED_INPUTORDER_H
