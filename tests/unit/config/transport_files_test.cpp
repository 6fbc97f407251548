#include <filesystem>
#include <string>
#include <vector>

#include "sim/check/check.hpp"
#include "sim/config/scenario.hpp"
#include "sim/document/document.hpp"
#include "sim/document/reader.hpp"
#include "tests/catch.hpp"

// Transports as written in files. Mistakes are in tests/cases/transport.cases.

using namespace syncline;

namespace {

Transport read_transport(const std::string& text) {
    config::Library library;
    const config::Node node = library.parse("test.yaml", text, ".");
    Transport transport;
    std::vector<Diagnostic> errors;
    config::read(
        node, "transport", [&](config::Fields& fields) { describe(fields, transport); }, errors);
    if (!errors.empty()) throw ConfigError(errors);
    return transport;
}

Transport asked(const std::vector<config::Argument>& more, const std::vector<std::string>& assignments = {}) {
    std::vector<config::Argument> arguments{
        {"platform", SYNCLINE_SOURCE_DIR "/platforms/p100-25g.yaml"}, {"ranks", "4"}, {"bytes", "1MB"}};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return config::load_collective(arguments, assignments).cluster.transport;
}

}  // namespace

TEST_CASE("a transport's keys are read", "[memory]") {
    const Transport transport = read_transport(
        "name: all\n"
        "send_overhead: 1 us\n"
        "receive_overhead: 2 us\n"
        "latency: 3 us\n"
        "bandwidth: [{size: 4 KiB, bandwidth: 1 GBps}, {size: 1 MiB, bandwidth: 8 Gbps}]\n"
        "inside_node: {latency: 500 ns, bandwidth: 10 GBps}\n"
        "host_bandwidth: 20 Gbps\n"
        "staging: {each: message, rate: 12 GBps, latency: 7 us}\n"
        "driver_query: 300 ns\n"
        "reduction: {where: host, rate: 5 GBps, launch: 4 us}\n"
        "launch: 9 us\n"
        "window: 3\n");
    CHECK(transport.name == "all");
    CHECK(transport.between == MessageTerms{1e-6, 2e-6, 3e-6, {{4096, 1e9}, {1 << 20, 1e9}}});
    CHECK(transport.inside.latency_s == Approx(500e-9));
    CHECK(transport.inside.send_overhead_s == 0);
    CHECK(transport.inside.limit_Bps(1e6) == Approx(10e9));
    CHECK(transport.host_Bps == Approx(2.5e9));
    CHECK(transport.staging == Staging{Staging::Unit::message, 12e9, 7e-6});
    CHECK(transport.driver_query_s == Approx(300e-9));
    CHECK(transport.reduction == Reduction{Reduction::Where::host, 5e9, 4e-6});
    CHECK(transport.launch_s == Approx(9e-6));
    CHECK(transport.window == 3);
}

TEST_CASE("messages inside a node cost the same as others unless the file says otherwise", "[memory]") {
    CHECK(read_transport("latency: 3 us\nbandwidth: 1 GBps\n").inside == MessageTerms{0, 0, 3e-6, {{1, 1e9}}});
    CHECK(read_transport("latency: 3 us\ninside_node: {send_overhead: 1 us}\n").inside == MessageTerms{1e-6, 0, 0, {}});
}

TEST_CASE("'none' and 'unlimited' mean the same as an absent key", "[memory]") {
    CHECK(
        is_plain(read_transport("name: nothing\nlatency: none\nsend_overhead: none\nbandwidth: unlimited\n"
                                "host_bandwidth: unlimited\nstaging: none\nlaunch: none\ndriver_query: none\n")));
    CHECK(read_transport("driver_query: 300 ns\n").driver_query_s == Approx(300e-9));
}

