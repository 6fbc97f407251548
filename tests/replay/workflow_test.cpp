#include <fmt/format.h>
#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Exec.hpp>
#include <simgrid/s4u/Host.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/analysis/trace_experiment.hpp"
#include "sim/execution/trace_files.hpp"
#include "sim/process/isolated.hpp"
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/replay/scripted.hpp"

// Workflows beside SimGrid: the same file, with tasks on the same hosts, ends at the same time. SimGrid's programs are
// those of its examples dag-from-dot and dag-from-dax, each in a process of its own.

using namespace syncline;
using namespace syncline::test;

namespace sg = simgrid::s4u;

namespace {

constexpr double bandwidth_Bps = 1e8, latency_s = 5e-4, flops_per_s = 4.2e9;  // of DAX in SimGrid

using Dag = std::vector<sg::ActivityPtr>;

/// Returns SimGrid's time for what `load` returns, whose execs are on the hosts of a star in turn, the last on the
/// first.
double simgrid_seconds(std::uint32_t hosts, const std::function<Dag()>& load) {
    const TempDir directory;
    const auto platform = directory.write(
        "star.xml",
        fmt::format("<?xml version='1.0'?><!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">"
                    "<platform version=\"4.1\"><cluster id=\"star\" prefix=\"host-\" suffix=\"\" radical=\"0-{}\" "
                    "speed=\"{}f\" bw=\"{}Bps\" lat=\"{}s\" sharing_policy=\"SPLITDUPLEX\"/></platform>",
                    hosts - 1, flops_per_s, bandwidth_Bps, latency_s));
    return std::stod(isolate([&] {
        std::string program = "dag", quiet = "--log=root.thres:critical";
        std::vector<char*> arguments{program.data(), quiet.data(), nullptr};
        int count = 2;
        auto* const engine = new sg::Engine(&count, arguments.data());
        // Its lazy solver forgets links of messages whose latency ends at the same instant.
        for (const char* setting : {"network/optim:Full", "network/model:CM02", "network/crosstraffic:0",
                                    "network/TCP-gamma:0", "network/loopback-bw:1e18", "surf/precision:1e-12"})
            sg::Engine::set_config(setting);
        engine->load_platform(platform.string());
        const Dag dag = load();
        std::uint32_t next = 0;
        const auto place = [](const sg::ActivityPtr& activity, std::uint32_t host) {
            dynamic_cast<sg::Exec&>(*activity).set_host(sg::Host::by_name(fmt::format("host-{}", host)));
        };
        place(dag.back(), 0);
        for (const sg::ActivityPtr& activity : dag) {
            if (activity != dag.back() && dynamic_cast<sg::Exec*>(activity.get()) != nullptr)
                place(activity, next++ % hosts);
        }
        for (const sg::ActivityPtr& activity : dag) {
            auto* const comm = dynamic_cast<sg::Comm*>(activity.get());
            if (comm == nullptr) continue;
            const auto host = [](const sg::ActivityPtr& exec) { return dynamic_cast<sg::Exec&>(*exec).get_host(); };
            comm->set_source(host(*comm->get_dependencies().begin()))
                ->set_destination(host(comm->get_successors().front()));
        }
        engine->run();
        return fmt::format("{:.17g}", sg::Engine::get_clock());
    }));
}

double our_seconds(const std::string& name, const std::string& text, std::uint32_t ranks) {
    const TempDir directory;
    Cluster cluster = star_cluster(ranks, bandwidth_Bps, latency_s);
    cluster.latency = Latency::blocking;
    cluster.device.flops_per_s = flops_per_s;
    TracePlan plan;
    plan.trace =
        std::make_shared<const ExecutionTrace>(read_trace({directory.write(name, text).string()}, {.ranks = ranks}));
    return simulate(cluster, plan).time.iteration_s;
}

void follow(const sg::ActivityPtr& before, const sg::ActivityPtr& after) {
    if (auto* const exec = dynamic_cast<sg::Exec*>(before.get()))
        exec->add_successor(after);
    else
        dynamic_cast<sg::Comm&>(*before).add_successor(after);
}

struct Edge {
    std::uint32_t from, to;
    std::uint64_t bytes;
};

/// Tasks with edges to later ones. SimGrid lets tasks of one host share it; where all of a host depend on each other,
/// that makes no difference.
struct Graph {
    std::uint32_t ranks = 1;
    std::vector<double> flop;
    std::vector<Edge> edges;

