#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/scenario.hpp"
#include "tests/sanitized.hpp"

// Tests `syncline run` as users see it: its output, its files, and its end.

using namespace syncline::test;
using nlohmann::json;

namespace {

struct Tiny : TinyFiles {
    Outcome run(std::vector<std::string> options = {}) const {
        options.insert(options.begin(), {"run", "scenario.yaml"});
        return run_in(*this, std::move(options));
    }

    json results(std::vector<std::string> options = {}) const {
        options.insert(options.end(), {"--format", "json"});
        const Outcome outcome = run(std::move(options));
        CAPTURE(outcome.err);
        REQUIRE(outcome.status == 0);
        return json::parse(outcome.out).at("results");
    }
};

std::string long_running() {
    std::string text{long_scenario};
    for (auto at = text.find('@'); at != std::string::npos; at = text.find('@'))
        text.replace(at, 1, SYNCLINE_SOURCE_DIR);
    return text;
}

std::set<std::string> keys(const json& object) {
    std::set<std::string> result;
    for (const auto& [key, value] : object.items()) result.insert(key);
    return result;
}

std::vector<std::vector<std::string>> csv(const std::string& text) {
    std::vector<std::vector<std::string>> rows;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::vector<std::string>& row = rows.emplace_back();
        std::istringstream fields(line + ",");
        for (std::string field; std::getline(fields, field, ',');) row.push_back(field);
    }
    return rows;
}

bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

void check_interrupted(const Outcome& outcome) {
    CAPTURE(outcome.err);
    CHECK(outcome.status == 130);
    CHECK(outcome.after_signal_s < too_late_s);
    CHECK(outcome.out.empty());
    CHECK(outcome.err == "interrupted\n");
    CHECK_FALSE(outcome.left_behind);
}

}  // namespace

TEST_CASE("run: JSON is one object with the documented fields", "[memory]") {
    const Tiny tiny;
    const Outcome outcome = tiny.run({"--format", "json"});
    REQUIRE(outcome.status == 0);
    CHECK(outcome.err.empty());
    CHECK(outcome.out.back() == '\n');
    const json report = json::parse(outcome.out);
    CHECK(keys(report) == std::set<std::string>{"schema_version", "name", "results"});
    CHECK(report["schema_version"] == 1);
    CHECK(report["name"] == "tiny-run");
    REQUIRE(report["results"].size() == 3);
    const std::vector<std::string> names{"ring", "later", "servers"};
    for (std::size_t i = 0; i < names.size(); ++i) {
        const json& result = report["results"][i];
        CAPTURE(result.dump());
        CHECK(keys(result) == std::set<std::string>{"variant",
                                                    "workload",
                                                    "ranks",
                                                    "nodes",
                                                    "samples",
                                                    "device_time_s",
                                                    "cost",
                                                    "cost_per_million_samples",
                                                    "iteration_time_s",
                                                    "compute_time_s",
                                                    "communication_time_s",
                                                    "exposed_communication_time_s",
                                                    "waiting_time_s",
                                                    "idle_time_s",
                                                    "pipeline_bubble",
                                                    "throughput_samples_per_s",
                                                    "scaling",
                                                    "scaling_efficiency",
                                                    "model_flops",
                                                    "model_flops_utilisation",
                                                    "hardware_flops_utilisation",
                                                    "tflops_per_device",
                                                    "tokens_per_s",
                                                    "tokens_per_s_per_device",
                                                    "notes",
                                                    "messages",
                                                    "fidelity",
                                                    "messages_simulated",
                                                    "messages_folded",
                                                    "folding_error_s",
                                                    "iterations_folded",
                                                    "micro_batches_folded",
                                                    "bytes_sent",
                                                    "gradient_bytes",
                                                    "closed_form",
                                                    "memory",
                                                    "parallelism",
                                                    "choice_of",
                                                    "best",
                                                    "most_bytes_sent_by_rank",
                                                    "limited_by",
                                                    "links",
                                                    "fabric",
                                                    "exchange",
                                                    "algorithm",
                                                    "overlay",
                                                    "transport"});
        CHECK(result["variant"] == names[i]);
        CHECK(result["workload"] == "two-layers");
        CHECK(result["ranks"] == 4);
        for (const char* key : {"iteration_time_s", "compute_time_s", "communication_time_s",
                                "exposed_communication_time_s", "throughput_samples_per_s", "scaling_efficiency"})
            CHECK(result[key].is_number_float());
        for (const char* key : {"ranks", "messages", "bytes_sent", "gradient_bytes"})
            CHECK(result[key].is_number_unsigned());
        CHECK(keys(result["closed_form"]) ==
              std::set<std::string>{"formula", "communication_time_s", "iteration_time_s"});
        CHECK(keys(result["memory"]) == std::set<std::string>{"weights_bytes", "gradients_bytes", "optimizer_bytes",
                                                              "activations_bytes", "total_bytes", "device_bytes",
                                                              "fraction"});
    }
}

