#include "frontend/gguf/Adapted.h"

#include "dialects/seq/Remarks.h"
#include "frontend/checkpoint/Refusal.h"
#include "frontend/gguf/Names.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace effc::frontend;

std::string AdaptedGguf::say(llvm::StringRef message) const {
  return sayInGgufNames(
      message, *architecture, fields,
      [&](llvm::StringRef name) { return tensors.contains(name); }, file);
}

llvm::Error AdaptedGguf::say(llvm::Error error) const {
  if (!error)
    return error;
  return refuse(say(llvm::toString(std::move(error))));
}

/// The one that the file names, or a problem in the keys.
static const GgufArchitecture *readArchitecture(GgufMetadata &keys) {
  constexpr llvm::StringLiteral kKey = "general.architecture";
  if (!keys.has(kKey)) {
    keys.report("lacks key 'general.architecture'");
    return nullptr;
  }
  const std::string *name = keys.getString(kKey);
  if (!name)
    return nullptr;
  const GgufArchitecture *architecture = findGgufArchitecture(*name);
  if (!architecture)
    keys.report("architecture " + quote(*name) +
                " is not supported; "
                "supported: " +
                llvm::join(llvm::map_range(listGgufArchitectures(),
                                           [](const GgufArchitecture *one) {
                                             return one->name;
                                           }),
                           ", "));
  return architecture;
}

/// The format's own library knows one version of its blocks.
static void checkBlocks(GgufMetadata &keys) {
  constexpr llvm::StringLiteral kKey = "general.quantization_version";
  if (auto version = keys.getInteger(kKey, 0, 1000); version && *version != 2)
    keys.report("expects " + quote(kKey) + " to be 2, but got " +
                llvm::Twine(*version) + ": convert the model again");
}

/// What the architecture's keys may change is not known.
static void checkAllAsked(GgufMetadata &keys, llvm::StringRef architecture,
                          llvm::ArrayRef<std::string> allowed,
                          std::vector<std::string> &remarks) {
  std::vector<std::string> refused;
  for (llvm::StringRef key : keys.getUnread((architecture + ".").str()))
    if (llvm::is_contained(allowed, key))
      remarks.push_back(keys.getFile() + ": " + quote(key) +
                        " is ignored: --allow " + key.str());
    else
      refused.push_back(key.str());
  if (refused.empty())
    return;
  bool isOne = refused.size() == 1;
  std::string named;
  for (const std::string &key : refused)
    named += (named.empty() ? "" : ", ") + quote(key);
  std::string text =
      "unknown key" + std::string(isOne ? " " : "s ") + named +
      (isOne ? " is refused: it may" : " are refused: they may") +
      " change the model";
  // Names that can stand on a command line.
  if (llvm::none_of(refused, [](llvm::StringRef key) {
        return key.contains(',') || quote(key) != ("'" + key + "'").str();
      }))
    text += "; where nothing depends on " + std::string(isOne ? "it" : "them") +
            ", --allow " + llvm::join(refused, ",");
  keys.report(text);
}

namespace {

/// Makes a file's table of tensors that of a family's checkpoint.
class TableAdapter {
public:
  TableAdapter(GgufConfig &config, const GgufArchitecture &architecture,
               llvm::StringSet<> &names, std::vector<std::string> &remarks)
      : config(config), keys(config.getKeys()), architecture(architecture),
        names(names), remarks(remarks) {}

  std::vector<TensorEntry> adapt(llvm::ArrayRef<TensorEntry> entries) {
    for (const TensorEntry &entry : entries)
      if (!config.isTaken(entry.name) && !isFactor(entry.name) &&
          !isOfFurtherLayer(entry.name))
        add(entry);
    if (furtherTensors > 0)
      remarks.push_back(std::to_string(furtherTensors) +
                        " tensors are left aside: they are of layers that "
                        "predict further tokens (" +
                        quote(config.keyOf("nextn_predict_layers")) + ")");
    return std::move(adapted);
  }

private:
  /// Some architectures have factors of their own.
  bool isFactor(llvm::StringRef name) {
    if ((!name.ends_with(".scale") && !name.ends_with(".input_scale")) ||
        match(name))
      return false;
    keys.report("tensor " + quote(name) +
                " is a factor of NVFP4 weights, which are not read");
    return true;
  }

  bool isOfFurtherLayer(llvm::StringRef name) {
    int64_t layer;
    if (!name.consume_front("blk.") || name.consumeInteger(10, layer) ||
        layer < config.getLayers() ||
        layer >= config.getLayers() + config.getFurtherLayers())
      return false;
    ++furtherTensors;
    return true;
  }

