#include "tools/effc-verify/PublishedWork.h"

#include "tools/effc-verify/SeqModule.h"

#include "tools/terminal/Failure.h"
#include "tools/terminal/Quantities.h"
#include "tools/terminal/Table.h"

#include <nlohmann/json.hpp>

using namespace effc;
using namespace effc::cli;

std::string effc::verify::describePublishedWork(
    const std::string &file, const ModelAccess &access,
    const seq::PublishedSettings &settings, bool json) {
  Model model = openModel(file, access);
  StoredModel stored;
  stored.seqBytecode = readSeqModule(model);
  if (stored.seqBytecode.empty())
    throw Failure("'" + file +
                  "' does not hold its seq module, from which published FLOPs "
                  "are counted");
  auto work = countPublishedWork(stored, settings);
  if (!work)
    throw Failure(llvm::toString(work.takeError()));
  if (json)
    return nlohmann::ordered_json{{"file", file},
                                  {"sequence", settings.tokens},
                                  {"chunk", settings.chunk},
                                  {"layers", work->layers},
                                  {"embeddings", work->embeddings},
                                  {"forward", work->sum()},
                                  {"training", 3 * work->sum()}}
               .dump(2) +
           "\n";
  Table table;
  table.add({"published FLOPs of", "one sequence", "a token"});
  auto row = [&](const char *name, uint64_t flops) {
    table.add({name, formatCount(flops), formatCount(flops / settings.tokens)});
  };
  row("layers", work->layers);
  row("lookup and head", work->embeddings);
  row("forward", work->sum());
  row("training", 3 * work->sum());
  return file + ", " + formatCount(settings.tokens) + " tokens, " +
         (settings.chunk ? "chunks of " + formatCount(settings.chunk)
                         : std::string("recurrences not counted")) +
         "\n" + table.text();
}
