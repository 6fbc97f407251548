#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "sim/config/keys.hpp"
#include "sim/execution/trace_error.hpp"
#include "sim/execution/trace_files.hpp"

namespace syncline::config {

void describe(Fields& fields, TracePlan& plan) {
    std::int64_t ranks = 0;
    TraceOptions options;
    std::vector<std::string> formats = trace_formats();
    formats.insert(formats.begin(), "auto");
    std::string format = "auto";
    fields.one_of({"format", "Format of the files. Default: recognised by name and content (`auto`)."}, format,
                  formats);
    fields.integer({"ranks",
                    "Number of ranks, where the files do not say it. If one file has one rank, all do what it does. "
                    "Default: one for each file."},
                   ranks, 1, largest_group);
    fields.quantity({"compute_unit",
                     "Seconds of a unit of compute, where the format leaves it open: ASTRA-sim's text has `1 ns` "
                     "(default), and some converters read it as `1 us`."},
                    options.compute_unit_s, Dimension::seconds);
    fields.number({"speed", "Computation is so many times as fast as recorded."}, plan.speed, 1e-6, 1e6);
    fields.quantity(
        {"eager",
         "Size up to which messages start when their senders are ready: `64 KiB`; larger ones wait for their "
         "receivers. Default: the format's: `unlimited` for Chakra."},
        plan.eager_bytes, Dimension::bytes,
        {.zero = true, .word = "unlimited", .word_value = std::numeric_limits<double>::infinity()});
    fields.integer({"pieces",
                    "Number of equal pieces of each collective, which are exchanged one after the other (ASTRA-sim's "
                    "`preferred-dataset-splits`)."},
                   plan.pieces, 1, 1024);
    std::int64_t step = -1;
    fields.integer({"step", "Step of a profile that is replayed: N of `ProfilerStep#N`. Default: the middle one."},
                   step, 0, std::int64_t{1} << 40);
    fields.flag(
        {"host_time",
         "Work of the rank's processor takes its recorded time, one node after the other; else the device always "
         "has work."},
        plan.host_time);
    describe(fields, plan.placement);
    describe(fields, plan.fidelity);
    fields.paths(
        {"files",
         "Files of the trace, in the order of ranks: a list, or a name with `{rank}` for 0, 1, …; or one file. "
         "Formats: sim/execution/README.md.",
         true},
        [&](const std::vector<std::string>& paths) {
            if (!fields.sound()) return;
            options.format = format == "auto" ? "" : format;
            if (step >= 0) options.step = static_cast<std::uint64_t>(step);
            options.ranks = static_cast<std::uint32_t>(ranks);
            try {
                plan.trace = std::make_shared<const ExecutionTrace>(read_trace(paths, options));
                plan.name = std::filesystem::path(paths.front()).filename().string();
            } catch (const TraceError& error) {
                fields.reject("files", error.what(), "");
            }
        });
}

}  // namespace syncline::config
