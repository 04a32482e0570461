// Numbers of PEs in the world and in a team: two types that do not convert into each other.
#pragma once

namespace shmemx {

struct Pe {
  int value;
  friend bool operator==(Pe, Pe) = default;
};

struct TeamPe {
  int value;
  friend bool operator==(TeamPe, TeamPe) = default;
};

}  // namespace shmemx
