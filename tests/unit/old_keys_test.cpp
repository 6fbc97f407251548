#include "sim/config/old_keys.hpp"

#include "sim/config/files.hpp"
#include "sim/config/override.hpp"
#include "sim/config/yaml_text.hpp"
#include "tests/catch.hpp"

// `reduction.on` of earlier versions, and what writers of YAML 1.1 make of it, is read as `reduction.where`.

using namespace syncline;
using namespace syncline::config;

namespace {

std::string read(const std::string& text) {
    Library library;
    return flow_text(library.parse("old.yaml", text, "."));
}

}  // namespace

TEST_CASE("keys of earlier versions have their names of today, wherever they are written") {
    CHECK(read("reduction: {on: host, rate: 5 GBps}") == "{reduction: {where: host, rate: 5 GBps}}");
    CHECK(read("reduction: {\"on\": host}") == "{reduction: {where: host}}");
    CHECK(read("reduction:\n  true: device\n") == "{reduction: {where: device}}");
    CHECK(read("variants: {a: {platform: {transport: {reduction: {on: host}}}}}") ==
          "{variants: {a: {platform: {transport: {reduction: {where: host}}}}}}");
    CHECK(read("[{reduction: {on: host}}]") == "[{reduction: {where: host}}]");
    // Not where it means something else, or where both are given, which is an error then.
    CHECK(read("on: host") == "{on: host}");
    CHECK(read("reduction: {where: host, on: device}") == "{reduction: {where: host, on: device}}");
}

TEST_CASE("an old key in a path, or in what is set, replaces the new one") {
    Library library;
    Node transport = library.parse("t.yaml", "platform: {transport: {reduction: {where: host}}}", ".");
    merge(transport, parse_assignment(library, "platform.transport.reduction.on=device"));
    CHECK(flow_text(transport) == "{platform: {transport: {reduction: {where: device}}}}");
}
