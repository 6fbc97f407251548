#include <random>

#include "sim/collective/algorithm.hpp"
#include "sim/collective/runs.hpp"
#include "tests/catch.hpp"

// Compares repetitions within programs, and the bytes of a part of a repetition, with step-by-step execution.

using namespace syncline;

namespace {

/// Returns peers and numbers of blocks of the step at which `walk` is.
std::vector<std::uint32_t> shape_of(const Walk& walk) {
    const Step& step = walk.step();
    std::vector<std::uint32_t> shape{step.reduce ? 1u : 0u, static_cast<std::uint32_t>(step.sends.size())};
    for (const std::vector<Message>& messages : {step.sends, step.receives}) {
        for (const Message& message : messages) {
            shape.insert(shape.end(), {message.peer, message.count});
            for (const Blocks& blocks : message.more) shape.push_back(blocks.count);
        }
    }
    return shape;
}

template <class Act>
void for_each_program(Act&& act) {
    for (const std::string& operation : operation_names()) {
        for (const std::string& name : algorithm_names(operation)) {
            for (const std::uint32_t ranks : {2u, 3u, 4u, 7u, 8u, 12u, 13u}) {
                for (const double segment : {0.0, 100.0}) {
                    AlgorithmSpec spec;
                    spec.operation = operation;
                    spec.name = name;
                    spec.segment_bytes = segment;
                    std::shared_ptr<const CollectiveAlgorithm> algorithm;
                    try {
                        algorithm = make_algorithm(spec, ranks);
                    } catch (const AlgorithmError&) {
                        continue;
                    }
                    for (const std::uint64_t bytes : {0u, 5u, 1200u * ranks, 1200u * ranks + 7u}) {
                        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
                            CAPTURE(operation, name, ranks, segment, bytes, rank);
                            act(algorithm->program(rank, ranks, bytes, 0));
                        }
                    }
                }
            }
        }
    }
}

}  // namespace

TEST_CASE("runs: each step is in one run, and the steps of a repeating run are alike", "[memory]") {
    std::size_t repeating = 0;
    for_each_program([&](const Program& program) {
        const std::vector<Run> runs = runs_of(program);
        Walk walk(program);
        std::uint32_t end = 0;
        std::vector<std::uint32_t> before;
        for (const Run& run : runs) {
            REQUIRE(run.first == end);
            REQUIRE(walk.number() == run.first);
            end = run.end;
            const std::vector<std::uint32_t> first = shape_of(walk);
            REQUIRE((!run.repeats || before != first));
            for (std::uint32_t step = 0; step < run.taken; ++step, walk.next()) {
                REQUIRE(!walk.done());
                if (run.repeats) REQUIRE(shape_of(walk) == first);
            }
            before = run.repeats ? first : std::vector<std::uint32_t>{};
            if (run.repeats) REQUIRE(run.taken >= least_repeats);
            repeating += run.repeats;
        }
        REQUIRE(walk.done());
        REQUIRE(end == program.steps.size());
    });
    CHECK(repeating > 100);
}

TEST_CASE("runs: a ring has two, its reduce-scatter and its allgather", "[memory]") {
    for (const std::uint32_t ranks : {4u, 5u, 16u, 100u}) {
        const auto ring = make_algorithm({.name = "ring", .overlay = {}}, ranks);
        for (const std::uint32_t rank : {0u, 1u, ranks - 1}) {
            const Program program = ring->program(rank, ranks, 1'000'003, 0);
            const std::vector<Run> runs = runs_of(program);
            REQUIRE(runs.size() == 2);
            for (const Run& run : runs) {
                CHECK(run.repeats);
                CHECK(run.taken == ranks - 1);
            }
        }
    }
    // Three ranks execute two steps in each direction: no repetition. The steps of recursive doubling have different
    // peers.
    CHECK_FALSE(runs_of(make_algorithm({.name = "ring", .overlay = {}}, 3)->program(0, 3, 99, 0)).front().repeats);
    const auto doubling = make_algorithm({.name = "recursive-doubling", .overlay = {}}, 64);
    for (const Run& run : runs_of(doubling->program(5, 64, 4096, 0))) CHECK_FALSE(run.repeats);
}

TEST_CASE("runs: bytes of repetitions are the sum of each, and skipping them equals executing them", "[memory]") {
    std::mt19937 random(7);
    for_each_program([&](const Program& program) {
        for (Walk walk(program); !walk.done();) {
            const Step& step = walk.step();
            const std::uint32_t left = walk.in_a_row();
            REQUIRE(left >= 1);
            const auto count = static_cast<std::uint32_t>(1 + random() % left);
            for (const Message& message : step.sends) {
                std::uint64_t sum = 0;
                for (std::uint32_t i = 0; i < count; ++i) {
                    const std::uint64_t bytes = message_bytes(program.partition, message, walk.repetition() + i);
                    REQUIRE(bytes <= largest_bytes(program.partition, message));
                    sum += bytes;
                }
                REQUIRE(bytes_of_repetitions(program.partition, message, walk.repetition(), count) == sum);
            }
            Walk skipped = walk;
            skipped.skip(count);
            for (std::uint32_t i = 0; i < count; ++i) walk.next();
            REQUIRE(skipped.number() == walk.number());
            REQUIRE(skipped.repetition() == walk.repetition());
        }
    });
}
