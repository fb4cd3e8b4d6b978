// Experts of one hidden unit that a token retrieves by product keys, as the
// authors of Cheems and Doge store them.
#ifndef EFFC_FRONTEND_MODEL_RETRIEVEDEXPERTS_H
#define EFFC_FRONTEND_MODEL_RETRIEVEDEXPERTS_H

#include "frontend/model/ModelBuilder.h"

namespace effc::frontend {

struct RetrievedExperts {
  /// N experts, S keys of each half, the heads that retrieve, the experts that
  /// each of them takes, and the channels of a query.
  int64_t rows = 1, side = 1, heads = 1, taken = 1, retrieval = 2;
  seq::Nonlinearity activation = seq::Nonlinearity::Silu;
};

/// Reads `is_moe` and the keys beside it; absent where it is false. Problems
/// are left in the reader.
std::optional<RetrievedExperts> readRetrievedExperts(ConfigReader &reader);

/// What the experts give for x [T, D]. Tensors are called after `source`, ops
/// after `name`.
mlir::Value emitRetrievedExperts(ModelBuilder &model,
                                 const RetrievedExperts &config,
                                 const std::string &name,
                                 const std::string &source, mlir::Value x);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_MODEL_RETRIEVEDEXPERTS_H
