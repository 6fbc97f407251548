#include <cstdlib>
#include <map>
#include <string>

#include "sim/base/diagnostics.hpp"
#include "sim/store/shard.hpp"
#include "tests/catch.hpp"

using namespace syncline;
using namespace syncline::batch;

namespace {

/// Sets Slurm's environment variables during its lifetime.
struct Slurm {
    explicit Slurm(std::map<std::string, std::string> all) : variables(std::move(all)) {
        for (const auto& [name, text] : variables) setenv(("SLURM_ARRAY_TASK_" + name).c_str(), text.c_str(), 1);
    }
    ~Slurm() {
        for (const auto& [name, text] : variables) unsetenv(("SLURM_ARRAY_TASK_" + name).c_str());
    }
    std::map<std::string, std::string> variables;
};

}  // namespace

TEST_CASE("shards: each point is in exactly one shard, and their sizes differ by at most one", "[memory]") {
    for (std::int64_t count = 1; count <= 9; ++count) {
        std::map<std::int64_t, int> sizes;
        for (std::int64_t point = 1; point <= 40; ++point) {
            int owners = 0;
            for (std::int64_t index = 1; index <= count; ++index) {
                if (!Shard{index, count}.has(point)) continue;
                ++owners;
                ++sizes[index];
            }
            CHECK(owners == 1);
        }
        for (const auto& [index, size] : sizes) CHECK((size == 40 / count || size == 40 / count + 1));
    }
    CHECK(Shard{}.whole());
    CHECK_FALSE(Shard{1, 2}.whole());
}

TEST_CASE("shards: they are read as 2/4", "[memory]") {
    const auto shard = parse_shard("2/4");
    REQUIRE(shard);
    CHECK(shard->index == 2);
    CHECK(shard->count == 4);
    CHECK(shard->directory() == "shard-2-of-4");
    CHECK(parse_shard("1/1"));
    for (const char* wrong : {"", "1", "/", "1/", "/4", "0/4", "5/4", "-1/4", "1/0", "1/-4", "1.0/4", "1/4/4", " 1/4",
                              "1/4 ", "a/b", "99999999999999999999/4"})
        CHECK_FALSE(parse_shard(wrong));
}

TEST_CASE("shards: a Slurm array's tasks are the shards in order, for any range", "[memory]") {
    CHECK_FALSE(slurm_shard());
    for (const int first : {0, 1, 7})
        for (const int step : {1, 3}) {
            for (int task = 0; task < 4; ++task) {
                const Slurm slurm({{"ID", std::to_string(first + task * step)},
                                   {"MIN", std::to_string(first)},
                                   {"STEP", std::to_string(step)},
                                   {"COUNT", "4"}});
                const auto shard = slurm_shard();
                REQUIRE(shard);
                CHECK(shard->index == task + 1);
                CHECK(shard->count == 4);
            }
        }
}

TEST_CASE("shards: a list of tasks is refused, since places in the list are not known", "[memory]") {
    const Slurm gap({{"ID", "9"}, {"MIN", "0"}, {"STEP", "1"}, {"COUNT", "3"}});
    CHECK_THROWS_AS(slurm_shard(), ConfigError);
    const Slurm words({{"ID", "first"}, {"MIN", "0"}, {"STEP", "1"}, {"COUNT", "3"}});
    CHECK_THROWS_AS(slurm_shard(), ConfigError);
}
