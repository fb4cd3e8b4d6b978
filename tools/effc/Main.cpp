#include "tools/effc/Program.h"

int main(int argc, char **argv) { return effc::cli::runEffc(argc, argv); }
