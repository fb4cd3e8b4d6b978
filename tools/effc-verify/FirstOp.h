// The op from which on two evaluations of a model differ.
#ifndef EFFC_TOOLS_EFFC_VERIFY_FIRSTOP_H
#define EFFC_TOOLS_EFFC_VERIFY_FIRSTOP_H

#include "compiler/OpProbe.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace effc::verify {

/// Evaluates a probe in both ways: whether each of its values differs, for any
/// token.
using Differing = std::function<std::vector<bool>(const OpProbe &)>;

struct FirstOp {
  std::string layer; // empty outside of the layers
  /// Empty where no single one differs once every result of the layer is
  /// written out, as where a wrong kernel computes several ops.
  std::string op;
};

/// Looks through what layers hand on, then through the ops of the first layer
/// that hands on something else. None where nothing differs before the logits.
/// Throws Failure where the model cannot be probed.
std::optional<FirstOp> findFirstOp(const StoredModel &model,
                                   const std::vector<int32_t> &tokens,
                                   const Differing &differing);

} // namespace effc::verify

#endif // EFFC_TOOLS_EFFC_VERIFY_FIRSTOP_H
