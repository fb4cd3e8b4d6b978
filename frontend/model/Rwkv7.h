// The recurrence of RWKV7, with what its authors put around it: keys of length
// 1 that are corrected, keys that follow from rates, and a bonus of the token.
#ifndef EFFC_FRONTEND_MODEL_RWKV7_H
#define EFFC_FRONTEND_MODEL_RWKV7_H

#include "frontend/model/ModelBuilder.h"

namespace effc::frontend {

struct Rwkv7Config {
  int64_t heads = 1, keys = 1, values = 1; // H, K, V
  /// Whether keys are divided by sqrt(|k|^2 + 1e-6), or by max(|k|, 1e-12).
  bool unitByRoot = false;

  int64_t keyWidth() const { return heads * keys; }
  int64_t inner() const { return heads * values; }
};

/// What a token's projections give, [T, H K] but for the values [T, H V], and
/// two vectors [H K].
struct Rwkv7Parts {
  mlir::Value read, decay, key, value, rate;
  mlir::Value keyWeight, rateWeight;
};

/// [T, H V]: what the recurrence reads, and each head's sum over key channels
/// of r k r_k, times its values. `name` ends with a point; the tensor `bonus`
/// has r_k.
struct Rwkv7Mixed {
  mlir::Value mixed, bonus;
};
Rwkv7Mixed emitRwkv7(ModelBuilder &model, const Rwkv7Config &config,
                     const std::string &name, const Rwkv7Parts &parts,
                     const std::string &bonus);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_MODEL_RWKV7_H