TEST_CASE("run: an algorithm without a closed form has no formula", "[memory]") {
    const Tiny tiny;
    const json form = tiny.results({"--set", "training.algorithm=nccl-tree", "--variant", "ring"})[0].at("closed_form");
    CHECK(form.at("formula") == "none for trees of nodes with chains inside");
    CHECK(form.at("communication_time_s").is_null());
    CHECK(form.at("iteration_time_s").is_null());
}

TEST_CASE("run: the numbers of a small scenario follow from arithmetic", "[memory]") {
    const Tiny tiny;
    const json results = tiny.results();
    // A layer's kernel has 2 FLOP for each multiply-accumulate of 8 samples. The forward pass is one kernel, the
    // backward pass two, except in the first layer, whose inputs need no gradient.
    const double first_s = 2 * 1e6 * 8 / 1e12, second_s = 2 * 3e6 * 8 / 1e12;
    const double compute_s = 2 * first_s + 3 * second_s;
    const double bytes[] = {1000 * 4, 250001 * 4};
    const auto ring_s = [](double size) { return 6 * (2e-6 + size / 4 * 1e-9); };
    const auto served_s = [](double size) { return 2e-6 + 4 * size * 1e-9; };

    const json &ring = results[0], &later = results[1], &servers = results[2];
    // Every rank sends 2(N-1)/N of the gradients around the ring, whose links are all alike, and all of them to
    // servers.
    CHECK(ring["most_bytes_sent_by_rank"].get<double>() == Approx(1.5 * 251001 * 4).epsilon(1e-5));
    CHECK(servers["most_bytes_sent_by_rank"] == 251001 * 4);
    CHECK(ring["links"].size() == 8);
    CHECK(ring["links"][0]["utilisation"].get<double>() ==
          Approx(1.5 * 251001 * 4 / 1e9 / ring["iteration_time_s"].get<double>()).epsilon(1e-5));
    CHECK(servers["links"][0]["bytes"] == 4 * 250001 * 4);
    for (const json& result : results) {
        CHECK(result["compute_time_s"].get<double>() == Approx(compute_s).epsilon(1e-6));
        CHECK(result["gradient_bytes"] == 251001 * 4);
        const double iteration_s = result["iteration_time_s"];
        CHECK(result["throughput_samples_per_s"].get<double>() == Approx(32 / iteration_s).epsilon(1e-9));
        CHECK(result["scaling_efficiency"].get<double>() == Approx(compute_s / iteration_s).epsilon(1e-6));
        CHECK(iteration_s == Approx(result["closed_form"]["iteration_time_s"].get<double>()).epsilon(1e-6));
    }
    const double exchange_s = ring_s(bytes[0]) + ring_s(bytes[1]);
    CHECK(ring["communication_time_s"].get<double>() == Approx(exchange_s).epsilon(1e-6));
    CHECK(ring["iteration_time_s"].get<double>() == Approx(compute_s - first_s + exchange_s).epsilon(1e-6));
    CHECK(ring["exposed_communication_time_s"].get<double>() == Approx(exchange_s - first_s).epsilon(1e-6));
    CHECK(later["iteration_time_s"].get<double>() == Approx(compute_s + exchange_s).epsilon(1e-6));
    CHECK(later["exposed_communication_time_s"].get<double>() == Approx(exchange_s).epsilon(1e-6));
    CHECK(ring["messages"] == 2 * 2 * 4 * 3);
    CHECK(ring["bytes_sent"] == 2 * 3 * 251001 * 4);
    // Each tensor has a server of its own; the large one is ready first and takes longest, in both directions.
    CHECK(servers["iteration_time_s"].get<double>() ==
          Approx(compute_s - first_s + 2 * served_s(bytes[1])).epsilon(1e-6));
    CHECK(servers["messages"] == 2 * 2 * 4);
    CHECK(servers["bytes_sent"] == 2 * 4 * 251001 * 4);
}

