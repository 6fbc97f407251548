#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "sim/check/check.hpp"
#include "sim/config/files.hpp"
#include "sim/document/document.hpp"
#include "sim/document/reader.hpp"
#include "tests/catch.hpp"

// Transports as written in files.

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

/// Returns the only error.
Diagnostic error_of(const std::string& text) {
    try {
        read_transport(text);
    } catch (const ConfigError& error) {
        REQUIRE(error.diagnostics().size() == 1);
        return error.diagnostics().front();
    }
    FAIL("nothing is wrong with " + text);
    return {};
}

Transport asked(const std::vector<config::Argument>& more, const std::vector<std::string>& assignments = {}) {
    std::vector<config::Argument> arguments{
        {"platform", SYNCLINE_SOURCE_DIR "/platforms/p100-25g.yaml"}, {"ranks", "4"}, {"bytes", "1MB"}};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return config::load_collective(arguments, assignments).cluster.transport;
}

}  // namespace

TEST_CASE("a transport's keys are read") {
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
        "pointer_cache: true\n"
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
    CHECK(transport.pointer_cache);
    CHECK(transport.query_s() == 0);
    CHECK(transport.reduction == Reduction{Reduction::Where::host, 5e9, 4e-6});
    CHECK(transport.launch_s == Approx(9e-6));
    CHECK(transport.window == 3);
}

TEST_CASE("messages inside a node cost the same as others unless the file says otherwise") {
    CHECK(read_transport("latency: 3 us\nbandwidth: 1 GBps\n").inside == MessageTerms{0, 0, 3e-6, {{1, 1e9}}});
    CHECK(read_transport("latency: 3 us\ninside_node: {send_overhead: 1 us}\n").inside == MessageTerms{1e-6, 0, 0, {}});
}

TEST_CASE("'none' and 'unlimited' mean the same as an absent key") {
    CHECK(
        is_plain(read_transport("name: nothing\nlatency: none\nsend_overhead: none\nbandwidth: unlimited\n"
                                "host_bandwidth: unlimited\nstaging: none\nlaunch: none\ndriver_query: none\n")));
    CHECK(read_transport("driver_query: 300 ns\n").query_s() == Approx(300e-9));
}

TEST_CASE("invalid transports are refused at their place") {
    const Diagnostic descending =
        error_of("bandwidth:\n- {size: 4 KiB, bandwidth: 1 GBps}\n- {size: 4096 B, bandwidth: 2 GBps}\n");
    CHECK(descending.message == "sizes must ascend");
    CHECK(descending.where.line == 3);
    CHECK(descending.where.column == 10);
    const Diagnostic falling =
        error_of("bandwidth:\n- {size: 4 KiB, bandwidth: 1 GBps}\n- {size: 8 KiB, bandwidth: 3 GBps}\n");
    CHECK(falling.message.find("would take") != std::string::npos);
    CHECK(falling.where.line == 3);
    CHECK(error_of("bandwidth: []\n").message == "'bandwidth' has no items");
    CHECK(error_of("bandwidth: [{size: 4 KiB}]\n").message.find("missing key 'bandwidth'") == 0);
    CHECK(error_of("bandwidth: 0 Gbps\n").message.find("but must be above zero") != std::string::npos);
    CHECK(error_of("staging: {rate: 12 GBps}\n").message.find("missing key 'each'") == 0);
    CHECK(error_of("staging: {each: step}\n").message.find("'each' cannot be 'step'") == 0);
    CHECK(error_of("latency: 5\n").message.find("has no unit") != std::string::npos);
    CHECK(error_of("latency: -5 us\n").message.find("but must be above zero") != std::string::npos);
    CHECK(error_of("window: 0\n").message.find("'window'") == 0);
    CHECK(error_of("lattency: 5 us\n").hint == "did you mean 'latency'?");
    CHECK(error_of("inside_node: {window: 2}\n").message == "unknown key 'window'");
    // A point that is wrong is not compared with the next one.
    CHECK(error_of("bandwidth:\n- {size: 4 KiB, bandwidth: 1}\n- {size: 1 KiB, bandwidth: 3 GBps}\n").where.line == 2);
}

