// Where CUDA's toolkits lie on a machine.
#pragma once

#include <string>
#include <vector>

namespace telltale::capture {

// The files of that name, the best one first: those in `homes`, then the toolkit that the machine's administrator has
// chosen, then the others, newest first, but those that are newer than the driver (13000 is CUDA 13.0) at the end,
// oldest first. `root` comes before all other folders; "" but in tests.
std::vector<std::string> toolkit_files(const std::string& name, std::vector<std::string> homes, const std::string& root,
                                       int driver_version);

}  // namespace telltale::capture