TEST_CASE("run: CSV has the same numbers as JSON", "[memory]") {
    const Tiny tiny;
    const json results = tiny.results();
    const Outcome outcome = tiny.run({"--format", "csv"});
    REQUIRE(outcome.status == 0);
    CHECK(outcome.err.empty());
    const auto rows = csv(outcome.out);
    REQUIRE(rows.size() == 1 + results.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
        REQUIRE(rows[i + 1].size() == rows[0].size());
        std::set<std::string> seen;
        for (std::size_t column = 0; column < rows[0].size(); ++column) {
            const std::string &name = rows[0][column], &field = rows[i + 1][column];
            CAPTURE(name, field);
            const auto begins = [&name](const std::string& object) { return name.rfind(object + "_", 0) == 0; };
            const std::string object = begins("closed_form")   ? "closed_form"
                                       : begins("memory")      ? "memory"
                                       : begins("parallelism") ? "parallelism"
                                                               : "";
            const bool link = name.rfind("most_used_link", 0) == 0;
            const json& value = !object.empty() ? results[i][object].at(name.substr(object.size() + 1))
                                : link ? results[i]["links"][0].at(name == "most_used_link" ? "link" : "utilisation")
                                       : results[i].at(name);
            if (value.is_string())
                CHECK(field == value.get<std::string>());
            else if (name == "notes")
                CHECK((value.size() != 1 || field == value.front().get<std::string>()));
            else if (value.is_null() || (value.is_array() && value.empty()))
                CHECK(field.empty());
            else if (value.is_boolean())
                CHECK(field == (value.get<bool>() ? "true" : "false"));
            else
                CHECK(std::stod(field) == value.get<double>());
            seen.insert(!object.empty() ? object : link ? "links" : name);
        }
        CHECK(seen == keys(results[i]));
    }
}

TEST_CASE("run: CSV quotes names that need it, and null is an empty field", "[memory]") {
    Tiny tiny;
    tiny.write("scenario.yaml",
               "platform: platform.yaml\nworkload: workload.yaml\ntraining: {ranks: 1, servers: {count: 3}}\n"
               "variants:\n  'a, \"b\"': {training: {ranks: 2, exchange: parameter-server, "
               "servers: {placement: sliced}}}\n");
    const json results = tiny.results();
    CHECK(results[0]["variant"] == "a, \"b\"");
    CHECK(results[0]["closed_form"]["iteration_time_s"].is_null());
    const Outcome outcome = tiny.run({"--format", "csv"});
    CHECK(holds(outcome.out, "\n\"a, \"\"b\"\"\",two-layers,2,"));
    CHECK(holds(outcome.out, ",,star,parameter-server,,,"));  // there is no closed form, algorithm or overlay
    CHECK(holds(tiny.run({"--columns", "closed form"}).out, "\nclosed form  -\n"));
}

TEST_CASE("run: the table has an aligned line for each variant", "[memory]") {
    const Tiny tiny;
    const Outcome outcome = tiny.run();
    REQUIRE(outcome.status == 0);
    CHECK(outcome.err.empty());
    CHECK(outcome.out == tiny.run({"--format", "table"}).out);
    for (const char* word : {"tiny-run", "\nring ", "\nlater ", "\nservers ", "iteration", "exposed", "efficiency"})
        CHECK(holds(outcome.out, word));
    std::istringstream lines(outcome.out);
    // There are several tables, followed by a note.
    std::vector<std::set<std::size_t>> widths(1);
    std::string line;
    while (std::getline(lines, line) && !line.empty()) continue;  // the title
    for (std::string next; std::getline(lines, next);) {
        line = next;
        if (line.empty())
            widths.emplace_back();
        else
            widths.back().insert(line.size());
    }
    REQUIRE(widths.size() > 2);
    for (const std::set<std::size_t>& table : widths) CHECK(table.size() == 1);
    widths.pop_back();
    for (const std::set<std::size_t>& table : widths) CHECK(*table.begin() <= 80);
    CHECK(holds(line, "note: compute times assume the device's peak: no measurement supports them"));
}