  /// Some of the matrices or rows that a tensor is made of, counted by its
  /// outermost dimension.
  static TensorEntry slice(const TensorEntry &entry, uint64_t first,
                           uint64_t count) {
    TensorEntry part = entry;
    uint64_t each = (entry.end - entry.begin) / entry.shape.front();
    part.begin = entry.begin + first * each;
    part.end = part.begin + count * each;
    part.shape.front() = count;
    return part;
  }

  /// One matrix of several.
  static TensorEntry matrixOf(const TensorEntry &entry, uint64_t index) {
    TensorEntry part = slice(entry, index, 1);
    part.shape.erase(part.shape.begin());
    return part;
  }

  bool isThere(llvm::StringRef name) { return config.getModel().find(name); }

  std::optional<GgufNameMatch> match(llvm::StringRef name) {
    return matchGgufName(architecture, name,
                         [&](llvm::StringRef other) { return isThere(other); });
  }

  void add(const TensorEntry &entry) {
    auto match = this->match(entry.name);
    if (!match) {
      if (!addFusedHeads(entry) && !addFusedExperts(entry))
        put(entry);
      return;
    }
    if (match->row->rule == GgufRule::Unused) {
      remarks.push_back("tensor " + quote(entry.name) +
                        " is left aside: the model has no use of it");
      return;
    }
    if (match->row->name.contains('#'))
      return addExperts(entry, *match);
    if (match->row->name.contains('{'))
      return addParts(entry, *match);
    TensorEntry renamed = entry;
    renamed.name = match->nameOf();
    switch (match->row->rule) {
    case GgufRule::None:
      break;
    case GgufRule::Pairs:
      if (!turnPairs(renamed, entry.name))
        return;
      break;
    case GgufRule::NegatedExponential:
      renamed.numbers = NumberRule::LogOfNegated;
      break;
    case GgufRule::Exponential:
      renamed.numbers = NumberRule::Log;
      break;
    case GgufRule::Unflattened:
      renamed.shape = {elementsOf(entry)};
      break;
    case GgufRule::FlatHeads:
      if (elementsOf(entry) % uint64_t(config.getHeadWidth()) == 0)
        renamed.shape = {elementsOf(entry) / uint64_t(config.getHeadWidth()),
                         uint64_t(config.getHeadWidth())};
      break;
    case GgufRule::Unused:
      break;
    }
    put(std::move(renamed));
  }

  bool turnPairs(TensorEntry &renamed, llvm::StringRef given) {
    auto channels = uint64_t(config.getHeadWidth());
    if (channels % 2 != 0 || renamed.shape.front() % channels != 0) {
      keys.report("expects tensor " + quote(given) +
                  " to have whole heads of an even number of rows, " +
                  llvm::Twine(channels) + ", but got shape " +
                  describeShape(renamed.shape));
      return false;
    }
    renamed.turned = {channels / 2, 2};
    return true;
  }

  static uint64_t elementsOf(const TensorEntry &entry) {
    uint64_t elements = 1;
    for (uint64_t extent : entry.shape)
      elements *= extent;
    return elements;
  }

  /// One tensor of each part along the outermost dimension.
  void addParts(const TensorEntry &entry, const GgufNameMatch &match) {
    std::vector<std::string> names = match.nameParts();
    if (entry.shape.front() != names.size())
      return keys.report("expects tensor " + quote(entry.name) + " to have " +
                         llvm::Twine(names.size()) + " parts, but got shape " +
                         describeShape(entry.shape));
    for (const auto &[index, name] : llvm::enumerate(names)) {
      TensorEntry one = matrixOf(entry, index);
      one.name = name;
      put(std::move(one));
    }
  }

  void addExperts(const TensorEntry &entry, const GgufNameMatch &match) {
    if (entry.shape.size() != 3)
      return keys.report("expects tensor " + quote(entry.name) +
                         " to have a matrix for each expert, but got shape " +
                         describeShape(entry.shape));
    for (uint64_t expert = 0; expert < entry.shape.front(); ++expert) {
      TensorEntry one = matrixOf(entry, expert);
      one.name = match.nameOf(expert);
      put(std::move(one));
    }
  }