TEST_CASE("a platform's transport is a file or its keys, and an option of an exchange alone") {
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

TEST_CASE("a platform of SimGrid's format states its hosts' send rates itself") {
    const auto read_platform = [](const std::string& transport) {
        config::Library library;
        const config::Node node = library.parse(
            "test.yaml", "simgrid_xml: tests/unit/simgrid.xml\ntransport: {" + transport + "}\n", SYNCLINE_SOURCE_DIR);
        Cluster cluster;
        std::vector<Diagnostic> errors;
        config::read(
            node, "platform", [&](config::Fields& fields) { describe(fields, cluster); }, errors);
        return errors;
    };
    CHECK(read_platform("latency: 5 us").empty());
    const std::vector<Diagnostic> errors = read_platform("host_bandwidth: 20 Gbps");
    REQUIRE(errors.size() == 1);
    CHECK(errors.front().message == "'host_bandwidth' has no effect with 'simgrid_xml'");
    CHECK(errors.front().where.line == 2);
    const std::vector<Diagnostic> eager = read_platform("eager: 64 KiB");
    REQUIRE(eager.size() == 1);
    CHECK(eager.front().message == "'eager' has no effect with SimGrid's network models and platforms in its format");
}

TEST_CASE("messages are eager up to a size, between nodes and inside them") {
    CHECK_FALSE(read_transport("latency: 5 us").has_protocols());
    const Transport both = read_transport("eager: 64 KiB");
    CHECK(both.between.eager_bytes == 65536.0);
    CHECK(both.inside.eager_bytes == 65536.0);
    const Transport one = read_transport("{eager: unlimited, inside_node: {latency: 1 us}}");
    CHECK(one.between.eager_bytes == std::numeric_limits<double>::infinity());
    CHECK_FALSE(one.inside.eager_bytes.has_value());
    CHECK(read_transport("inside_node: {eager: 0 B}").inside.eager_bytes == 0.0);
    CHECK(read_transport("inside_node: {eager: 0 B}").has_protocols());
    CHECK(error_of("eager: 5").message.find("unit") != std::string::npos);
    CHECK_THROWS_AS(asked({{"fidelity", "folded"}}, {"platform.transport={eager: 64 KiB}"}), ConfigError);
}

TEST_CASE("exchanges take multiprocessors of a device that has enough") {
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
        REQUIRE(errors.size() <= 1);
        return errors.empty() ? "" : fmt::format("{}: {}", errors[0].where.line, errors[0].message);
    };
    const std::string p100 = ", multiprocessors: 56";
    CHECK(read_platform(p100, "2").empty());
    CHECK(speed_beside_exchange(cluster).of[0] == Approx(54.0 / 56));
    CHECK(speed_beside_exchange(cluster).of[1] == Approx(54.0 / 56));
    CHECK(read_platform(p100, "{collective: 16, point-to-point: 2}").empty());
    CHECK(speed_beside_exchange(cluster).of[0] == Approx(40.0 / 56));
    CHECK(speed_beside_exchange(cluster).of[1] == Approx(54.0 / 56));
    CHECK(read_platform("", "0").empty());
    CHECK(!speed_beside_exchange(cluster).slows());
    CHECK(read_platform(", speed_beside_exchange: 0.5", "0").empty());
    CHECK(speed_beside_exchange(cluster) == SpeedBesideExchange(0.5));
    CHECK(read_platform("", "2") == "3: 'exchange_multiprocessors' needs the device's 'multiprocessors'");
    CHECK(read_platform(p100, "56") ==
          "3: exchanges that take 56 of the device's 56 multiprocessors leave none for computation");
    CHECK(read_platform(p100, "{point-to-point: 60}").find("3: exchanges that take 60") == 0);
    CHECK(read_platform(p100 + ", speed_beside_exchange: 0.5", "2").find("exclude each other") != std::string::npos);
    CHECK(read_platform(p100, "-1").find("3: 'exchange_multiprocessors'") == 0);
    CHECK(read_platform(p100, "{halo: 1}") == "3: unknown key 'halo'");
}

TEST_CASE("every shipped transport can be read, has an effect, and is named like its file") {
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