TEST_CASE("run: the same input gives the same bytes, whatever the seed and the directory") {
    const Tiny tiny;
    for (const char* format : {"table", "json", "csv"}) {
        const std::string first = tiny.run({"--format", format}).out;
        CHECK_FALSE(first.empty());
        CHECK(tiny.run({"--format", format}).out == first);
        CHECK(tiny.run({"--format", format, "--seed", "4711"}).out == first);
        CHECK(run_program({.arguments = {"run", (tiny / "scenario.yaml").string(), "--format", format}}).out == first);
    }
}

TEST_CASE("run: a scenario without variants has one called base, and without a name it has its file's", "[memory]") {
    Tiny tiny;
    tiny.write("my-run.yaml", "platform: platform.yaml\nworkload: workload.yaml\ntraining: {ranks: 2}\n");
    const Outcome outcome = run_in(tiny, {"run", "my-run.yaml", "--format", "json"});
    REQUIRE(outcome.status == 0);
    const json report = json::parse(outcome.out);
    CHECK(report["name"] == "my-run");
    REQUIRE(report["results"].size() == 1);
    CHECK(report["results"][0]["variant"] == "base");
}

TEST_CASE("run: --set changes every variant, and the last assignment overrides earlier ones") {
    const Tiny tiny;
    for (const json& result : tiny.results({"--set", "training.ranks=2"})) CHECK(result["ranks"] == 2);
    for (const json& result : tiny.results({"--set", "training.ranks=2", "--set", "training.ranks=3"}))
        CHECK(result["ranks"] == 3);

    const json plain = tiny.results();
    const json beside = tiny.results({"--set", "training.overlap=wait-free"});
    CHECK(beside[1]["iteration_time_s"] == plain[0]["iteration_time_s"]);
    CHECK(beside[1]["variant"] == "later");

    const json slower = tiny.results({"--set", "platform.fabric.bandwidth=500 MBps"});
    for (std::size_t i = 0; i < plain.size(); ++i) {
        const double before_s = plain[i]["communication_time_s"], after_s = slower[i]["communication_time_s"];
        CHECK(after_s > 1.9 * before_s);
    }
    const json replaced = tiny.results({"--set", "training={ranks: 2, batch_per_rank: 1}"});
    CHECK(replaced.size() == 3);
}

TEST_CASE("run: a null removes a key, so that its default applies", "[memory]") {
    const Tiny tiny;
    const json plain = tiny.results();
    const json results = tiny.results({"--set", "training.exchange=~"});
    CHECK(results[2]["messages"] == plain[0]["messages"]);
}

TEST_CASE("run: --out writes the same text as standard output in each format") {
    const Tiny tiny;
    const Outcome outcome = tiny.run({"--out", "deep/down/results"});
    REQUIRE(outcome.status == 0);
    CHECK(outcome.err.empty());
    const fs::path out = tiny / "deep/down/results";
    CHECK(outcome.out == tiny.run().out);
    CHECK(read_file(out / "results.txt") == outcome.out);
    CHECK(read_file(out / "results.json") == tiny.run({"--format", "json"}).out);
    CHECK(read_file(out / "results.csv") == tiny.run({"--format", "csv"}).out);
    CHECK(tiny.list() == std::vector<std::string>{"deep", "deep/down", "deep/down/results",
                                                  "deep/down/results/results.csv", "deep/down/results/results.json",
                                                  "deep/down/results/results.txt", "platform.yaml", "scenario.yaml",
                                                  "workload.yaml"});
    // An existing result is replaced.
    REQUIRE(tiny.run({"--out", "deep/down/results", "--set", "training.ranks=1"}).status == 0);
    CHECK(read_file(out / "results.json") == tiny.run({"--format", "json", "--set", "training.ranks=1"}).out);
}

