#include "sim/replay/engine.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "sim/base/replay_error.hpp"

namespace syncline {

namespace {

// The linker's search path of the program (its RUNPATH) leads to the module.
constexpr const char* module_name = "libsyncline-simgrid.so";

SimGridEngine& load() {
    void* const module = dlopen(module_name, RTLD_NOW | RTLD_LOCAL);
    void* const maker = module == nullptr ? nullptr : dlsym(module, "syncline_engine");
    if (maker == nullptr) throw ReplayError(fmt::format("SimGrid cannot be loaded: {}", dlerror()));
    return *reinterpret_cast<SimGridEngine* (*)()>(maker)();
}

}  // namespace

SimGridEngine& engine() {
    static SimGridEngine& loaded = load();
    return loaded;
}

}  // namespace syncline
