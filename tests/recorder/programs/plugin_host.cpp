// Loads a library, has it emit, and unloads it, many times over.
#include <dlfcn.h>

#include <cstdlib>

int main(int /*argc*/, char** argv) {
  for (int i = 0; i < std::atoi(argv[2]); ++i) {
    void* plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) return 1;
    reinterpret_cast<void (*)()>(dlsym(plugin, "plugin_work"))();
    dlclose(plugin);
  }
}