TEST_CASE("run: --out in a place that cannot be written is exit code 4, without results") {
    Tiny tiny;
    tiny.write("file", "mine");
    tiny.write("taken/results.txt/mine", "mine");
    const auto before = tiny.list();
    for (const char* directory : {"file", "file/below", "/proc/syncline", "/dev/null", "taken"}) {
        const Outcome outcome = tiny.run({"--out", directory});
        CAPTURE(directory, outcome.err);
        CHECK(outcome.status == 4);
        CHECK(outcome.out.empty());
        CHECK(outcome.err.rfind("error: cannot ", 0) == 0);
        CHECK(holds(outcome.err, directory));
        CHECK(read_file(tiny / "file") == "mine");
        for (const std::string& name : tiny.list()) CHECK_FALSE(holds(name, ".tmp"));
        if (directory != std::string("taken")) CHECK(tiny.list() == before);
    }
    CHECK(read_file(tiny / "taken/results.txt/mine") == "mine");
}

TEST_CASE("run: standard output that cannot be written is exit code 4") {
    const Tiny tiny;
    for (const Stdout out : {Stdout::full, Stdout::closed}) {
        for (const std::vector<std::string>& arguments :
             {std::vector<std::string>{"run", "scenario.yaml"},
              {"run", "scenario.yaml", "--format", "json"},
              {"check", "scenario.yaml"},
              {"schema", "platform"},
              {"collective", "--platform", "platform.yaml", "--ranks", "2", "--bytes", "1 kB"}}) {
            const Outcome outcome = run_program({.arguments = arguments, .directory = tiny.path(), .out = out});
            CAPTURE(arguments, outcome.err);
            CHECK(outcome.status == 4);
            CHECK(outcome.err.rfind("error: cannot write to standard output: ", 0) == 0);
            CHECK_FALSE(outcome.left_behind);
        }
    }
}

TEST_CASE("run: standard error that cannot be written changes no result and no exit code") {
    const Tiny tiny;
    for (const Stderr err : {Stderr::closed, Stderr::full}) {
        CAPTURE(static_cast<int>(err));
        const auto run = [&](std::vector<std::string> arguments) {
            return run_program({.arguments = std::move(arguments), .directory = tiny.path(), .err = err});
        };
        const Outcome good = run({"run", "scenario.yaml"});
        CHECK(good.status == 0);
        CHECK(good.out == tiny.run().out);
        CHECK(run({"run", "absent.yaml"}).status == 3);
        CHECK(run({"rum", "scenario.yaml"}).status == 2);
        CHECK(run({"run", "scenario.yaml", "--out", "scenario.yaml"}).status == 4);
    }
}

TEST_CASE("run: no number is infinite or NaN, even if nothing happens") {
    Tiny tiny;
    const std::string layers = "input: [1, 1, 1]\nlayers:\n  - {name: a, kind: custom, parameters: 0, macs: 0}\n";
    tiny.write("workload.yaml", "name: idle\n" + layers);
    // The platform has a calibration for this name.
    tiny.write("measured.yaml", "name: resnet-50\n" + layers);
    const std::vector<std::string> options[] = {
        {},
        {"--set", "training.ranks=1"},
        {"--set", "workload=measured.yaml", "--set", "platform=" + shipped("platforms/p100-25g.yaml")},
    };
    for (const auto& changes : options) {
        for (const char* format : {"table", "csv", "json"}) {
            std::vector<std::string> arguments = changes;
            arguments.insert(arguments.end(), {"--format", format});
            const Outcome outcome = tiny.run(arguments);
            CAPTURE(arguments, outcome.out, outcome.err);
            CHECK((outcome.status == 0 || outcome.status == 3));
            for (const char* word : {"nan", "inf,", "inf "}) CHECK_FALSE(holds(outcome.out, word));
        }
    }
}

TEST_CASE("run: the measured iteration is one of several, not the end of the run", "[memory]") {
    Tiny tiny;
    // Fast ranks begin the next iteration while servers that share nodes with them still answer slow ones: an iteration
    // without a next one is shorter.
    tiny.write("workload.yaml",
               "name: uneven\ninput: [1, 1, 1]\nlayers:\n"
               "  - {name: a, kind: custom, parameters: 1000, macs: 1000}\n"
               "  - {name: b, kind: custom, parameters: 7831621, macs: 0}\n"
               "  - {name: c, kind: custom, parameters: 2715031, macs: 1000000}\n"
               "  - {name: d, kind: custom, parameters: 1000, macs: 1000}\n");
    const Outcome outcome =
        tiny.run({"--set", "training.servers={count: 3, location: colocated}", "--set",
                  "training.fusion={threshold: 1 MB}", "--set", "training.iterations=20", "--set",
                  "platform.fabric.latency=3 ns", "--set", "platform.host.loopback_bandwidth=10 GBps"});
    CHECK(outcome.status == 0);
    CHECK(outcome.err.empty());
}

