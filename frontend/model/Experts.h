// Small layers of which each token takes a few.
#ifndef EFFC_FRONTEND_MODEL_EXPERTS_H
#define EFFC_FRONTEND_MODEL_EXPERTS_H

#include "frontend/model/ModelBuilder.h"

namespace effc::frontend {

/// What a router makes of its logits.
enum class RouterScore { Softmax, Sigmoid };

struct ExpertsConfig {
  /// E, the number that a token takes, and F, the hidden units of each.
  int64_t experts = 1, taken = 1, hidden = 1;
  seq::Nonlinearity activation = seq::Nonlinearity::Silu;
  RouterScore score = RouterScore::Softmax;
  /// Whether the weights of the experts taken sum up to 1.
  bool normalised = true;
  /// What is added to the sum by which weights are divided, where they are.
  double shareEpsilon = 0;
  /// Whether one expert taken is weighed so too, by its share of itself, 1.
  bool sharesAlone = false;
  /// Whether a number for each expert is added to its score where experts are
  /// chosen, and left out where they are weighed.
  bool balanced = false;
  /// G groups of E / G experts each, and how many of them a token takes its
  /// experts from: those whose best experts have the largest sums. Of one group
  /// a token takes any.
  int64_t groups = 1, groupsTaken = 1;
  /// How many best experts a group counts by: one or two.
  int64_t groupBest = 2;
  /// What the sum of the experts taken is multiplied with.
  double scale = 1;
  /// Hidden units of a layer that every token passes; 0: there is none.
  int64_t shared = 0;
  /// Whether hidden units are multiplied with gates. Without, `gate` names
  /// nothing.
  bool gated = true;
  /// Channels to which a matrix leads tokens before the experts, and another
  /// one back; 0: experts take tokens themselves.
  int64_t latent = 0;
  /// Of these matrices and of the shared layer.
  bool bias = false;
};

/// The tensors: `source` + `router` + ".weight", and for each expert its three
/// behind `source` + `experts` + "." + its number. Where the checkpoint has
/// them, two for all experts instead: gates and ups [E, 2 F, D], or ups alone
/// [E, F, D], and outputs [E, D, F]. Without a `sharedGate` nothing weighs the shared layer, else a
/// sigmoid does.
struct ExpertsNames {
  std::string name, source;
  llvm::StringRef router = "gate", experts = "experts";
  llvm::StringRef gate = "gate_proj", up = "up_proj", down = "down_proj";
  llvm::StringRef allGateUps = "experts.gate_up_proj",
                  allUps = "experts.up_proj", allDowns = "experts.down_proj";
  /// What balances them, behind `source`; empty: that of the router.
  llvm::StringRef balance = "";
  llvm::StringRef shared = "shared_expert", sharedGate = "shared_expert_gate";
  llvm::StringRef latentIn = "fc1_latent_proj", latentOut = "fc2_latent_proj";
};

/// Which layers have experts: every so many, those left out that a list names.
struct ExpertsPattern {
  int64_t period = 1;
  std::vector<int64_t> without;

  bool holds(int64_t layer) const {
    return (layer + 1) % period == 0 && !llvm::is_contained(without, layer);
  }
};

/// Reads `num_experts`, or `num_local_experts`, and `num_experts_per_tok`, the
/// number that is not above it, `moe_intermediate_size` and `norm_topk_prob`,
/// true where `normalised`. Problems are left in the reader.
ExpertsConfig readExperts(ConfigReader &reader, bool normalised);

/// Reads `num_local_experts` and `num_experts_per_tok`, `taken` where it is
/// missing, of experts with `hidden` units. Problems are left in the reader.
ExpertsConfig readLocalExperts(ConfigReader &reader, int64_t hidden,
                               int64_t taken);

/// Reads G, the key `groups`, and how many are taken, the key `taken`: each may be
/// null, which stands for 1, or missing, which stands for what is given. Experts and
/// `groupBest` are known. Problems are left in the reader.
void readExpertGroups(ConfigReader &reader, ExpertsConfig &config,
                      llvm::StringRef groups, llvm::StringRef taken,
                      int64_t groupsOtherwise = 1, int64_t takenOtherwise = 1);

/// Reads `decoder_sparse_step` and `mlp_only_layers`.
ExpertsPattern readExpertsPattern(ConfigReader &reader, int64_t layers);

/// The weights of all experts: gates and ups, or ups alone; and outputs.
struct ExpertWeights {
  mlir::Value inner, outer;
};

/// Of experts that take `width` channels.
ExpertWeights declareExperts(ModelBuilder &model, const ExpertsConfig &config,
                             const ExpertsNames &names, int64_t width);

/// The sum of what chosen experts make of x, in the phases of a retrieval: the
/// experts `rows` of each token, weighed by `shares`, [T, J] each.
mlir::Value emitChosenExperts(ModelBuilder &model, const ExpertsConfig &config,
                              const std::string &name,
                              const ExpertWeights &weights, mlir::Value shares,
                              mlir::Value rows, mlir::Value x);

mlir::Value emitExperts(ModelBuilder &model, const ExpertsConfig &config,
                        const ExpertsNames &names, mlir::Value x);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_MODEL_EXPERTS_H
