#include <string>

#include "sim/import/command_line.hpp"
#include "tests/catch.hpp"

using namespace syncline::config;

namespace {

/// Returns "name=value …" of all options in a text.
std::string options(const std::string& text) {
    Library library;
    std::string all;
    for (const Entry& entry : options_in(library.cite("launch.sh", text, "")).entries)
        all += (all.empty() ? "" : " ") + entry.key + "=" + entry.value.scalar;
    return all;
}

}  // namespace

TEST_CASE("options are found in commands, arrays, variables and comments of Slurm", "[memory]") {
    CHECK(options("python x.py --num-layers 4 --bf16 --lr=1e-4 \\\n  --hidden_size 8") ==
          "num-layers=4 bf16=true lr=1e-4 hidden-size=8");
    CHECK(options("ARGS=(\n  --a 1  # --b 2\n  --c 3\n)\nrun \"${ARGS[@]}\"") == "a=1 c=3");
    CHECK(options("ARGS=\"--a 1 --b two\"\nexport MORE='\n  --c 3\n'\nrun $ARGS $MORE --d 4") == "a=1 b=two c=3 d=4");
    CHECK(options("#SBATCH --nodes=16\n# --nodes=8\n#SBATCH --gpus-per-node 8") == "nodes=16 gpus-per-node=8");
    CHECK(options("--a 1 --a 2") == "a=2");
    CHECK(options("--path \"a file\" --x --y") == "path=a file x=true y=true");
}

TEST_CASE("variables that the text sets are put in", "[memory]") {
    CHECK(options("TP=8\nPP=$TP\n--a $TP --b ${PP} --c ${CP:-2} --d $UNKNOWN --e ${OTHER}") ==
          "a=8 b=8 c=2 d=$UNKNOWN e=${OTHER}");
    CHECK(options("NODES=16\nGPUS=\"8\"\nWORLD=$(($NODES * GPUS))\n--n $WORLD --m $((2*3*4))") == "n=128 m=24");
    CHECK(options("--n $((2+3)) --m $((99999999*99999999))") == "n=$((2+3)) m=$((99999999*99999999))");
}

TEST_CASE("texts that end early or grow are read to their end", "[memory]") {
    CHECK(options("").empty());
    CHECK(options("--a '1") == "a=1");
    CHECK(options("--a ${X") == "a=${X");
    CHECK(options("--a $((2") == "a=$((2");
    CHECK(options("--a \\") == "a=\\");
    CHECK(options("A=\"--x 1") == "x=1");
    std::string doubling = "A=aaaaaaaa\n";
    for (int i = 0; i < 60; ++i) doubling += "A=$A$A\n";
    CHECK(options(doubling + "--a $A").size() <= 2 + 4096);
}