TEST_CASE("run: very large numbers give positive results", "[memory]") {
    Tiny tiny;
    tiny.write("workload.yaml",
               "name: huge\ninput: [1, 1, 1]\nlayers:\n"
               "  - {name: a, kind: custom, parameters: 100000000000000000, macs: 100000000000000000}\n");
    const std::vector<std::string> options{"--set", "training.batch_per_rank=16777216",
                                           "--set", "platform.device.flops=1 flops",
                                           "--set", "platform.fabric={bandwidth: 8 bps, latency: 3600 s}"};
    // Nothing is folded, and ranks wait only within exchanges.
    const auto may_be_zero = [](const std::string& key) {
        return key.find("fold") != std::string::npos || key == "waiting_time_s" || key == "idle_time_s";
    };
    for (const json& result : tiny.results(options)) {
        CAPTURE(result.dump());
        CHECK(result["gradient_bytes"] == 400'000'000'000'000'000);
        for (const auto& [key, value] : result.items())
            if (value.is_number() && !may_be_zero(key)) CHECK(value.get<double>() > 0);
    }
}

TEST_CASE("run: one node, one layer, one rank, two iterations and no latency work", "[memory]") {
    Tiny tiny;
    tiny.write("workload.yaml",
               "name: one\ninput: [1, 1, 1]\nlayers:\n  - {name: a, kind: custom, parameters: 1, macs: 1000}\n");
    const json results = tiny.results({"--set", "platform.nodes=1", "--set", "platform.fabric.latency=none", "--set",
                                       "training={ranks: 1, iterations: 2}", "--set", "training.exchange=allreduce"});
    for (const json& result : results) {
        CHECK(result["messages"] == 0);
        CHECK(result["scaling_efficiency"] == 1);
        CHECK(result["iteration_time_s"].get<double>() == Approx(2 * 2 * 1000 * 8 / 1e12).epsilon(1e-6));
    }
}

TEST_CASE("run: with very many ranks no text of SimGrid reaches the user") {
    const Tiny tiny;
    const Outcome outcome =
        run_program({.arguments = {"collective", "--platform", "platform.yaml", "--algorithm", "parameter-server",
                                   "--ranks", "20000", "--bytes", "1 kB", "--set", "platform.nodes=20001"},
                     .directory = tiny.path(),
                     .limit_s = 60});
    CAPTURE(outcome.err.substr(0, 2000), outcome.status);
    CHECK((outcome.status == 0 || outcome.status == 1 || outcome.status == 3));
    for (const char* word : {"simgrid", "xbt", "bug in", "Backtrace"}) CHECK_FALSE(holds(outcome.err, word));
}

TEST_CASE("run: SIGINT and SIGTERM end a long run at once, with nothing written") {
    const TempDir directory;
    directory.write("long.yaml", long_running());
    const int number = GENERATE(SIGINT, SIGTERM);
    const To to = GENERATE(To::program, To::group);
    CAPTURE(number, to == To::group);
    const Outcome outcome = run_program({.arguments = {"run", "long.yaml", "--out", "results"},
                                         .directory = directory.path(),
                                         .signal = Signal{number, 0.7, to}});
    check_interrupted(outcome);
    CHECK(directory.list() == std::vector<std::string>{"long.yaml"});
}

TEST_CASE("run: a signal while a large simulation is built ends it, too") {
    const TempDir directory;
    directory.write("long.yaml", long_running());
    check_interrupted(run_program({.arguments = {"run", "long.yaml", "--set", "training.ranks=30000", "--set",
                                                 "platform.nodes=30000", "--set", "training.fidelity=folded"},
                                   .directory = directory.path(),
                                   .signal = Signal{SIGINT, 0.3, To::group}}));
}

TEST_CASE("collective: SIGINT ends a long exchange at once") {
    check_interrupted(run_program({.arguments = {"collective", "--platform", shipped("platforms/p100-25g.yaml"),
                                                 "--ranks", "2048", "--bytes", "1 GB"},
                                   .signal = Signal{SIGINT, 0.5, To::group}}));
}

TEST_CASE("run: a killed program leaves no process behind", "[memory]") {
    const TempDir directory;
    directory.write("long.yaml", long_running());
    const Outcome outcome =
        run_program({.arguments = {"run", "long.yaml"}, .directory = directory.path(), .signal = Signal{SIGKILL, 0.5}});
    CHECK(outcome.status == 128 + SIGKILL);
    CHECK(outcome.out.empty());
}

TEST_CASE("run: a terminal shows the progress of a long run, and then clears it") {
    const TempDir directory;
    directory.write("long.yaml", long_running());
    // How long a run takes depends on the machine, so iterations double until one lasts longer than the silent
    // beginning.
    Outcome outcome;
    for (int iterations = 4; iterations <= 256 && outcome.seconds <= 2.2; iterations *= 2)
        outcome = run_program({.arguments = {"run", "long.yaml", "--set", "training.ranks=64", "--set",
                                             "training.iterations=" + std::to_string(iterations)},
                               .directory = directory.path(),
                               .err = Stderr::terminal,
                               .limit_s = 60});
    CAPTURE(outcome.err, outcome.seconds);
    REQUIRE(outcome.status == 0);
    CHECK(holds(outcome.out, "base"));
    CHECK_FALSE(holds(outcome.out, "\x1b"));
    REQUIRE(outcome.seconds > 2.2);
    CHECK(holds(outcome.err, "base: "));
    CHECK(holds(outcome.err, " %, "));
    CHECK(holds(outcome.err, " messages"));
    const std::string wipe = "\r\x1b[K";
    REQUIRE(outcome.err.size() > wipe.size());
    CHECK(outcome.err.substr(outcome.err.size() - wipe.size()) == wipe);
    CHECK_FALSE(holds(outcome.err, "\n"));
}

TEST_CASE("run: a short run shows no progress on a terminal", "[memory]") {
    const Tiny tiny;
    const Outcome outcome =
        run_program({.arguments = {"run", "scenario.yaml"}, .directory = tiny.path(), .err = Stderr::terminal});
    CHECK(outcome.status == 0);
    CHECK(outcome.err.empty());
}

TEST_CASE("run: Ctrl-C on a terminal clears the progress and reports the interruption") {
    const TempDir directory;
    directory.write("long.yaml", long_running());
    const Outcome outcome = run_program({.arguments = {"run", "long.yaml"},
                                         .directory = directory.path(),
                                         .signal = Signal{SIGINT, 3, To::group},
                                         .err = Stderr::terminal});
    CAPTURE(outcome.err);
    CHECK(outcome.status == 130);
    CHECK(outcome.out.empty());
    CHECK(holds(outcome.err, " messages"));
    const std::string end = "\r\x1b[Kinterrupted\r\n";
    REQUIRE(outcome.err.size() > end.size());
    CHECK(outcome.err.substr(outcome.err.size() - end.size()) == end);
}

TEST_CASE("run: a fabric of as many nodes as needed has room for servers that no layer needs", "[memory]") {
    const TempDir directory;
    // 5 ranks and 3 servers are a hypercube; 5 ranks, or one server for the only layer, are not.
    directory.write("cube.yaml", R"(
platform:
  device: {flops: 1 Tflops, memory_bandwidth: 1 TBps, reduction_rate: unlimited}
  host: {reduction_rate: unlimited}
  fabric: {topology: hypercube, bandwidth: 1 GBps, latency: 1 us}
workload:
  name: one-layer
  input: [1, 1, 1]
  layers: [{name: only, kind: custom, parameters: 1000, macs: 1000}]
training: {ranks: 5, batch_per_rank: 1, input_copy: none, exchange: parameter-server, servers: {count: 3}}
)");
    const Outcome outcome = run_in(directory, {"run", "cube.yaml", "--format", "json"});
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    // Each rank pushes its 4 kB and pulls the sum.
    CHECK(json::parse(outcome.out)["results"][0]["bytes_sent"] == 5 * 2 * 4000);
    CHECK(run_in(directory, {"run", "cube.yaml", "--report", "cube.html"}).status == 0);
}