TEST_CASE("a platform's transport is a file or its keys, and an option of an exchange alone", "[memory]") {
    CHECK(is_plain(asked({})));
    const std::string tcp = SYNCLINE_SOURCE_DIR "/platforms/transports/tcp.yaml";
    const Transport file = asked({{"transport", tcp}});
    CHECK(file.name == "tcp");
    CHECK(file.host_Bps == Approx(2.5e9));
    CHECK(asked({}, {"platform.transport=" + tcp}) == file);
    CHECK(asked({{"transport", "{latency: 5 us}"}}).between.latency_s == Approx(5e-6));
    CHECK(asked({{"transport", tcp}}, {"platform.transport.host_bandwidth=10 Gbps"}).host_Bps == Approx(1.25e9));
    CHECK_THROWS_AS(asked({{"transport", "no-such-file.yaml"}}), ConfigError);
    CHECK_THROWS_AS(asked({{"transport", "{latencies: 5 us}"}}), ConfigError);
}

TEST_CASE("messages are eager up to a size, between nodes and inside them", "[memory]") {
    CHECK_FALSE(read_transport("latency: 5 us").has_protocols());
    const Transport both = read_transport("eager: 64 KiB");
    CHECK(both.between.eager_bytes == 65536.0);
    CHECK(both.inside.eager_bytes == 65536.0);
    const Transport one = read_transport("{eager: unlimited, inside_node: {latency: 1 us}}");
    CHECK(one.between.eager_bytes == std::numeric_limits<double>::infinity());
    CHECK_FALSE(one.inside.eager_bytes.has_value());
    CHECK(read_transport("inside_node: {eager: 0 B}").inside.eager_bytes == 0.0);
    CHECK(read_transport("inside_node: {eager: 0 B}").has_protocols());
    CHECK_THROWS_AS(asked({{"fidelity", "folded"}}, {"platform.transport={eager: 64 KiB}"}), ConfigError);
}

TEST_CASE("exchanges take multiprocessors of a device that has enough", "[memory]") {
    Cluster cluster;
    const auto read_platform = [&](const std::string& device, const std::string& transport) {
        config::Library library;
        const config::Node node = library.parse("test.yaml",
                                                "device: {flops: 1 Tflops, memory_bandwidth: 1 GBps" + device +
                                                    "}\nfabric: {topology: star, bandwidth: 1 GBps, latency: none}\n" +
                                                    "transport: {exchange_multiprocessors: " + transport + "}\n",
                                                ".");
        cluster = {};
        std::vector<Diagnostic> errors;
        config::read(
            node, "platform", [&](config::Fields& fields) { describe(fields, cluster); }, errors);
        return errors;
    };
    const std::string p100 = ", multiprocessors: 56";
    CHECK(read_platform(p100, "2").empty());
    CHECK(speed_beside_exchange(cluster).of[0] == Approx(54.0 / 56));
    CHECK(speed_beside_exchange(cluster).of[1] == Approx(54.0 / 56));
    CHECK(read_platform(p100, "{collective: 16, point-to-point: 2}").empty());
    CHECK(speed_beside_exchange(cluster).of[0] == Approx(40.0 / 56));
    CHECK(speed_beside_exchange(cluster).of[1] == Approx(54.0 / 56));
    CHECK(read_platform("", "2").empty());  // it has an unknown number
    CHECK(!speed_beside_exchange(cluster).slows());
    CHECK(read_platform(p100 + ", speed_beside_exchange: 0.5", "2").empty());  // what was measured comes first
    CHECK(speed_beside_exchange(cluster) == SpeedBesideExchange(0.5));
}

TEST_CASE("every shipped transport can be read, has an effect, and is named like its file", "[memory]") {
    int count = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(SYNCLINE_SOURCE_DIR) / "platforms/transports")) {
        if (entry.path().extension() != ".yaml") continue;
        CAPTURE(entry.path().string());
        CHECK(config::check_file(entry.path().string()) == "transport");
        const Transport transport = asked({{"transport", entry.path().string()}});
        CHECK_FALSE(is_plain(transport));
        CHECK(transport.name == entry.path().stem());
        ++count;
    }
    CHECK(count >= 11);
}