    std::string dot() const {
        std::string text = "digraph G {\n";
        for (std::size_t task = 0; task < flop.size(); ++task)
            text += fmt::format("t{} [size=\"{}\"];\n", task, flop[task]);
        for (const Edge& edge : edges) text += fmt::format("t{}->t{} [size=\"{}\"];\n", edge.from, edge.to, edge.bytes);
        return text + "}\n";
    }

    /// As create_DAG_from_dot, which Debian's SimGrid was built without.
    Dag loaded() const {
        const auto exec = [](double size) -> sg::ActivityPtr {
            return sg::Exec::init()->set_flops_amount(size)->vetoable_start();
        };
        Dag dag{exec(0)};
        for (const double size : flop) dag.push_back(exec(size));
        for (const Edge& edge : edges) {
            const sg::ActivityPtr from = dag[edge.from + 1], to = dag[edge.to + 1];
            if (edge.bytes == 0) {
                follow(from, to);
                continue;
            }
            const sg::ActivityPtr comm = sg::Comm::sendto_init()->set_payload_size(edge.bytes)->vetoable_start();
            follow(from, comm);
            follow(comm, to);
            dag.push_back(comm);
        }
        dag.push_back(exec(0));
        for (const sg::ActivityPtr& activity : dag) {
            if (activity != dag.front() && activity->dependencies_solved()) follow(dag.front(), activity);
            if (activity != dag.back() && activity->has_no_successor()) follow(activity, dag.back());
        }
        return dag;
    }
};

class Chance {
public:
    explicit Chance(unsigned seed) : random_(seed) {}
    std::uint64_t draw(std::uint64_t least, std::uint64_t most) { return least + random_() % (most - least + 1); }

private:
    std::mt19937 random_;
};

Graph random_graph(Chance& chance) {
    Graph graph;
    graph.ranks = static_cast<std::uint32_t>(chance.draw(2, 6));
    const auto tasks = static_cast<std::uint32_t>(chance.draw(4, 24));
    const auto rank_of = [&](std::uint32_t task) { return (task + 1) % graph.ranks; };  // after the root
    for (std::uint32_t task = 0; task < tasks; ++task)
        graph.flop.push_back(static_cast<double>(chance.draw(0, 9)) * 4.2e6);
    for (std::uint32_t task = 0; task + graph.ranks < tasks; ++task)
        graph.edges.push_back({task, task + graph.ranks, 0});
    std::set<std::pair<std::uint32_t, std::uint32_t>> known;
    for (std::uint64_t i = chance.draw(0, 3 * tasks); i > 0; --i) {
        const auto to = static_cast<std::uint32_t>(chance.draw(1, tasks - 1));
        const auto from = static_cast<std::uint32_t>(chance.draw(0, to - 1));
        if (rank_of(from) != rank_of(to) && known.emplace(from, to).second)
            graph.edges.push_back({from, to, chance.draw(0, 3) * chance.draw(1, 500'000)});
    }
    return graph;
}

constexpr const char* dax_head =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<adag xmlns=\"http://pegasus.isi.edu/schema/DAX\" "
    "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:schemaLocation=\"http://pegasus.isi.edu/schema/DAX "
    "http://pegasus.isi.edu/schema/dax-2.1.xsd\" version=\"2.1\">\n";

std::string uses(const std::string& file, const std::string& link, std::uint64_t bytes) {
    return fmt::format(
        "<uses file=\"{}\" link=\"{}\" register=\"true\" transfer=\"true\" optional=\"false\" "
        "type=\"data\" size=\"{}\"/>",
        file, link, bytes);
}

double dax_in_simgrid(const std::string& text, std::uint32_t hosts) {
    const TempDir directory;
    const auto file = directory.write("flow.dax", text);
    return simgrid_seconds(hosts, [&] { return sg::create_DAG_from_DAX(file.string()); });
}

}  // namespace

TEST_CASE("a dot graph's tasks end when SimGrid's do", "[memory]") {
    // Two tasks that need a third one's bytes at once, and one that only waits for it: on ranks 1, 2, 0 and 1.
    const Graph fork{3, {4.2e7, 4.2e7, 8.4e7, 4.2e6}, {{0, 1, 1'000'000}, {0, 2, 500'000}, {0, 3, 0}}};
    // 10 ms of computation; 0.5 MB and 1 MB share the sender's link: the first takes 10 ms, the second 15 ms; 1 ms of
    // latency; then 10 ms and 20 ms.
    CHECK(our_seconds("fork.dot", fork.dot(), 3) == Approx(10e-3 + 10e-3 + 1e-3 + 20e-3).epsilon(1e-12));
    CHECK(simgrid_seconds(3, [&] { return fork.loaded(); }) == Approx(41e-3).epsilon(1e-9));
    for (unsigned seed = 1; seed <= 40; ++seed) {
        Chance chance(seed);
        const Graph graph = random_graph(chance);
        CAPTURE(seed, graph.ranks, graph.dot());
        CHECK(our_seconds("random.dot", graph.dot(), graph.ranks) ==
              Approx(simgrid_seconds(graph.ranks, [&] { return graph.loaded(); })).epsilon(1e-9));
    }
}

TEST_CASE("a DAX's jobs end when those of SimGrid's loader do", "[memory]") {
    // root 0; a 1, b 2, c 3; end 0. Files that nobody writes come from root, and one that nobody reads goes to end.
    const std::string join =
        std::string(dax_head) + "<job id=\"a\" namespace=\"n\" name=\"a\" version=\"1\" runtime=\"0.5\">" +
        uses("in", "input", 2'000'000) + uses("fa", "output", 1'000'000) +
        "</job><job id=\"b\" namespace=\"n\" name=\"b\" version=\"1\" runtime=\"0.25\">" +
        uses("fb", "output", 3'000'000) + uses("more", "output", 1'000'000) +
        "</job><job id=\"c\" namespace=\"n\" name=\"c\" version=\"1\" runtime=\"1\">" + uses("fa", "input", 1'000'000) +
        uses("fb", "input", 3'000'000) + uses("more", "input", 1'000'000) + uses("out", "output", 500'000) +
        "</job><child ref=\"c\"><parent ref=\"a\"/></child></adag>\n";
    // a begins at 21 ms, after 2 MB and the latency, and its file is at c at 521 + 10 + 1 = 532 ms; b's two files are
    // there at 250 + 40 + 1 = 291 ms; c takes 1 s; 0.5 MB take 5 ms and 1 ms.
    CHECK(our_seconds("join.dax", join, 4) == Approx(0.532 + 1 + 6e-3).epsilon(1e-12));
    CHECK(dax_in_simgrid(join, 4) == Approx(1.538).epsilon(1e-9));

    for (unsigned seed = 1; seed <= 20; ++seed) {
        Chance chance(seed);
        const auto jobs = static_cast<std::uint32_t>(chance.draw(2, 12));
        std::vector<std::string> content(jobs);
        for (std::uint32_t file = 0; file < 2 * jobs; ++file) {
            const std::string name = fmt::format("f{}", file);
            const std::uint64_t bytes = chance.draw(1, 900'000);
            const auto writer = static_cast<std::uint32_t>(chance.draw(0, jobs));
            if (writer < jobs) content[writer] += uses(name, "output", bytes);
            for (std::uint32_t job = writer == jobs ? 0 : writer + 1; job < jobs; ++job)
                if (chance.draw(0, 2) == 0) content[job] += uses(name, "input", bytes);
        }
        std::string text = dax_head;
        for (std::uint32_t job = 0; job < jobs; ++job)
            text +=
                fmt::format("<job id=\"j{0}\" namespace=\"n\" name=\"j{0}\" version=\"1\" runtime=\"{1}\">{2}</job>\n",
                            job, 1e-3 * static_cast<double>(chance.draw(0, 20)), content[job]);
        for (std::uint32_t job = 1; job < jobs; ++job)
            if (chance.draw(0, 3) == 0)
                text += fmt::format("<child ref=\"j{}\"><parent ref=\"j{}\"/></child>\n", job, chance.draw(0, job - 1));
        text += "</adag>\n";
        CAPTURE(seed, text);
        CHECK(our_seconds("random.dax", text, jobs + 1) == Approx(dax_in_simgrid(text, jobs + 1)).epsilon(1e-9));
    }
}
