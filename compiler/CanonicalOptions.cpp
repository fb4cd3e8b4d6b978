// One row for each option: how it is written and read.
#include "compiler/CanonicalOptions.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace effc;

namespace {
struct CanonicalOption {
  StringRef name;
  /// Its value; empty where it has its default and is left out. A flag is
  /// written without a value.
  std::string (*write)(const CompileOptions &);
  /// False where `value` is none.
  bool (*read)(StringRef value, CompileOptions &);
  bool isFlag = false;
};
} // namespace

static std::string flag(bool set) { return set ? "set" : ""; }

/// A number whose default is 0.
static std::string count(int64_t number) {
  return number == 0 ? "" : std::to_string(number);
}

static bool readRows(StringRef text, SmallVectorImpl<int64_t> &rows) {
  rows.clear();
  for (StringRef part : split(text, ',')) {
    int64_t row;
    if (part.getAsInteger(10, row) || row < 1)
      return false;
    rows.push_back(row);
  }
  return true;
}

// The runtime reads --bit-stable and --force-form in this spelling
// (runtime/src/Exactness.cpp).
static const CanonicalOption kOptions[] = {
    {"--target",
     [](const CompileOptions &o) {
       std::string text;
       raw_string_ostream stream(text);
       interleave(
           o.targets, stream,
           [&](const Target *target) { stream << target->name; }, ",");
       return text;
     },
     [](StringRef value, CompileOptions &o) {
       o.targets.clear();
       for (StringRef name : split(value, ','))
         o.targets.push_back(findTarget(name));
       return !llvm::is_contained(o.targets, nullptr);
     }},
    {"--prefill-rows",
     [](const CompileOptions &o) {
       std::string text;
       raw_string_ostream stream(text);
       interleave(o.pipeline.prefillRows, stream, ",");
       return text;
     },
     [](StringRef value, CompileOptions &o) {
       return readRows(value, o.pipeline.prefillRows);
     }},
    {"--max-batch",
     [](const CompileOptions &o) {
       return std::to_string(o.pipeline.decodeRows.back());
     },
     [](StringRef value, CompileOptions &o) {
       int64_t batch;
       if (value.getAsInteger(10, batch) || batch < 1)
         return false;
       o.pipeline.decodeRows = decodeRowsFor(batch);
       return true;
     }},
    {"--max-context",
     [](const CompileOptions &o) { return count(o.pipeline.maxContext); },
     [](StringRef value, CompileOptions &o) {
       return !value.getAsInteger(10, o.pipeline.maxContext) &&
              o.pipeline.maxContext >= 1;
     }},
    {"--sinks", [](const CompileOptions &o) { return count(o.sinks); },
     [](StringRef value, CompileOptions &o) {
       return !value.getAsInteger(10, o.sinks) && o.sinks >= 1;
     }},
    {"--window", [](const CompileOptions &o) { return count(o.window); },
     [](StringRef value, CompileOptions &o) {
       return !value.getAsInteger(10, o.window) && o.window >= 1;
     }},
    {"--weights-type", [](const CompileOptions &o) { return o.weightsType; },
     [](StringRef value, CompileOptions &o) {
       o.weightsType = value.str();
       return isWeightsType(value);
     }},
    // The file's name alone, for whoever compiles or binds again has to give one.
    {"--importance",
     [](const CompileOptions &o) {
       return sys::path::filename(o.importance).str();
     },
     [](StringRef value, CompileOptions &o) {
       o.importance = value.str();
       return !value.empty();
     }},
    {"--state-dtype",
     [](const CompileOptions &o) {
       return o.pipeline.stateStorage == StateStorage::F32
                  ? std::string()
                  : nameOf(o.pipeline.stateStorage).str();
     },
     [](StringRef value, CompileOptions &o) {
       auto storage = findStateStorage(value);
       o.pipeline.stateStorage = storage.value_or(StateStorage::F32);
       return storage.has_value();
     }},
    {"--products",
     [](const CompileOptions &o) {
       // Given always: the default was another once.
       return nameOf(o.pipeline.products).str();
     },
     [](StringRef value, CompileOptions &o) {
       std::optional<Products> products = findProducts(value);
       o.pipeline.products = products.value_or(Products::Usual);
       return products.has_value();
     }},
    {"--dense",
     [](const CompileOptions &o) {
       return std::string(o.pipeline.libraryProducts ? "library" : "");
     },
     [](StringRef value, CompileOptions &o) {
       o.pipeline.libraryProducts = value == "library";
       return value == "library" || value == "generated" || value == "auto";
     }},
    {"--weights",
     [](const CompileOptions &o) {
       return std::string(o.weights == codegen::WeightsMode::Reference
                              ? "reference"
                          : o.weights == codegen::WeightsMode::None ? "none"
                                                                    : "");
     },
     [](StringRef value, CompileOptions &o) {
       o.weights = value == "reference" ? codegen::WeightsMode::Reference
                   : value == "none"    ? codegen::WeightsMode::None
                                        : codegen::WeightsMode::Embed;
       return value == "reference" || value == "none" || value == "embed";
     }},
    {"--ungrouped-norm",
     [](const CompileOptions &o) { return flag(o.ungroupedNorm); },
     [](StringRef, CompileOptions &o) {
       o.ungroupedNorm = true;
       return true;
     },
     /*isFlag=*/true},
    {"--hidden", [](const CompileOptions &o) { return flag(o.hidden); },
     [](StringRef, CompileOptions &o) {
       o.hidden = true;
       return true;
     },
     /*isFlag=*/true},
    {"--product-inputs",
     [](const CompileOptions &o) { return flag(o.productInputs); },
     [](StringRef, CompileOptions &o) {
       o.productInputs = true;
       return true;
     },
     /*isFlag=*/true},
    // Alternatives of one expression, which matches what they do.
    {"--tap", [](const CompileOptions &o) { return join(o.taps, "|"); },
     [](StringRef value, CompileOptions &o) {
       o.taps = {value.str()};
       return !value.empty();
     }},
    {"--allow", [](const CompileOptions &o) { return join(o.allow, ","); },
     [](StringRef value, CompileOptions &o) {
       o.allow.clear();
       for (StringRef key : split(value, ','))
         o.allow.push_back(key.str());
       return !llvm::is_contained(o.allow, "");
     }},
    {"--force-form",
     [](const CompileOptions &o) {
       return o.pipeline.forceForm ? spell(*o.pipeline.forceForm) : "";
     },
     [](StringRef value, CompileOptions &o) {
       o.pipeline.forceForm = parseForcedForm(value);
       return o.pipeline.forceForm.has_value();
     }},
    {"--bit-stable",
     [](const CompileOptions &o) {
       return std::string(!o.pipeline.bitStable       ? "false"
                          : o.pipeline.bitStableOnGpu ? "true"
                                                      : "");
     },
     [](StringRef value, CompileOptions &o) {
       o.pipeline.bitStable = value != "false";
       o.pipeline.bitStableOnGpu = value == "true";
       return value == "false" || value == "true";
     }},
    {"--no-optimise",
     [](const CompileOptions &o) { return flag(!o.pipeline.optimised); },
     [](StringRef, CompileOptions &o) {
       o.pipeline.optimised = false;
       return true;
     },
     /*isFlag=*/true},
    {"--no-tokenizer",
     [](const CompileOptions &o) { return flag(!o.tokenizer); },
     [](StringRef, CompileOptions &o) {
       o.tokenizer = false;
       return true;
     },
     /*isFlag=*/true},
    {"--strip-ir", [](const CompileOptions &o) { return flag(o.stripIr); },
     [](StringRef, CompileOptions &o) {
       o.stripIr = true;
       return true;
     },
     /*isFlag=*/true},
};

std::vector<std::string>
effc::writeCanonicalOptions(const CompileOptions &options) {
  std::vector<std::string> texts;
  for (const CanonicalOption &option : kOptions)
    if (std::string value = option.write(options); !value.empty())
      texts.push_back(option.isFlag ? option.name.str()
                                    : (option.name + "=" + value).str());
  return texts;
}

Error effc::readCanonicalOptions(ArrayRef<std::string> texts,
                                 CompileOptions &options) {
  CompileOptions all = options;
  // What files mean that do not say it.
  all.pipeline.products = Products::Exact;
  for (StringRef text : texts) {
    auto [name, value] = text.split('=');
    if (name == "--dtype") // what the option was called first
      name = "--weights-type";
    const CanonicalOption *known =
        find_if(kOptions, [&](const CanonicalOption &o) {
          return o.name == name && o.isFlag != text.contains('=');
        });
    if (known == std::end(kOptions))
      return createStringError("this compiler does not know the option '" +
                               text + "'");
    if (!known->read(value, all))
      return createStringError("option '" + name + "' cannot be '" + value +
                               "'");
  }
  options = std::move(all);
  return Error::success();
}
