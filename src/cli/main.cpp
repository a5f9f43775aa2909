#include "cli/program.h"

int main(int argc, char** argv) { return telltale::cli::run(argc, argv); }
