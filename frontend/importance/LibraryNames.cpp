#include "frontend/importance/LibraryNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace effc;
using namespace effc::frontend;
using llvm::StringLiteral;
using llvm::StringRef;

namespace {

/// What rows of architectures call a tensor that a checkpoint has under another name: in
/// two parts that have the same inputs, of all experts together, or below another prefix.
struct OtherName {
  StringLiteral own, known;
  /// Empty: there is one part.
  StringLiteral second = "";
  bool ofAllExperts = false;
};

/// A tensor by names that rows of architectures may have.
struct KnownName {
  llvm::SmallVector<std::string, 2> parts;
  bool ofAllExperts = false;
};

} // namespace

static constexpr OtherName kOtherNames[] = {
    {"model.language_model.", "model."},
    {"shared_mlp.input_linear.", "shared_mlp.gate_proj.",
     "shared_mlp.up_proj."},
    {"block_sparse_moe.input_linear.", "block_sparse_moe.experts.0.gate_proj.",
     "block_sparse_moe.experts.0.up_proj.", true},
    {"block_sparse_moe.output_linear.", "block_sparse_moe.experts.0.down_proj.",
     "", true},
    // Of gpt-oss, whose rows speak of all experts, and of others.
    {"experts.gate_up_proj", "experts.gate_proj", "experts.up_proj", true},
    {"experts.gate_up_proj", "experts.0.gate_proj.weight",
     "experts.0.up_proj.weight", true},
    {"experts.up_proj", "experts.0.up_proj.weight", "", true},
    {"experts.down_proj", "experts.0.down_proj.weight", "", true},
    {".block_sparse_moe.gate_proj.", ".mlp.gate_proj."},
    {".block_sparse_moe.up_proj.", ".mlp.up_proj."},
    {".block_sparse_moe.down_proj.", ".mlp.down_proj."},
    {".moe.", ".feed_forward."},
    {"model.layers.", "backbone.layers."},
};

/// `name` under another name; nothing where that is about others.
static std::optional<KnownName> renamed(const KnownName &name,
                                        const OtherName &other) {
  KnownName result;
  result.ofAllExperts = name.ofAllExperts || other.ofAllExperts;
  for (const std::string &part : name.parts) {
    auto [before, after] = StringRef(part).split(other.own);
    if (before.size() == part.size())
      return std::nullopt;
    for (StringRef known : {other.known, other.second})
      if (!known.empty())
        result.parts.push_back((before + known + after).str());
  }
  return result;
}

/// The name itself first.
static std::vector<KnownName> knownNamesOf(StringRef source) {
  std::vector<KnownName> names(1);
  names.front().parts.push_back(source.str());
  // The first releases of GPT-2 and BLOOM lie without the prefix.
  for (StringRef start : {"h.", "wte.", "wpe.", "word_embeddings."})
    if (source.starts_with(start))
      names.emplace_back().parts.push_back("transformer." + source.str());
  for (const OtherName &other : kOtherNames)
    for (size_t i = 0, count = names.size(); i < count; ++i)
      if (std::optional<KnownName> more = renamed(names[i], other))
        names.push_back(std::move(*more));
  return names;
}

/// Where a flag of the converter joined matrices that have the same inputs.
static std::string joinedNameOf(StringRef given) {
  constexpr std::pair<StringLiteral, StringLiteral> kJoined[] = {
      {".attn_q.", ".attn_qkv."},
      {".attn_k.", ".attn_qkv."},
      {".attn_v.", ".attn_qkv."},
      {".ffn_gate_exps.", ".ffn_gate_up_exps."},
      {".ffn_up_exps.", ".ffn_gate_up_exps."}};
  for (const auto &[part, whole] : kJoined)
    if (auto [before, after] = given.split(part); before.size() < given.size())
      return (before + whole + after).str();
  return "";
}

LibraryNames::LibraryNames(StringRef modelType, bool isGguf) : isGguf(isGguf) {
  for (bool isOwn : {true, false}) {
    for (const GgufArchitecture *architecture : listGgufArchitectures())
      if ((architecture->modelType == modelType) == isOwn)
        architectures.push_back(architecture);
    if (isOwn)
      owned = architectures.size();
  }
}

std::optional<LibraryName> LibraryNames::find(StringRef source,
                                              GgufTensorIsThere isThere) const {
  auto nameThere = [&](StringRef given) -> std::string {
    for (std::string name : {given.str(), joinedNameOf(given)})
      if (!name.empty() && isThere(name))
        return name;
    return "";
  };
  for (const KnownName &known : knownNamesOf(source))
    for (const std::string &part : known.parts)
      for (const GgufArchitecture *architecture : architectures) {
        GgufGivenName given =
            findGivenName(*architecture, part, [&](StringRef name) {
              return !nameThere(name).empty();
            });
        if (given.name.empty())
          continue;
        if (!isGguf && given.hasOtherColumns)
          return std::nullopt;
        std::string name = nameThere(given.name);
        if (name.empty())
          continue;
        return LibraryName{std::move(name),
                           known.ofAllExperts ? std::optional<uint64_t>()
                                              : given.expert,
                           known.ofAllExperts || given.expert};
      }
  return std::nullopt;
}

std::vector<LibraryName> LibraryNames::own(StringRef source,
                                           bool hasExperts) const {
  auto ownNameOf = [&](StringRef part) -> GgufGivenName {
    for (const GgufArchitecture *architecture :
         llvm::ArrayRef(architectures).take_front(owned)) {
      GgufGivenName given =
          findGivenName(*architecture, part, [&](StringRef name) {
            return hasExperts && name.contains("_shexp.");
          });
      if (!given.name.empty() && (isGguf || !given.hasOtherColumns))
        return given;
    }
    return {};
  };
  for (const KnownName &known : knownNamesOf(source)) {
    std::vector<LibraryName> names;
    for (const std::string &part : known.parts) {
      GgufGivenName given = ownNameOf(part);
      if (given.name.empty())
        break;
      // Tensors of all experts have no such end in some checkpoints.
      StringRef end = StringRef(given.name).ends_with(".weight") ||
                              StringRef(given.name).ends_with(".bias")
                          ? ""
                          : ".weight";
      bool isOfExperts = known.ofAllExperts || given.expert;
      names.push_back(
          {given.name + end.str(),
           known.ofAllExperts ? std::optional<uint64_t>() : given.expert,
           isOfExperts});
    }
    if (names.size() == known.parts.size())
      return names;
  }
  return {};
}
