#include "sim/document/presets.hpp"
#include "sim/check/check.hpp"

#include <fstream>

#include "sim/config/scenario.hpp"
#include "tests/catch.hpp"

// A word means a path, a file of exactly that name, a preset of the working directory, or one of the clone.

using namespace syncline;
using namespace syncline::config;
namespace fs = std::filesystem;

namespace {

/// A temporary directory, which is the working directory during its lifetime.
struct Somewhere {
    Somewhere() : before(fs::current_path()) {
        std::string name = (fs::temp_directory_path() / "syncline-XXXXXX").string();
        REQUIRE(mkdtemp(name.data()));
        directory = name;
        fs::current_path(directory);
    }
    ~Somewhere() {
        fs::current_path(before);
        std::error_code ignored;
        fs::remove_all(directory, ignored);
    }
    static void write(const fs::path& path, const std::string& text = "name: x\n") {
        if (path.has_parent_path()) fs::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }
    fs::path before, directory;
};

Diagnostic refused(const std::string& word, const Kinds& kinds, const std::vector<std::string>& words = {}) {
    CAPTURE(word);
    try {
        const std::string file = find_argument(word, kinds, words);
        FAIL("found " + file);
    } catch (const ConfigError& error) {
        REQUIRE(error.diagnostics().size() == 1);
        CHECK(error.diagnostics()[0].where.file == word);
        return error.diagnostics()[0];
    }
    return {};
}

bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

const fs::path cloned = SYNCLINE_SOURCE_DIR;

}  // namespace

TEST_CASE("every shipped file has its name, of its kind, in any folder", "[memory]") {
    const Somewhere somewhere;
    const std::pair<const char*, std::vector<const char*>> kinds[] = {
        {"platform", {"platforms"}},
        {"device", {"platforms/devices"}},
        {"transport", {"platforms/transports"}},
        {"selection", {"platforms/selections"}},
        {"topology", {"topologies"}},
        {"workload", {"workloads"}},
        {"study", {"scenarios/studies"}},
        {"ablation", {"scenarios/ablations"}},
        {"framework", {"scenarios/frameworks"}},
        {"scenario", {"scenarios", "scenarios/lessons"}},
        {"measured", {"scenarios/published"}},
    };
    CHECK(std::size(kinds) == file_kinds().size());
    for (const auto& [kind, folders] : kinds)
        for (const char* folder : folders)
            for (const auto& entry : fs::directory_iterator(cloned / folder)) {
                if (entry.path().extension() != ".yaml") continue;
                const std::string file = find_argument(entry.path().stem().string(), {kind});
                CHECK(fs::equivalent(file, entry.path()));
            }
}

TEST_CASE("a file of exactly that name takes precedence over a preset, and a preset of this folder over the clone's",
          "[memory]") {
    const Somewhere somewhere;
    CHECK(fs::equivalent(find_argument("p100-25g", {"platform"}), cloned / "platforms/p100-25g.yaml"));
    Somewhere::write("platforms/p100-25g.yaml");
    CHECK(find_argument("p100-25g", {"platform"}) == "platforms/p100-25g.yaml");
    Somewhere::write("p100-25g");
    CHECK(find_argument("p100-25g", {"platform"}) == "p100-25g");
    // A folder, or a file of another kind, is still not taken.
    fs::create_directory("tcp");
    CHECK(fs::equivalent(find_argument("tcp", {"transport"}), cloned / "platforms/transports/tcp.yaml"));
    CHECK(find_argument("tcp", {"device"}) == "tcp");  // reading it reports that it is a directory
}

TEST_CASE("a word with '/' or a file's suffix is a path, and so is a lone dot", "[memory]") {
    const Somewhere somewhere;
    for (const char* path : {"./p100-25g", "p100-25g.yaml", "p100-25g.yml", "x/p100-25g", "net.graphml", ""})
        CHECK(find_argument(path, {"platform"}) == path);
    Somewhere::write("workloads/gpt-3.6b.yaml");
    CHECK(find_argument("gpt-3.6b", {"workload"}) == "workloads/gpt-3.6b.yaml");
}

