// A shared library with a global of its own.
#pragma once

// Returns the address inside the library: a direct use in the executable would copy the variable into it.
long* library_words_here();
