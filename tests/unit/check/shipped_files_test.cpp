#include <filesystem>
#include <fstream>
#include <sstream>

#include "sim/check/check.hpp"
#include "sim/config/file_kinds.hpp"
#include "sim/document/document.hpp"
#include "tests/catch.hpp"

// Every shipped file can be read, and the shipped schemas are those of the field tables.

using namespace syncline;
namespace fs = std::filesystem;

namespace {

const fs::path root = SYNCLINE_SOURCE_DIR;

std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

}  // namespace

TEST_CASE("shipped files are correct and name their schema, which exists") {
    int files = 0;
    for (const char* folder : {"scenarios", "platforms", "workloads", "topologies"}) {
        for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
            if (entry.path().extension() != ".yaml") continue;
            CAPTURE(entry.path().string());
            CHECK_NOTHROW(config::check_file(entry.path().string()));
            const std::string text = text_of(entry.path()), before = "# yaml-language-server: $schema=";
            REQUIRE(text.rfind(before, 0) == 0);
            const fs::path schema = text.substr(before.size(), text.find('\n') - before.size());
            CHECK(schema.filename() == "schema.json");
            CHECK(fs::exists(entry.path().parent_path() / schema));
            ++files;
        }
    }
    CHECK(files >= 39);
}

namespace {

int count_values(const config::Node& node) {
    if (node.kind != config::Node::Kind::mapping) return 1;
    int count = 0;
    for (const config::Entry& entry : node.entries) count += count_values(entry.value);
    return count;
}

}  // namespace

TEST_CASE("a scenario of FSDP needs at most eight keys") {
    config::Library library;
    CHECK(count_values(library.load_argument((root / "scenarios/llama-3-8b-fsdp.yaml").string())) <= 8);
}

TEST_CASE("shipped schemas equal the output of `syncline schema`", "[memory]") {
    CHECK(text_of(root / "scenarios/schema.json") == config::schema_of("scenario"));
    CHECK(text_of(root / "scenarios/published/schema.json") == config::schema_of("measured"));
    CHECK(text_of(root / "scenarios/studies/schema.json") == config::schema_of("study"));
    CHECK(text_of(root / "scenarios/ablations/schema.json") == config::schema_of("ablation"));
    CHECK(text_of(root / "scenarios/frameworks/schema.json") == config::schema_of("framework"));
    CHECK(text_of(root / "platforms/schema.json") == config::schema_of("platform"));
    CHECK(text_of(root / "platforms/devices/schema.json") == config::schema_of("device"));
    CHECK(text_of(root / "platforms/transports/schema.json") == config::schema_of("transport"));
    CHECK(text_of(root / "platforms/selections/schema.json") == config::schema_of("selection"));
    CHECK(text_of(root / "workloads/schema.json") == config::schema_of("workload"));
    CHECK(text_of(root / "topologies/schema.json") == config::schema_of("topology"));
}

TEST_CASE("descriptions of keys say what is required and what is the default", "[memory]") {
    const auto ends = [](const char* kind, const char* key, const char* end) {
        CAPTURE(kind, key);
        CHECK(config::description_of(kind, key).ends_with(end));
    };
    ends("scenario", "training.ranks", " Required.");
    ends("scenario", "training.iterations", " Default: `4`.");
    ends("scenario", "training.overlap", " Default: `wait-free`.");
    ends("scenario", "training.stragglers", " Default: `none`.");
    ends("scenario", "training.servers.local_reduction", " Default: `false`.");
    ends("scenario", "collective.bytes", " Required without `sweep`.");
    ends("device", "speed_beside_exchange", " Default: `1`.");
    ends("transport", "staging.rate", " Default: the device's `host_link`.");
    ends("topology", "hosts", " or else as many as needed.");
    CHECK_THROWS(config::description_of("scenario", "training.rank"));
}
