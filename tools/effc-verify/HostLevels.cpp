// A file's code for the levels of the host that nobody asked for: each that the
// machine runs is held to the reference, and to itself fed in steps.
#include "tools/effc-verify/CodeDifference.h"
#include "tools/effc-verify/Verification.h"

using namespace effc;
using namespace effc::verify;

std::vector<std::string> Verification::otherLevels() const {
  std::vector<std::string> others;
  if (!runsOnHost)
    return others;
  for (std::string &level : hostLevels(model))
    if (level != report.isa)
      others.push_back(std::move(level));
  return others;
}

void Verification::checkOtherLevels() {
  for (const std::string &level : otherLevels()) {
    std::string name = "code of " + level;
    if (options.device.name.starts_with("host:")) {
      report.skip(name, "--device " + options.device.name + " leaves it out");
      progress(done += kLevelChecks, total);
      continue;
    }
    const Target *target = findTarget(level);
    if (target && target->triple != hostTarget().triple) {
      report.skip(name, "it is for " + target->triple.str());
      progress(done += kLevelChecks, total);
      continue;
    }
    try {
      checkLevel(level);
    } catch (const effc::Error &error) {
      // What the machine lacks for it; anything else is wrong with the file.
      if (error.code() != EFFC_UNSUPPORTED)
        throw;
      report.skip(name, error.what());
      progress(done += kLevelChecks, total);
    }
  }
}

void Verification::checkLevel(const std::string &level) {
  Device device = Device::host(options.device.threads, level);
  Feeding other(model, device);
  Logits whole = other.inOnePrefill(tokens);
  if (all()) {
    Logits first(whole.begin(),
                 whole.begin() + static_cast<ptrdiff_t>(
                                     all()->getTokens().size() * columns));
    addLogits("this file's code of " + level, "reference", first,
              all()->getLogits(), prefillTolerance(all(), mostRows()), {});
  } else {
    report.skip("code of " + level + " against the reference",
                "there is no reference of all layers");
    progress(++done, total);
  }
  addLogits("decode steps by code of " + level, "one prefill by it",
            other.inSteps(tokens), whole, feedingTolerance(), {});
}
