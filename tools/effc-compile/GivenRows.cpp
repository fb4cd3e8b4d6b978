#include "tools/effc-compile/GivenRows.h"

#include "llvm/ADT/STLExtras.h"

using namespace effc;
using namespace effc::cli;

void effc::cli::declareGivenRows(CLI::App &app, GivenRows &rows) {
  app.add_option("--tap", rows.taps,
                 "Give inner values and no logits, for effc eval --tap: all "
                 "whose whole name this extended regular expression matches, "
                 "such as 'layers\\.0\\.mixer', its operands "
                 "'layers.*mixer:(q|k)' and what it makes of them "
                 "'layers.*mixer:log_decay'; what matches none is an error "
                 "that lists names. Give it again for more")
      ->type_name("REGEX")
      ->allow_extra_args(false);
  app.add_flag("--product-inputs", rows.productInputs,
               "Give what matrices are multiplied by and no logits, for effc "
               "eval --collect-importance");
  app.add_flag("--hidden", rows.hidden,
               "Give hidden states and no logits: the rows that the model's "
               "head would multiply, for embeddings (effc serve) and effc eval "
               "--hidden");
}

std::string effc::cli::choose(const GivenRows &rows, CompileOptions &options) {
  options.hidden = rows.hidden;
  options.taps = rows.taps;
  options.productInputs = rows.productInputs;
  std::vector<std::string> chosen;
  for (auto [name, isChosen] :
       {std::pair("--product-inputs", rows.productInputs),
        {"--hidden", rows.hidden},
        {"--tap", !rows.taps.empty()}})
    if (isChosen)
      chosen.push_back(name);
  if (chosen.size() > 1)
    return chosen[0] + " and " + chosen[1] +
           " both say what is given in place of logits";
  if (llvm::is_contained(rows.taps, ""))
    return "--tap expects a regular expression, but got an empty one";
  return "";
}
