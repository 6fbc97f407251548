#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/scenario.hpp"

// Energy of trainings and traces, from the power of a platform's parts.

using namespace syncline::test;
using nlohmann::json;

namespace {

struct Metered : TinyFiles {
    std::string answer(std::vector<std::string> arguments, const std::vector<std::string>& settings) const {
        for (const std::string& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
        const Outcome outcome = run_in(*this, std::move(arguments));
        CAPTURE(outcome.err);
        REQUIRE(outcome.status == 0);
        return outcome.out;
    }
    json result(const std::vector<std::string>& settings) const {
        return json::parse(
            answer({"run", "scenario.yaml", "--variant", "ring", "--format", "json"}, settings))["results"][0];
    }
    /// Returns the energy in kWh of a training of `devices` for so many hours, each of which takes `watts`.
    double training_kWh(int devices, double hours, const std::string& watts, const std::string& pue) const {
        const std::vector<std::string> power{"training.ranks=" + std::to_string(devices),
                                             "platform.nodes=" + std::to_string(devices),
                                             "platform.device.power.busy=" + watts, "platform.pue=" + pue};
        const json one = result(power);
        const double samples =
            std::round(hours * 3600 / one["iteration_time_s"].get<double>()) * one["samples"].get<double>();
        std::vector<std::string> whole = power;
        whole.push_back("training.run.samples=" + std::to_string(static_cast<std::int64_t>(samples)));
        const json run = result(whole);
        CHECK(run["run_time_s"].get<double>() == Approx(hours * 3600).epsilon(1e-6));
        return run["run_energy_J"].get<double>() / 3.6e6;
    }
};

const std::vector<std::string> device{"platform.device.power={idle: 100 W, busy: 300 W}"};

std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

}  // namespace

TEST_CASE("energy: without power there is none, and with it only what is new is added") {
    const Metered tiny;
    const json none = tiny.result({}),
               some = tiny.result(device + std::vector<std::string>{"training.run.samples=1 M"});
    for (const auto& [name, value] : none.items()) {
        CAPTURE(name);
        CHECK(name.find("energy") == std::string::npos);
        CHECK(name != "power_W");
        if (name != "notes") CHECK(some[name] == value);
    }
    for (const char* name : {"energy_J", "energy_per_million_samples_J", "power_W", "energy_devices_J", "run_energy_J"})
        CHECK(some.contains(name));
    for (const char* name : {"energy_hosts_J", "energy_switches_J", "energy_ports_J"}) CHECK(!some.contains(name));
    const std::string table = tiny.answer({"run", "scenario.yaml", "--variant", "ring"}, {});
    CHECK(table.find("energy") == std::string::npos);
    CHECK(table.find("power") == std::string::npos);
    CHECK(tiny.answer({"run", "scenario.yaml", "--format", "csv"}, {}).find("energy") == std::string::npos);
    CHECK(tiny.answer({"run", "scenario.yaml", "--format", "csv"}, device).find(",energy_J,") != std::string::npos);
}

TEST_CASE("energy: devices, hosts, PUE and a whole run by hand", "[memory]") {
    const Metered tiny;
    const std::vector<std::string> all =
        device + std::vector<std::string>{"platform.host.power={idle: 400 W, busy: 500 W}", "platform.pue=1.25",
                                          "platform.fabric.power={switch: {busy: 200 W}, port: {idle: 1 W, busy: 9 W}}",
                                          "training.run.samples=3200"};
    const json result = tiny.result(all);
    const double time_s = result["iteration_time_s"], compute_s = result["compute_time_s"];
    CHECK(result["energy_devices_J"].get<double>() == Approx(4 * (100 * time_s + 200 * compute_s)).epsilon(1e-9));
    CHECK(result["energy_hosts_J"].get<double>() == Approx(4 * 400 * time_s).epsilon(1e-9));
    CHECK(result["energy_switches_J"].get<double>() == Approx(200 * time_s).epsilon(1e-9));
    // Every byte crosses two links of 1 GB/s.
    const double bytes = result["bytes_sent"];
    CHECK(result["energy_ports_J"].get<double>() == Approx(8 * time_s + 8 * 2 * bytes / 1e9).epsilon(1e-9));
    double sum_J = 0;
    for (const char* part : {"devices", "hosts", "switches", "ports"})
        sum_J += result[std::string("energy_") + part + "_J"].get<double>();
    CHECK(result["energy_J"].get<double>() == Approx(1.25 * sum_J).epsilon(1e-12));
    CHECK(result["power_W"].get<double>() == Approx(1.25 * sum_J / time_s).epsilon(1e-12));
    CHECK(result["energy_per_million_samples_J"].get<double>() == Approx(1.25 * sum_J / 32e-6).epsilon(1e-12));
    CHECK(result["run_energy_J"].get<double>() == Approx(100 * 1.25 * sum_J).epsilon(1e-12));
    CHECK(result["notes"].dump().find("energy is without") == std::string::npos);
    CHECK(tiny.result(device)["notes"].dump().find(
              "energy is without hosts, switches, ports and cooling, for which the platform has no `power` or `pue`") !=
          std::string::npos);
}

TEST_CASE("energy: a link's is the integral of its load, whatever throttles a flow") {
    // Over rank 0's cable and rank 1's go 10 GB, and from 5 s on another 10 GB from rank 2 share rank 1's. The first
    // flow ends at 15 s, the second at 20 s. Rank 0's link carries for 5 s all that it can, then half: 1,000 J of 100
    // W. SimGrid 3.32's plugin says 750 J.
    const Metered tiny;
    tiny.write("two.goal",
               "num_ranks 3\nrank 0 {\na: send 10000000000b to 1 tag 0\n}\n"
               "rank 1 {\na: recv 10000000000b from 0 tag 0\nb: recv 10000000000b from 2 tag 0\n}\n"
               "rank 2 {\na: calc 5000000000\nb: send 10000000000b to 1 tag 0\nb requires a\n}\n");
    tiny.write("trace.yaml", "platform: platform.yaml\ntrace: {files: two.goal}\n");
    const auto ports_J = [&](const std::string& power) {
        const json result = json::parse(
            tiny.answer({"run", "trace.yaml", "--format", "json"},
                        {"platform.fabric.latency=none", "platform.fabric.power.port=" + power}))["results"][0];
        CHECK(result["iteration_time_s"].get<double>() == Approx(20).epsilon(1e-9));
        return result["energy_ports_J"].get<double>();
    };
    // Ranks 0 and 2 send 10 GB each, and the switch sends 20 GB.
    CHECK(ports_J("{idle: none, busy: 100 W}") == Approx(1000 + 1000 + 2000).epsilon(1e-9));
    // Three cables have six ports.
    CHECK(ports_J("{idle: 10 W, busy: 100 W}") == Approx(6 * 10 * 20 + 90 * 40).epsilon(1e-9));
}

TEST_CASE("energy: published trainings") {
    const Metered tiny;
    // D. Patterson et al., "Carbon emissions and large neural network training", 2021: GPT-3 took 1,287 MWh on 10,000
    // V100 of 330 W for 14.8 days with a PUE of 1.10. The number of devices is scaled here.
    CHECK(10'000.0 / 16 * tiny.training_kWh(16, 14.8 * 24, "330 W", "1.1") == Approx(1.287e6).epsilon(0.01));
    // A. Luccioni et al., "Estimating the carbon footprint of BLOOM", 2022: 433,196 kWh in 1,082,990 hours of an A100
    // of 400 W, of 384 at a time.
    CHECK(384.0 / 16 * tiny.training_kWh(16, 1'082'990.0 / 384, "400 W", "1") == Approx(433'196).epsilon(1e-5));
}

TEST_CASE("energy: a node of eight H100 takes what was measured") {
    // Up to 8.4 kW in training (arXiv 2412.08602), from which follow 2.8 kW beside its devices' limits, and 76 %
    // of 10.2 kW under heavy loads (arXiv 2506.14551).
    const Metered tiny;
    const json result = json::parse(tiny.answer({"run", "llama-3-70b", "--variant", "recipe", "--format", "json"},
                                                {"platform.host.power.busy=2.8 kW"}))["results"][0];
    const double node_W = result["power_W"].get<double>() / result["nodes"].get<double>();
    CHECK(node_W < 8400);
    CHECK(node_W == Approx(0.76 * 10'200).epsilon(0.05));
}

TEST_CASE("energy: a plan says what the whole training takes, as a run of it does") {
    const Metered tiny;
    const std::vector<std::string> plan{"plan", "gpt-2",    "--platform", "dgx-h100", "--ranks", "8",     "--batch",
                                        "16",   "--tokens", "1B",         "--best",   "1",       "--out", "plans"};
    const json answer = json::parse(tiny.answer(plan + std::vector<std::string>{"--format", "json"}, {}))["answers"][0];
    const json result =
        json::parse(tiny.answer({"run", "plans/gpt-2-dgx-h100-8.yaml", "--format", "json"}, {}))["results"][0];
    CHECK(answer["simulated"] == true);
    // All ranks compute as long, as in the forecast, and only devices have power.
    CHECK(answer["run_energy_J"].get<double>() == Approx(result["run_energy_J"].get<double>()).epsilon(1e-9));
    CHECK(answer["run_energy_J"].get<double>() > 8 * 70 * answer["run_time_s"].get<double>());
    CHECK(answer["run_energy_J"].get<double>() < 8 * 700 * answer["run_time_s"].get<double>());
    CHECK(read_file(tiny / "plans/plan.html").find("run_energy_J") != std::string::npos);
}
