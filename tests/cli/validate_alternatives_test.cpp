#include <algorithm>
#include <cmath>

#include "tests/cli/measured.hpp"

// `validate --assumptions` and `--ablate`: predictions under other settings, with parameters estimated again.

using namespace syncline::test;
using nlohmann::json;

namespace {

constexpr double own_s = 1e-6, true_s = 3e-6;  // latencies: of the scenario, and of the measurements

struct Alternatives : RingBench {
    /// Writes rings that were measured with a latency of 3 us and 2.5 GB/s; the scenario has 1 us. The bandwidth
    /// calibrates on a large ring.
    void rings(const std::string& assumptions, const std::string& more_rows = "") const {
        scenario(series(row(2, 8'000'000, true) + row(4, 8'000, false) + row(8, 80'000, false) + more_rows),
                 bandwidth + (assumptions.empty() ? "" : "  assumptions:\n" + assumptions));
    }
    static std::string assumption(const std::string& name, const std::string& set, const std::string& more = "") {
        return "    - {name: " + name + ", why: it is not written, set: {" + set + "}" + more + "}\n";
    }
    json point(std::vector<std::string> options = {}) const {
        options.insert(options.begin(), {"validate", "ring.yaml", "--no-leave-one-out", "--assumptions"});
        return json_of(std::move(options)).at("points").at(0);
    }
    void refused(const std::vector<std::string>& words) const {
        const Outcome outcome = run_in(*this, {"validate", "ring.yaml"});
        CHECK(outcome.status == 3);
        for (const std::string& word : words) {
            CAPTURE(word, outcome.err);
            CHECK(says(outcome.err, word));
        }
        CHECK(run_in(*this, {"check", "ring.yaml"}).status == 3);
    }
    json ablated(const std::string& mechanisms, std::vector<std::string> options = {}) const {
        write("off.yaml", "mechanisms:\n" + mechanisms);
        options.insert(options.begin(), {"validate", "ring.yaml", "--no-leave-one-out", "--ablate", "off.yaml"});
        return json_of(std::move(options));
    }
};

/// The bandwidth with which a ring of two with 8 MB takes its measured time, if a latency is assumed.
double calibrated_Bps(double latency_s) {
    return 4e6 / (ring_s(2, 8e6, RingBench::bandwidth_Bps, true_s) / 2 - 2 * latency_s);
}
double predicted_s(int ranks, double bytes, double latency_s) {
    return ring_s(ranks, bytes, calibrated_Bps(latency_s), latency_s);
}
double error_of(int ranks, double bytes, double latency_s) {
    return predicted_s(ranks, bytes, latency_s) / ring_s(ranks, bytes, RingBench::bandwidth_Bps, true_s) - 1;
}

}  // namespace

TEST_CASE("validate: assumptions are predicted with parameters estimated again, and rows lie between") {
    const Alternatives bench;
    bench.rings(Alternatives::assumption("slow", "platform.fabric.latency: 3 us") +
                Alternatives::assumption("slower", "platform: {fabric: {latency: 6 us}}"));
    const json point = bench.point();
    const json written = bench.json_of({"validate", "ring.yaml", "--no-leave-one-out"}).at("points").at(0);
    CHECK_FALSE(written.contains("assumptions"));
    CHECK_FALSE(written["rows"][1].contains("predicted_lowest"));
    for (const char* same : {"median_accuracy", "bias", "parameters"}) CHECK(point[same] == written[same]);
    const json all = point["assumptions"];
    REQUIRE(all.size() == 2);
    CHECK(all[0]["name"] == "slow");
    CHECK(all[0]["why"] == "it is not written");
    CHECK(all[0]["rows"] == 2);
    CHECK(all[0]["refused"] == 0);
    CHECK(all[0]["refused_because"].is_null());
    CHECK(all[0]["worst_accuracy"].get<double>() == Approx(1).epsilon(1e-6));
    CHECK(all[0]["parameters"][0]["value"].get<double>() == Approx(2.5).epsilon(1e-6));
    CHECK(all[1]["parameters"][0]["value"].get<double>() == Approx(calibrated_Bps(6e-6) / 1e9).epsilon(1e-6));
    const double errors = (std::abs(error_of(4, 8e3, 6e-6)) + std::abs(error_of(8, 8e4, 6e-6))) / 2;
    CHECK(all[1]["median_error"].get<double>() == Approx(errors).epsilon(1e-4));
    const double before = (std::abs(error_of(4, 8e3, own_s)) + std::abs(error_of(8, 8e4, own_s))) / 2;
    CHECK(all[1]["change"].get<double>() == Approx(errors - before).epsilon(1e-4));
    const json row = point["rows"][2];
    CHECK(row["predicted"].get<double>() == Approx(predicted_s(8, 8e4, own_s)).epsilon(1e-5));
    CHECK(row["predicted_lowest"] == row["predicted"]);
    CHECK(row["predicted_highest"].get<double>() == Approx(predicted_s(8, 8e4, 6e-6)).epsilon(1e-5));
    const Outcome text = run_in(bench, {"validate", "ring.yaml", "--assumptions", "--wide"});
    for (const char* part : {"lowest", "highest", "as written", "slower", "it is not written"})
        CHECK(says(text.out, part));
    CHECK(says(run_in(bench, {"validate", "ring.yaml", "--assumptions", "--format", "csv"}).out,
               ",settings,predicted_lowest,predicted_highest,"));
}

