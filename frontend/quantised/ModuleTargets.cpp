#include "frontend/quantised/ModuleTargets.h"

#include "frontend/checkpoint/Refusal.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace effc::frontend;

/// Whether a pattern has a part that Python reads as more than POSIX does.
static bool isPythons(llvm::StringRef pattern) {
  for (size_t i = 0; i + 1 < pattern.size(); ++i) {
    if (pattern[i] == '\\' && llvm::isAlnum(pattern[i + 1]))
      return true;
    if (llvm::StringRef("(*+?}").contains(pattern[i]) && pattern[i + 1] == '?')
      return true;
    if (pattern[i] == '\\')
      ++i;
  }
  return false;
}

ModuleTargets ModuleTargets::read(ConfigReader &config, llvm::StringRef key) {
  ModuleTargets targets;
  const JsonValue *value = config.get(key);
  const JsonArray *list = value ? value->getArray() : nullptr;
  if (!list || list->empty() || llvm::any_of(*list, [](const JsonValue &one) {
        return !one.getString();
      })) {
    config.report("expects " + quote(key) + " to be a list of texts" +
                  (value ? ", but got " + value->describe() : std::string()));
    return targets;
  }
  for (const JsonValue &one : *list) {
    llvm::StringRef text = *one.getString();
    if (text.consume_front("re:")) {
      std::string problem;
      if (isPythons(text) || !llvm::Regex(text).isValid(problem))
        config.report("the pattern " + quote(text) + " in " + quote(key) +
                      " is not read" + (problem.empty() ? "" : ": " + problem));
      targets.patterns.push_back(("^(" + text + ")").str());
    } else if (text.contains('.') || text == "lm_head") {
      targets.names.push_back(text.str());
    } else {
      targets.hasClasses = true;
    }
  }
  return targets;
}

llvm::Expected<size_t> ModuleTargets::find(llvm::ArrayRef<ModuleTargets> lists,
                                           llvm::StringRef module) {
  if (lists.size() == 1)
    return 0;
  auto at = llvm::find_if(lists, [&](const ModuleTargets &list) {
    return llvm::is_contained(list.names, module);
  });
  if (at == lists.end())
    at = llvm::find_if(lists, [&](const ModuleTargets &list) {
      return llvm::any_of(list.patterns, [&](const std::string &pattern) {
        return llvm::Regex(pattern).match(module);
      });
    });
  auto hasClasses = [](const ModuleTargets &list) { return list.hasClasses; };
  if (at == lists.end() && llvm::count_if(lists, hasClasses) == 1)
    at = llvm::find_if(lists, hasClasses);
  if (at == lists.end())
    return refuse("config.json: quantization_config: no group of "
                  "'config_groups' says that it is the one of module " +
                  quote(module));
  return size_t(at - lists.begin());
}
