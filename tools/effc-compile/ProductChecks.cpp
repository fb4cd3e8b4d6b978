#include "tools/effc-compile/ProductChecks.h"

using namespace effc;

static bool hasDevice(const CompileOptions &options, tile::Device device) {
  return llvm::any_of(options.targets, [&](const Target *target) {
    return target->device == device;
  });
}

static std::string joinedNames(llvm::ArrayRef<const Target *> targets) {
  std::string names;
  for (const Target *target : targets)
    names += (names.empty() ? "" : ", ") + target->name.str();
  return names;
}

/// Of kinds that round what GPUs multiply, and what some levels of the host do.
static std::string checkRounded(const CompileOptions &options) {
  Products products = options.pipeline.products;
  if (!roundsOnGpus(products) || hasDevice(options, tile::Device::Nvptx))
    return "";
  std::string others;
  for (const Target &target : targets())
    if (products == Products::BF16 && target.multipliesBf16) {
      others += " and " + target.name.str();
      if (llvm::is_contained(options.targets, &target))
        return "";
    }
  return "rounds what GPUs" + others + " multiply, but " +
         (options.targets.size() > 1 ? "the targets are " : "the target is ") +
         joinedNames(options.targets);
}

/// Of kinds that round rows of the host, by weights in panels.
static std::string checkIntegers(const CompileOptions &options) {
  Products products = options.pipeline.products;
  if (products != Products::Int16 && products != Products::Int8)
    return "";
  if (!hasDevice(options, tile::Device::Host))
    return "rounds what the host multiplies, but it is no target";
  if (options.canPackWeights())
    return "";
  return std::string("rounds rows that weights in panels multiply, but ") +
         (options.weights == codegen::WeightsMode::Reference
              ? "--weights reference"
              : "code for a GPU") +
         " has weights in rows: compile for the host alone, with its weights";
}

std::string effc::cli::checkProducts(const CompileOptions &options) {
  for (const std::string &wrong :
       {checkRounded(options), checkIntegers(options)})
    if (!wrong.empty())
      return "--products " + nameOf(options.pipeline.products).str() + " " +
             wrong;
  return "";
}
