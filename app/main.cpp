// The chat program.
#include "app/program.h"

int main(int argc, char** argv) { return warpchat::run_program({argv + 1, argv + argc}); }
