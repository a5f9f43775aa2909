#include "capture/cuda/toolkits.h"

#include <glob.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace telltale::capture {
namespace {

std::vector<std::string> matches(const std::string& pattern) {
  std::vector<std::string> paths;
  glob_t found{};
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  return paths;
}

// 12040 of /usr/local/cuda-12.4; 12000 of /usr/local/cuda-12.
int version_of(const std::string& home) {
  int major = 0, minor = 0;
  std::sscanf(home.c_str() + home.rfind('-'), "-%d.%d", &major, &minor);
  return major * 1000 + minor * 10;
}

}  // namespace

std::vector<std::string> toolkit_files(const std::string& name, std::vector<std::string> homes, const std::string& root,
                                       int driver_version) {
  homes.push_back(root + "/usr/local/cuda");
  std::vector<std::string> numbered = matches(root + "/usr/local/cuda-[0-9]*");
  std::ranges::sort(numbered, {}, [&](const std::string& home) {
    const int version = version_of(home);
    return version > driver_version ? std::pair(1, version) : std::pair(0, -version);
  });
  homes.insert(homes.end(), numbered.begin(), numbered.end());
  homes.push_back(root + "/opt/cuda");
  std::vector<std::string> files;
  for (const std::string& home : homes)
    for (const char* folder : {"/extras/CUPTI/lib64/", "/lib64/"}) {
      const std::vector<std::string> found = matches(home + folder + name);
      files.insert(files.end(), found.begin(), found.end());
    }
  return files;
}

}  // namespace telltale::capture
