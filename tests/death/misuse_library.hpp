// A shared library with a global of its own.
#pragma once

// Of the library itself: a direct use in the executable would move the variable there.
long* library_words_here();
