#include "misuse_library.hpp"

long library_words[8];

long* library_words_here() { return library_words; }
