#include "sim/cli/guard.hpp"

#include <system_error>

#include "sim/base/diagnostics.hpp"
#include "sim/base/version.hpp"
#include "sim/output/written_files.hpp"
#include "sim/replay/replay.hpp"

namespace syncline::cli {

int guarded(const std::function<int()>& work) {
    try {
        return work();
    } catch (const ConfigError& error) {
        say("{}", error.what());
        return invalid_configuration;
    } catch (const UsageError& error) {
        say("error: {}\n", error.what());
        return usage;
    } catch (const OutputError& error) {
        say("{}\n", error.what());
        return input_output;
    } catch (const std::system_error& error) {  // the system refuses what any program may ask: a descriptor, a process
        say("error: {}\n", error.what());
        return input_output;
    } catch (const ReplayError& error) {
        say("error: {}\n", error.what());
        return failed;
    } catch (const Failed& error) {
        say("error: {}\n", error.what());
        return failed;
    } catch (const Interrupted& error) {
        say("interrupted: {}\n", error.what());
        return interrupted;
    } catch (const std::bad_alloc&) {
        say("error: out of memory\n");
        return failed;
    } catch (const std::exception& error) {
        say("bug in syncline {}: {}\nPlease report it with the command and its input files.\n", version, error.what());
        return bug;
    }
}

}  // namespace syncline::cli
