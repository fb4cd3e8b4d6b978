// What the tokens of a time loop hand on to one another.
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_CARRIED_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_CARRIED_H

#include "mlir/IR/Value.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <array>

namespace effc {

/// States between tokens as tiles, and what the tokens so far do to the state
/// before them. Absent ones are null.
struct Carried {
  mlir::Value matrix, imaginary, sum, maximum;
  /// The product of the tokens' decays, or with a stabiliser the sum of their
  /// logarithms: an f32 per head, else a tile of the axis; `imaginary` that of
  /// complex numbers.
  mlir::Value decay, decayImaginary, valueDecay;

  /// Those that are there, in a fixed order.
  llvm::SmallVector<mlir::Value> values() const {
    llvm::SmallVector<mlir::Value> present;
    for (auto member : kMembers)
      if (this->*member)
        present.push_back(this->*member);
    return present;
  }
  /// The same ones with other values, as `values` orders them.
  Carried with(mlir::ValueRange values) const {
    assert(values.size() == this->values().size());
    Carried carried;
    for (auto member : kMembers)
      if (this->*member) {
        carried.*member = values.front();
        values = values.drop_front();
      }
    return carried;
  }

private:
  static constexpr std::array<mlir::Value Carried::*, 7> kMembers = {
      &Carried::matrix,    &Carried::imaginary, &Carried::sum,
      &Carried::maximum,   &Carried::decay,     &Carried::decayImaginary,
      &Carried::valueDecay};
};

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_BUILDERS_CARRIED_H
