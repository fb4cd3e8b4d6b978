// Kernels by their structure.
#include "passes/seq_to_tile/KnownKernels.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/Hashing.h"

using namespace mlir;
using namespace effc;

static constexpr OperationEquivalence::Flags kStructure =
    OperationEquivalence::IgnoreLocations;

// Of names, attributes and types; how values go from op to op is compared.
static size_t hashOf(Region &body) {
  llvm::hash_code hash = 0;
  for (Operation &op : body.front())
    hash = llvm::hash_combine(
        hash, OperationEquivalence::computeHash(
                  &op, OperationEquivalence::ignoreHashValue,
                  OperationEquivalence::ignoreHashValue, kStructure));
  return hash;
}

KnownKernels::Description::Description(seq::KernelOp kernel,
                                       const KernelContext &context)
    : body(std::make_unique<Region>()), root(kernel.getRoot()),
      context(context) {
  IRMapping mapping;
  kernel.getBody().cloneInto(body.get(), mapping);
}

const BuiltKernels *KnownKernels::find(seq::KernelOp kernel,
                                       const KernelContext &context) const {
  auto [first, last] = kernels.equal_range(hashOf(kernel.getBody()));
  for (auto known = first; known != last; ++known) {
    const auto &[description, built] = known->second;
    if (description.root == kernel.getRoot() &&
        description.context == context &&
        OperationEquivalence::isRegionEquivalentTo(
            description.body.get(), &kernel.getBody(), kStructure))
      return &built;
  }
  return nullptr;
}

void KnownKernels::add(Description described, BuiltKernels built) {
  size_t hash = hashOf(*described.body);
  kernels.emplace(hash, std::pair(std::move(described), std::move(built)));
}
