// Generates docs/config.md from the table. A unit test compares the file with this text.
#pragma once

#include <string>

namespace shmemx::config {

std::string render_markdown();

}  // namespace shmemx::config