  /// Queries, keys and values in one tensor, which a converter may be told to
  /// write of any architecture.
  bool addFusedHeads(const TensorEntry &entry) {
    auto [stem, suffix] = llvm::StringRef(entry.name).rsplit('.');
    if (!stem.consume_back("attn_qkv"))
      return false;
    auto nameOf = [&](llvm::StringRef part) {
      return (stem + part + "." + suffix).str();
    };
    if (!match(nameOf("attn_q")))
      return false;
    llvm::StringRef number = stem;
    int64_t layer = 0;
    if (!number.consume_front("blk.") || number.consumeInteger(10, layer) ||
        layer >= config.getLayers())
      return false;
    auto width = uint64_t(config.getHeadWidth());
    uint64_t queries = uint64_t(config.getHeads()) * width,
             others = uint64_t(config.getKeyHeads()[size_t(layer)]) * width;
    if (entry.shape.front() != queries + 2 * others) {
      keys.report("expects tensor " + quote(entry.name) + " to have " +
                  llvm::Twine(queries + 2 * others) +
                  " rows of queries, keys and values, but got shape " +
                  describeShape(entry.shape));
      return true;
    }
    uint64_t first = 0;
    for (auto [part, rows] :
         {std::pair<llvm::StringRef, uint64_t>{"attn_q", queries},
          {"attn_k", others},
          {"attn_v", others}}) {
      TensorEntry some = slice(entry, first, rows);
      some.name = nameOf(part);
      add(some);
      first += rows;
    }
    return true;
  }

  /// The gates of each expert over its ups.
  bool addFusedExperts(const TensorEntry &entry) {
    llvm::StringRef stem = entry.name;
    if (!stem.consume_back("ffn_gate_up_exps.weight"))
      return false;
    auto gate = match((stem + "ffn_gate_exps.weight").str()),
         up = match((stem + "ffn_up_exps.weight").str());
    if (!gate || !up)
      return false;
    if (entry.shape.size() != 3 || entry.shape[1] % 2 != 0) {
      keys.report("expects tensor " + quote(entry.name) +
                  " to have gates over ups for each expert, but got shape " +
                  describeShape(entry.shape));
      return true;
    }
    uint64_t half = entry.shape[1] / 2;
    for (uint64_t expert = 0; expert < entry.shape.front(); ++expert) {
      TensorEntry both = matrixOf(entry, expert);
      for (auto [match, first] :
           {std::pair{&*gate, uint64_t(0)}, {&*up, half}}) {
        TensorEntry one = slice(both, first, half);
        one.name = match->nameOf(expert);
        put(std::move(one));
      }
    }
    return true;
  }

  void put(TensorEntry entry) {
    if (!names.insert(entry.name).second)
      keys.report("two tensors are " +
                  quote(givenNameOf(
                      architecture, entry.name,
                      [&](llvm::StringRef name) { return isThere(name); })) +
                  " of the model");
    adapted.push_back(std::move(entry));
  }

  GgufConfig &config;
  GgufMetadata &keys;
  const GgufArchitecture &architecture;
  llvm::StringSet<> &names;
  std::vector<std::string> &remarks;
  std::vector<TensorEntry> adapted;
  uint64_t furtherTensors = 0;
};

} // namespace

llvm::Expected<AdaptedGguf>
effc::frontend::adaptGguf(std::unique_ptr<GgufModel> model,
                          llvm::ArrayRef<std::string> allowed) {
  GgufMetadata &keys = model->getMetadata();
  const GgufArchitecture *architecture = readArchitecture(keys);
  if (!architecture)
    return keys.getProblem();
  checkBlocks(keys);
  GgufConfig config(*model, *architecture);
  config.describe();
  std::vector<std::string> remarks = config.getRemarks().vec();
  checkAllAsked(keys, architecture->name, allowed, remarks);
  for (llvm::StringRef key : keys.getUnread("general.sampling."))
    remarks.push_back((seq::kWarningRemark + keys.getFile() + ": " +
                       quote(key) + " is not followed")
                          .str());
  llvm::StringSet<> names, given;
  std::vector<std::unique_ptr<TensorFile>> files;
  if (!keys.hasProblem())
    for (GgufShard &shard : model->getShards()) {
      for (const TensorEntry &entry : shard.tensors.entries)
        given.insert(entry.name);
      TableAdapter adapter(config, *architecture, names, remarks);
      TensorTable table{adapter.adapt(shard.tensors.entries),
                        shard.tensors.dataOffset};
      files.push_back(std::make_unique<TensorFile>(std::move(shard.file),
                                                   std::move(table)));
    }
  if (llvm::Error error = keys.getProblem())
    return error;
  std::string file = keys.getFile();
  llvm::StringMap<std::string> fields = config.getOrigins();
  StoredForm form = config.getForm();
  JsonValue described = std::move(config).take();
  return AdaptedGguf{architecture,
                     std::move(file),
                     std::move(described),
                     std::move(fields),
                     std::move(given),
                     std::move(form),
                     std::move(keys),
                     Checkpoint::of(model->getDirectory(), std::move(files)),
                     std::move(remarks)};
}
