// `effc tokenize`: how a model's tokenizer cuts a text.

#include "runtime/include/effc/effc.hpp"
#include "tools/effc/Commands.h"
#include "tools/effc/Inputs.h"
#include "tools/effc/ModelAccess.h"
#include "tools/effc/PromptText.h"
#include "tools/terminal/Failure.h"
#include "tools/terminal/Table.h"
#include "tools/terminal/Terminal.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

using namespace effc;
using namespace effc::cli;
using Json = nlohmann::ordered_json;

namespace {
struct TokenizeOptions {
  std::string file;
  ModelAccess access;
  PromptText text;
  bool ids = false, json = false;
};
} // namespace

/// A token's text between quotes, as JSON spells it.
static std::string shown(const std::string &text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

static void tokenize(const TokenizeOptions &options) {
  Model model = openModel(options.file, options.access);
  if (!model.hasTokenizer())
    throw Failure("'" + options.file + "' has no tokenizer");
  Tokens tokens = options.text.tokenize(model);
  Json json = Json::array();
  Table table;
  std::string list;
  for (int32_t token : tokens) {
    // Alone, so that a token within a character shows as such.
    std::string text = model.detokenize({token});
    json.push_back({{"id", token}, {"text", text}});
    table.add({std::to_string(token), shown(text)});
    list += (list.empty() ? "" : ",") + std::to_string(token);
  }
  if (options.json)
    print(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  else if (options.ids)
    print(list + "\n");
  else
    print(table.text());
}

void effc::cli::addTokenizeCommand(CLI::App &app) {
  auto options = std::make_shared<TokenizeOptions>();
  CLI::App *command = app.add_subcommand(
      "tokenize", "Show the tokens that a model's tokenizer cuts a text into");
  addModelFile(*command, options->file);
  options->text.declare(*command);
  command
      ->add_flag("--ids", options->ids,
                 "One line of ids, as run --tokens takes them")
      ->group("Output");
  command->add_flag("--json", options->json, "Print JSON")->group("Output");
  addModelAccess(*command, options->access);
  command->footer("effc tokenize model.effc \"And it came to pass\"\n"
                  "effc run model.effc --tokens \"$(effc tokenize model.effc "
                  "--ids -f book.txt)\"");
  command->callback([options] { tokenize(*options); });
}