TEST_CASE("an unknown word is refused with a suggestion and the folders that were searched", "[memory]") {
    const Somewhere somewhere;
    const Diagnostic near = refused("p100-52g", {"platform"});
    CHECK(near.message == "'p100-52g' is neither a file nor a platform");
    CHECK(holds(near.hint, "did you mean 'p100-25g'? "));
    CHECK(holds(near.hint, (cloned / "platforms").string() + " has a100-nvswitch, "));
    CHECK(refused("nothing-like-it", {"study", "scenario"}).message ==
          "'nothing-like-it' is neither a file nor a study or a scenario");
    const Diagnostic shape = refused("rign", {"topology"}, shape_names());
    CHECK(shape.message == "'rign' is neither a file nor a shape or a topology");
    CHECK(holds(shape.hint, "did you mean 'ring'?"));
    Somewhere::write("mine.yaml");
    CHECK(refused("mine", {"platform"}).hint == "did you mean 'mine.yaml'?");
    // A file of one's own comes before the beginning of a preset's name.
    CHECK(find_argument("selen", {"platform"}) == (cloned / "platforms/selene.yaml").string());
    Somewhere::write("selen.yaml");
    CHECK(refused("selen", {"platform"}).hint == "did you mean 'selen.yaml'?");
}

TEST_CASE("an ambiguous name of two kinds is refused", "[memory]") {
    const Somewhere somewhere;
    const Diagnostic both = refused("gpt-3-175b", file_kinds());
    CHECK(both.message == "'gpt-3-175b' is the name of a scenario and of a workload");
    CHECK(holds(both.hint, "scenarios/gpt-3-175b.yaml or "));
    CHECK(holds(both.hint, "workloads/gpt-3-175b.yaml"));
}

TEST_CASE("files can refer to presets wherever they can refer to files", "[memory]") {
    const Somewhere somewhere;
    const auto resolved = [](const std::string& text) {
        Somewhere::write("scenario.yaml", text);
        return load_scenario("scenario.yaml", {}).variants.front().resolved;
    };
    const std::string shipped = cloned.string();
    CHECK(resolved(
              "platform: p100-25g\nworkload: resnet-50\ntraining: {ranks: 4, batch_per_rank: 8, selection: mpich}") ==
          resolved("platform: " + shipped + "/platforms/p100-25g.yaml\nworkload: " + shipped +
                   "/workloads/resnet-50.yaml\ntraining: {ranks: 4, batch_per_rank: 8, selection: " + shipped +
                   "/platforms/selections/mpich.yaml}"));
    const auto with = [&](const std::string& keys) {
        return resolved("platform: p100-25g\nvariants: {a: {" + keys +
                        "}}\ncollective: {ranks: 8, bytes: 1 MB, operation: allreduce}\n");
    };
    CHECK(with("platform.device: k80") == with("platform.device: " + shipped + "/platforms/devices/k80.yaml"));
    CHECK(with("platform.transport: nccl-a100") ==
          with("platform.transport: " + shipped + "/platforms/transports/nccl-a100.yaml"));
    CHECK(with("platform.fabric: tree-4to1") == with("platform.fabric: " + shipped + "/topologies/tree-4to1.yaml"));
}

TEST_CASE("a reference to an unknown preset is refused at its place", "[memory]") {
    const Somewhere somewhere;
    Somewhere::write("scenario.yaml", "workload: resnet-50\nplatform: p100-25\ntraining: {ranks: 4}\n");
    try {
        load_scenario("scenario.yaml", {});
        FAIL("no error");
    } catch (const ConfigError& error) {
        REQUIRE(error.diagnostics().size() == 1);
        CHECK(holds(error.what(), "scenario.yaml:2:11: error: 'p100-25' is neither a file nor a platform\n"));
        CHECK(holds(error.what(), "hint: did you mean 'p100-25g'?"));
    }
}

TEST_CASE("the name of a shape means the shape, any other name a preset topology or the topology of a platform",
          "[memory]") {
    const Somewhere somewhere;
    CHECK(load_topology("fat-tree", {}, Use::fabric).spec.bandwidth_Bps.empty());  // topologies/fat-tree.yaml has some
    const TopologyQuestion tree = load_topology("tree-4to1", {}, Use::fabric);
    CHECK(tree.spec.shape == Shape::tree);
    CHECK(tree.topology.hosts == 16);
    CHECK(load_topology("p100-25g", {}, Use::fabric).spec.shape == Shape::star);
}
