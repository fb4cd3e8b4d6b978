#include "frontend/model/Head.h"

#include "frontend/checkpoint/Refusal.h"

using namespace effc::frontend;

llvm::Expected<bool> effc::frontend::isHeadTied(const HeadConfig &config,
                                                FamilyInput &input) {
  if (!config.tied || !input.checkpoint.has(config.head) ||
      !input.checkpoint.has(config.table))
    return config.tied;
  auto equal = input.checkpoint.areEqual(config.head, config.table);
  if (!equal)
    return equal.takeError();
  if (*equal) {
    input.checkpoint.leaveAside(config.head);
    input.remarks.push_back("tensor " + quote(config.head) +
                            " is left aside: it equals " + quote(config.table) +
                            ", to which it is tied");
    return true;
  }
  if (!config.mayDiffer)
    return refuse("config.json: expects " + quote(config.head) + " to equal " +
                  quote(config.table) + ", to which " + quote(config.key) +
                  " ties it, but they differ");
  input.remarks.push_back("the head is not tied, though config.json says " +
                          quote(config.key) + ": " + quote(config.head) +
                          " is there and differs from " + quote(config.table));
  return false;
}

void effc::frontend::leaveAside(FamilyInput &input,
                                llvm::ArrayRef<llvm::StringRef> endings,
                                llvm::ArrayRef<llvm::StringRef> starts) {
  for (llvm::StringRef name : input.checkpoint.getUnread()) {
    bool ends = llvm::any_of(
        endings, [&](llvm::StringRef end) { return name.ends_with(end); });
    bool begins = llvm::any_of(
        starts, [&](llvm::StringRef start) { return name.starts_with(start); });
    if (!ends && !begins)
      continue;
    input.checkpoint.leaveAside(name);
    input.remarks.push_back(
        "tensor " + quote(name) + " is left aside: it is " +
        (ends ? "a buffer, which follows from the configuration"
              : "of a part of the model that takes no text"));
  }
}

std::string
effc::frontend::findPrefix(FamilyInput &input,
                           llvm::ArrayRef<llvm::StringRef> prefixes,
                           llvm::ArrayRef<llvm::StringRef> tensors) {
  for (llvm::StringRef prefix : prefixes)
    for (llvm::StringRef tensor : tensors)
      if (input.checkpoint.has((prefix + tensor).str()))
        return prefix.str();
  return prefixes.front().str();
}