TEST_CASE("validate: an assumption that a row gives itself, or that concerns other series, leaves it as it is",
          "[memory]") {
    const Alternatives bench;
    // A row's own number of ranks stays; that of the other series changes.
    bench.scenario(Alternatives::series(Alternatives::row(4, 8'000, false)) +
                       "    - {name: silent, over: [collective.bytes], rows: [{at: [8 KB], value: 1}]}\n"
                       "    - {name: other, set: {platform.fabric.latency: 2 us}, rows: [{value: 1}]}\n",
                   "");
    bench.write("ring.yaml", read_file(bench / "ring.yaml") + "  assumptions:\n" +
                                 Alternatives::assumption("eight", "collective.ranks: 8", ", series: [base, silent]"));
    const json rows = bench.point()["rows"];
    CHECK(rows[0]["predicted_highest"] == rows[0]["predicted"]);
    CHECK(rows[1]["predicted"].get<double>() == Approx(ring_s(2, 8e3, 1e9, own_s)));
    CHECK(rows[1]["predicted_highest"].get<double>() == Approx(ring_s(8, 8e3, 1e9, own_s)));
    CHECK(rows[2]["predicted_highest"] == rows[2]["predicted"]);
}

TEST_CASE("validate: rows for which an assumption is invalid are counted, with the reason") {
    const Alternatives bench;
    const std::string few = Alternatives::assumption("few", "platform.nodes: 6, platform.fabric.latency: 3 us");
    bench.rings(few);
    const json point = bench.point();
    CHECK(point["assumptions"][0]["rows"] == 1);
    CHECK(point["assumptions"][0]["refused"] == 1);
    CHECK(point["assumptions"][0]["worst_accuracy"].get<double>() == Approx(1).epsilon(1e-6));
    CHECK(says(point["assumptions"][0]["refused_because"], "8"));
    CHECK(point["rows"][2]["predicted_highest"] == point["rows"][2]["predicted"]);
    // The change is that of the row that is left.
    CHECK(point["assumptions"][0]["change"].get<double>() == Approx(-std::abs(error_of(4, 8e3, own_s))).epsilon(1e-4));
    CHECK(says(run_in(bench, {"validate", "ring.yaml", "--assumptions", "--wide"}).out,
               "'few' is refused for 1 predicted rows: "));

    // Without its calibration row nothing is predicted.
    bench.scenario(Alternatives::series(Alternatives::row(8, 8'000'000, true) + Alternatives::row(4, 8'000, false)),
                   Alternatives::bandwidth + "  assumptions:\n" + few);
    const json none = bench.point();
    CHECK(none["assumptions"][0]["rows"] == 0);
    CHECK(none["assumptions"][0]["median_accuracy"].is_null());
    CHECK(says(none["assumptions"][0]["refused_because"], "8"));
    CHECK(none["assumptions"][0]["parameters"].empty());
}

TEST_CASE("validate: rows that do not fit into memory under an assumption are counted", "[memory]") {
    const Alternatives bench;
    bench.write("workload.yaml", tiny_workload);
    bench.write("ring.yaml",
                "platform: platform.yaml\nworkload: workload.yaml\n"
                "training: {ranks: 4, batch_per_rank: 8, input_copy: none}\nmeasured:\n  source: made up\n"
                "  field: iteration_time_s\n"
                "  series: [{over: [training.ranks], rows: [{at: [2], value: 0.01}, {at: [4], value: 0.01}]}]\n"
                "  assumptions:\n" +
                    Alternatives::assumption("small", "platform.device.memory: 1 MB"));
    const json small = bench.point()["assumptions"][0];
    CHECK(small["refused"] == 2);
    CHECK(says(small["refused_because"], "it needs"));
    const json forced = bench.point({"--allow-oom"});
    CHECK(forced["assumptions"][0]["refused"] == 0);
    CHECK(forced["assumptions"][0]["applies"] == false);
}

TEST_CASE("validate: wrong assumptions are reported where they are written", "[memory]") {
    const Alternatives bench;
    const auto wrong = [&](const std::string& assumptions, const std::vector<std::string>& words) {
        bench.rings(assumptions);
        bench.refused(words);
    };
    wrong(Alternatives::assumption("typo", "platform.fabric.latncy: 3 us"),
          {"ring.yaml:15:", "unknown key 'latncy'", "did you mean 'latency'?"});
    wrong(Alternatives::assumption("same", "platform.fabric.latency: 1 us"),
          {"ring.yaml:15:", "assumption 'same' changes no row"});
    wrong(Alternatives::assumption("given", "collective.ranks: 2"), {"assumption 'given' changes no row"});
    wrong(Alternatives::assumption("fitted", "platform.fabric.bandwidth: 3 GBps"),
          {"parameter 'platform.fabric.bandwidth' would replace this"});
    wrong(Alternatives::assumption("one", "platform.fabric.latency: 3 us") +
              Alternatives::assumption("one", "platform.fabric.latency: 5 us"),
          {"ring.yaml:16:", "'one' is listed twice"});
    wrong(Alternatives::assumption("one", "platform.fabric.latency: 3 us", ", series: [bsae]"),
          {"there is no series 'bsae'", "did you mean 'base'?"});
    wrong(Alternatives::assumption("one", ""), {"'set' changes nothing"});
    wrong("    - {name: one, set: {platform.fabric.latency: 3 us}}\n", {"missing key 'why'"});
}

TEST_CASE("validate: --ablate shows the errors without each mechanism") {
    const Alternatives bench;
    bench.rings("");
    const json report = bench.ablated(Alternatives::assumption("latency", "platform.fabric.latency: none") +
                                      Alternatives::assumption("nothing", "platform.fabric.latency: 1 us") +
                                      Alternatives::assumption("small", "collective.bytes: 8 KB") +
                                      Alternatives::assumption("few", "platform.nodes: 6"));
    const json all = report["mechanisms"];
    REQUIRE(all.size() == 4);
    const double before = (std::abs(error_of(4, 8e3, own_s)) + std::abs(error_of(8, 8e4, own_s))) / 2;
    const double after = (std::abs(error_of(4, 8e3, 0)) + std::abs(error_of(8, 8e4, 0))) / 2;
    CHECK(report["median_error"].get<double>() == Approx(before).epsilon(1e-4));
    CHECK(all[0]["name"] == "latency");
    CHECK(all[0]["applies"] == true);
    CHECK(all[0]["median_error"].get<double>() == Approx(after).epsilon(1e-4));
    CHECK(all[0]["change"].get<double>() == Approx(after - before).epsilon(1e-4));
    CHECK(all[0]["points"][0]["point"] == "ring");
    CHECK(all[0]["points"][0]["change"] == all[0]["change"]);
    CHECK(all[1]["applies"] == false);
    CHECK(all[1]["change"] == 0);
    // It replaces what rows give: all have 8 KB. The bandwidth is then as low as it may be.
    CHECK(all[2]["applies"] == true);
    CHECK(all[3]["refused"] == 1);
    CHECK(all[3]["rows"] == 1);
    const Outcome text = run_in(bench, {"validate", "ring.yaml", "--ablate", "off.yaml", "--wide"});
    CHECK(says(text.out, fmt::format("{:.1f} %", 100 * before)));
    CHECK(says(text.out, "ring: 'few' is refused for 1 predicted rows: "));
    CHECK(says(text.out, fmt::format("{:.1f} % ({:+.1f})", 100 * after, 100 * (after - before))));
    const Outcome page = run_in(bench, {"validate", "ring.yaml", "--ablate", "off.yaml", "--report", "page.html"});
    CHECK(page.status == 0);
}

TEST_CASE("validate: --ablate with files and options that are wrong") {
    const Alternatives bench;
    bench.rings("");
    const auto status = [&](const std::string& text, const std::string& words) {
        bench.write("off.yaml", text);
        const Outcome outcome = run_in(bench, {"validate", "ring.yaml", "--ablate", "off.yaml"});
        CAPTURE(outcome.err);
        CHECK(says(outcome.err, words));
        return outcome.status;
    };
    const std::string good = Alternatives::assumption("latency", "platform.fabric.latency: none");
    CHECK(status("mechanisms:\n" + good, "") == 0);
    CHECK(run_in(bench, {"check", "off.yaml"}).out == "off.yaml: a correct ablation\n");
    for (const char* option : {"--list", "--repeat=3", "--format=csv"})
        CHECK(run_in(bench, {"validate", "ring.yaml", "--ablate", "off.yaml", option}).status == 2);
    for (const char* option : {"--list", "--repeat=3"})
        CHECK(run_in(bench, {"validate", "ring.yaml", "--assumptions", option}).status == 2);
    CHECK(status("mechanisms:\n" + good + good, "off.yaml:3:14: error: 'latency' is listed twice") == 3);
    CHECK(status("mechanisms:\n" + Alternatives::assumption("b", "platform.fabric.bandwidth: 1 GBps"),
                 "parameter 'platform.fabric.bandwidth' would replace this") == 3);
    CHECK(status("mechanisms: []\n", "'mechanisms' has no items") == 3);
    CHECK(status("mechanism: []\n", "unknown key 'mechanism'") == 3);
    CHECK(run_in(bench, {"validate", "ring.yaml", "--ablate", "langage-models"}).status == 3);
    // A typo is refused for all rows, and said.
    bench.write("off.yaml", "mechanisms:\n" + Alternatives::assumption("typo", "platform.fabric.latncy: none"));
    CHECK(says(run_in(bench, {"validate", "ring.yaml", "--ablate", "off.yaml", "--wide"}).out,
               "'typo' is refused for 2 predicted rows: unknown key 'latncy'"));
}
