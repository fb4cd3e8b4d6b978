// What bears that the numbers it reads are rounded to 16 bits.
#ifndef EFFC_DIALECTS_SEQ_CONDITIONING_H
#define EFFC_DIALECTS_SEQ_CONDITIONING_H

#include "mlir/IR/Value.h"

namespace effc::seq {

/// Whether rounding the elements that are read to 16 bits changes what follows by
/// little more than rounding the rows of products does: products with weights read
/// their rows, mixers what they multiply, well-conditioned ops their tokens
/// (`OpTrait::WellConditioned`). What bears no rounding: sums, since the residual is
/// one; what mixers make decays and exponents of; scores by which something is
/// chosen; states; what leaves the function.
///
/// Elementwise ops and views are followed, from one seq.kernel to the next as well.
bool bearsRounding(mlir::OpOperand &read);
/// The same of all that reads `tensor`.
bool bearsRounding(mlir::Value tensor);

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_CONDITIONING_H
