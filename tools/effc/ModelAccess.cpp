#include "tools/effc/ModelAccess.h"

#include <CLI/CLI.hpp>

using namespace effc;
using namespace effc::cli;

void effc::cli::addModelAccess(CLI::App &command, ModelAccess &access) {
  command.add_option("--weights-folder", access.weightsFolder,
                     "Folder of the weights of a model that was compiled with "
                     "--weights reference (default: where the file says)");
  command.add_flag("--copy", access.copy,
                   "Read the files into memory instead of mapping them; what "
                   "happens to them afterwards does not matter then");
}

Model effc::cli::openModel(const std::string &file, const ModelAccess &access) {
  effc_model_load_options_t options = effc_model_load_options_default();
  if (!access.weightsFolder.empty())
    options.weights_folder = access.weightsFolder.c_str();
  options.copy = access.copy;
  return Model(file, options);
}
