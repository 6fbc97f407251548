#include "sim/replay/engine.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string>

#include "sim/base/replay_error.hpp"

namespace syncline {

namespace {

// The module lies beside the program in a build. That of an installation is found by the program's RUNPATH.
constexpr const char* module_beside = "$ORIGIN/libsyncline-simgrid.so";
constexpr const char* module_name = "libsyncline-simgrid.so";

SimGridEngine& load() {
    void* module = dlopen(module_beside, RTLD_NOW | RTLD_LOCAL);
    const std::string without = module == nullptr ? dlerror() : "";
    if (module == nullptr) module = dlopen(module_name, RTLD_NOW | RTLD_LOCAL);
    void* const maker = module == nullptr ? nullptr : dlsym(module, "syncline_engine");
    if (maker == nullptr) throw ReplayError(fmt::format("SimGrid cannot be loaded: {}; {}", without, dlerror()));
    return *reinterpret_cast<SimGridEngine* (*)()>(maker)();
}

}  // namespace

SimGridEngine& engine() {
    static SimGridEngine& loaded = load();
    return loaded;
}

}  // namespace syncline
