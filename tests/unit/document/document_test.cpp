#include "sim/document/document.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "sim/base/utf8.hpp"
#include "tests/catch.hpp"

using namespace syncline;
using namespace syncline::config;
namespace fs = std::filesystem;

namespace {

/// A temporary directory, which is the working directory during its lifetime.
class Scratch {
public:
    Scratch() : before_(fs::current_path()) {
        std::string name = (fs::temp_directory_path() / "syncline-XXXXXX").string();
        REQUIRE(mkdtemp(name.data()));
        directory_ = name;
        fs::current_path(directory_);
    }
    ~Scratch() {
        fs::current_path(before_);
        fs::remove_all(directory_);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    static void write(const fs::path& path, const std::string& text) {
        if (path.has_parent_path()) fs::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << text;
    }

private:
    fs::path before_, directory_;
};

template <class Action>
std::vector<Diagnostic> errors_of(const Action& action) {
    try {
        action();
    } catch (const ConfigError& error) {
        return error.diagnostics();
    }
    return {};
}

std::vector<Diagnostic> errors_in(const std::string& text) {
    return errors_of([&] { Library().parse("test.yaml", text, "."); });
}

/// Returns `line:column: message` of the only error in `text`.
std::string error_in(const std::string& text) {
    const auto errors = errors_in(text);
    INFO(text);
    REQUIRE(errors.size() == 1);
    return fmt::format("{}:{}: {}", errors[0].where.line, errors[0].where.column, errors[0].message);
}

/// Returns a document on one line: scalars are `text@line:column`, mappings `{key@line:column: value}`.
std::string outline(const Node& node) {
    const std::string at = fmt::format("@{}:{}", node.mark.line, node.mark.column);
    std::string text;
    switch (node.kind) {
        case Node::Kind::null:
            return "~" + at;
        case Node::Kind::scalar:
            return node.scalar + at;
        case Node::Kind::sequence:
            for (const Node& item : node.items) text += (text.empty() ? "" : ", ") + outline(item);
            return "[" + text + "]" + at;
        default:
            for (const Entry& entry : node.entries)
                text += fmt::format("{}{}@{}:{}: {}", text.empty() ? "" : ", ", entry.key, entry.mark.line,
                                    entry.mark.column, outline(entry.value));
            return "{" + text + "}" + at;
    }
}

std::string outline(const std::string& text) {
    Library library;
    return outline(library.parse("test.yaml", text, "."));
}

}  // namespace

TEST_CASE("every value knows its position", "[memory]") {
    CHECK(outline("a: 1\nb:\n  c: [x, {d: y}]\n") ==
          "{a@1:1: 1@1:4, b@2:1: {c@3:3: [x@3:7, {d@3:11: y@3:14}@3:10]@3:6}@3:3}@1:1");
    CHECK(outline("- a\n- b\n") == "[a@1:3, b@2:3]@1:1");
}

TEST_CASE("a missing value is reported at its key", "[memory]") {
    CHECK(outline("a:\nb: ~\nc: null\n") == "{a@1:1: ~@1:1, b@2:1: ~@2:1, c@3:1: ~@3:1}@1:1");
    CHECK(outline("").starts_with("~"));
    CHECK(outline("# nothing\n").starts_with("~"));
}

TEST_CASE("a scalar knows whether it was quoted", "[memory]") {
    Library library;
    const Node node = library.parse("t", "[3, '3', \"3\", !!str 3, !!int 3]", ".");
    CHECK_FALSE(node.items[0].quoted);
    CHECK(node.items[1].quoted);
    CHECK(node.items[2].quoted);
    CHECK(node.items[3].quoted);
    CHECK_FALSE(node.items[4].quoted);
}

TEST_CASE("a mark leads to its line", "[memory]") {
    Library library;
    const Node node = library.parse("t.yaml", "a: 1\r\nb: \t2\r\n", ".");
    const Location where = locate(node.entries[1].value.mark);
    CHECK(where.file == "t.yaml");
    CHECK(where.line == 2);
    CHECK(where.source_line == "b: \t2");
    CHECK(locate({node.mark.source, 9, 1}).source_line.empty());
}

TEST_CASE("columns count characters", "[memory]") {
    Library library;
    const Node node = library.parse("t.yaml", "é: [ü, ö]\n日本: x\n", ".");
    CHECK(locate(node.entries[0].value.items[1].mark).column == 8);
    CHECK(locate(node.entries[1].value.mark).column == 5);
}

TEST_CASE("a duplicate key is an error", "[memory]") {
    const auto errors = errors_in("a: 1\nb: {c: 1, c: 2}\na: 2\n");
    REQUIRE(errors.size() == 2);
    CHECK(errors[0].message == "duplicate key 'c'");
    CHECK(errors[1].message == "duplicate key 'a'");
    CHECK(errors[1].where.line == 3);
    CHECK(errors[1].hint == "it is first given in line 1");
}

TEST_CASE("YAML features that scenarios do not need are refused", "[memory]") {
    CHECK(error_in("a: 1\n---\nb: 2\n") == "2:1: a second document begins here");
    CHECK(error_in("a: 1\n...\nb: 2\n") == "3:1: a second document begins here");
    CHECK(error_in("a: &x 1\n") == "1:4: anchors are not supported");
    CHECK(error_in("a: &x [1]\n") == "1:4: anchors are not supported");
    CHECK(error_in("<<: {a: 1}\n") == "1:1: merge keys are not supported");
    CHECK(error_in("a: *x\n") == "1:4: aliases are not supported");
    CHECK(error_in("a: !size 3\n") == "1:4: unknown tag '!size'");
    CHECK(error_in("? [a]\n: 1\n") == "1:3: a key must be a plain word");
    CHECK(error_in("~: 1\n") == "1:1: a key must be a plain word");
    CHECK(errors_in("a: &x 1\nb: *x\n").size() == 2);
}

TEST_CASE("errors in YAML are described in plain words", "[memory]") {
    CHECK(error_in("a: b: c\n") == "1:5: unexpected ':'");
    CHECK(error_in("a: [1, [2, 3]\nb: 2\n") == "1:4: this '[' is not closed");
    CHECK(error_in("a: {x: 1\nb: 2\n") == "1:4: this '{' is not closed");
    CHECK(error_in("[a\n") == "1:1: this '[' is not closed");
    CHECK(error_in("a: ]\n") == "1:4: this bracket closes nothing");
    CHECK(error_in("a: 'x\nb: 1\n") == "2:5: a quote is not closed");
    CHECK(error_in("a: \"x\n") == "1:6: a quote is not closed");
    CHECK(error_in("a:\n\tb: 1\n") == "2:3: a tab in the indentation");
    CHECK(error_in("a: @x\n") == "1:4: no value can begin with this character");
    CHECK(error_in("a: 1\n- b\n") == "2:1: this does not belong to the mapping above");
}

TEST_CASE("a value that is not text is refused", "[memory]") {
    CHECK(error_in("a: \xff\n") == "1:4: this byte is not UTF-8 text");
    CHECK(error_in(std::string("a: 1\nb: \0\n", 10)) == "2:4: this is control character U+0000");
    CHECK(error_in("a: \x1b[31m\n") == "1:4: this is control character U+001B");
}

TEST_CASE("nesting is bounded", "[memory]") {
    const auto nested = [](int levels) {
        std::string text;
        for (int i = 0; i < levels; ++i) text += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
        return text;
    };
    CHECK(errors_in(nested(64)).empty());
    CHECK(error_in(nested(65)) == "65:65: this is nested too deeply");
    CHECK(errors_in(std::string(64, '[') + std::string(64, ']')).empty());
    CHECK(error_in(std::string(65, '[') + std::string(65, ']')) == "1:65: this is nested too deeply");
}

TEST_CASE("texts made to exhaust the parser are refused quickly") {
    const std::size_t size = 2'000'000;
    const auto repeated = [&](const std::string& part) {
        std::string text;
        while (text.size() < size) text += part;
        return text;
    };
    std::string stairs;
    for (std::size_t level = 0; stairs.size() < size; ++level) stairs += std::string(level, ' ') + "a:\n";
    for (const std::string& text : {repeated("["), repeated("{"), repeated("[],"), repeated("{a: "), repeated("- "),
                                    repeated("? "), repeated("&a "), repeated("!"), repeated(": "), repeated("]"),
                                    repeated("---\n"), repeated("a,\n"), repeated("*a "), stairs}) {
        const auto start = std::chrono::steady_clock::now();
        INFO(text.substr(0, 20));
        CHECK_FALSE(errors_in(text).empty());
        // The limit is ten times the time without optimisation, so that only quadratic growth fails.
        CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
    }
}

TEST_CASE("any text is a document or gives errors with positions in it", "[memory]") {
    const std::string alphabet = "ab:-,[]{}&*!|>'\"%@`#?~ \n\n\t\\\r0é<";
    std::mt19937 random(1);
    for (int i = 0; i < 3000; ++i) {
        std::string text;
        for (auto length = random() % 60; length > 0; --length) text += alphabet[random() % alphabet.size()];
        const auto lines = static_cast<int>(std::count(text.begin(), text.end(), '\n')) + 1;
        for (const Diagnostic& error : errors_in(text)) {
            INFO(text);
            CHECK_FALSE(error.message.empty());
            CHECK(error.where.line >= 1);
            CHECK(error.where.line <= lines);
            CHECK(error.where.column >= 1);
            CHECK(error.where.column <= static_cast<int>(count_characters(error.where.source_line)) + 1);
        }
    }
}

TEST_CASE("a file on the command line that cannot be read is named", "[memory]") {
    const Scratch scratch;
    Scratch::write("vgg-16.yaml", "a: 1\n");
    Scratch::write("dir/x.yaml", "a: 1\n");
    REQUIRE(mkfifo("pipe", 0600) == 0);
    const auto error_of = [](const std::string& path) {
        const auto errors = errors_of([&] { Library().load_argument(path); });
        REQUIRE(errors.size() == 1);
        CHECK(errors[0].where.file == path);
        CHECK(errors[0].where.line == 1);
        CHECK(errors[0].where.column == 1);
        CHECK(errors[0].where.source_line == path);
        return errors[0];
    };
    CHECK(error_of("vg-16.yaml").message == "'vg-16.yaml' does not exist");
    CHECK(error_of("vg-16.yaml").hint == "did you mean 'vgg-16.yaml'?");
    CHECK(error_of("dir/y.yaml").hint == "did you mean 'dir/x.yaml'?");
    CHECK(error_of("nowhere/y.yaml").message == "'nowhere/y.yaml' does not exist");
    CHECK(error_of("dir").message == "'dir' is a directory");
    CHECK(error_of("pipe").message == "'pipe' is not a regular file");
    CHECK(error_of("/dev/zero").message == "'/dev/zero' is not a regular file");
    error_of("");
    error_of(std::string(10'000, 'x'));
    Scratch::write("large.yaml", std::string(9 << 20, ' '));
    CHECK(error_of("large.yaml").message == "'large.yaml' is too large");
    Scratch::write("secret.yaml", "a: 1\n");
    fs::permissions("secret.yaml", fs::perms::none);
    const bool readable = std::ifstream("secret.yaml").good();  // the superuser can read everything
    if (!readable) CHECK(error_of("secret.yaml").message == "'secret.yaml' cannot be read: Permission denied");
}

TEST_CASE("a text that is named by mistake is not repeated", "[memory]") {
    const Scratch scratch;
    for (const std::string& text : {std::string("root:x:secret\ndaemon:x:secret\n"), std::string("secret\n\nsecret\n"),
                                    "secret" + std::string(1000, '.'), "'secret" + std::string(1000, '.') + "'",
                                    std::string("|\n secret\n secret\n")}) {
        Scratch::write("shadow", text);
        Library library;
        Node name = library.argument("shadow");
        for (const auto& errors : {errors_of([&] { Library().load_argument("shadow"); }),
                                   errors_of([&] { library.expand(name, {"platform"}); })}) {
            REQUIRE(errors.size() == 1);
            CHECK(errors[0].message == "'shadow' holds neither keys nor the name of a file");
            CHECK(errors[0].where.source_line == "shadow");
            CHECK_FALSE(errors[0].hint.empty());
        }
    }
}

TEST_CASE("an empty file is an error", "[memory]") {
    const Scratch scratch;
    for (const char* text : {"", "\n", "# only a comment\n", "---\n"}) {
        Scratch::write("empty.yaml", text);
        const auto errors = errors_of([] { Library().load_argument("empty.yaml"); });
        REQUIRE(errors.size() == 1);
        CHECK(errors[0].message == "this file is empty");
    }
}

TEST_CASE("a byte order mark and Windows line ends are accepted", "[memory]") {
    const Scratch scratch;
    Scratch::write("bom.yaml",
                   "\xef\xbb\xbf"
                   "a: 1\r\nb: 2\r\n");
    Library library;
    CHECK(outline(library.load_argument("bom.yaml")) == "{a@1:1: 1@1:4, b@2:1: 2@2:4}@1:1");
}

TEST_CASE("a reference is relative to its own file", "[memory]") {
    const Scratch scratch;
    Scratch::write("scenarios/s.yaml", "platform: ../platforms/p.yaml\n");
    Scratch::write("platforms/p.yaml", "device: devices/d.yaml\n");
    Scratch::write("platforms/devices/d.yaml", "flops: 1\n");
    Library library;
    Node node = library.load_argument("scenarios/s.yaml");
    Node& platform = *node.find("platform");
    library.expand(platform);
    CHECK(platform.mark.source->name == "platforms/p.yaml");
    library.expand(*platform.find("device"));
    const Node& flops = *platform.find("device")->find("flops");
    CHECK(locate(flops.mark).file == "platforms/devices/d.yaml");
    library.expand(platform);  // it is a mapping by now
    CHECK(platform.kind == Node::Kind::mapping);
}

TEST_CASE("a key may refer to a file by its name", "[memory]") {
    const Scratch scratch;
    Scratch::write("s.yaml", "platform: a.yaml\n");
    Scratch::write("a.yaml", "dir/b.yaml\n");
    Scratch::write("dir/b.yaml", "nodes: 2\n");
    Library library;
    Node node = library.load_argument("s.yaml");
    library.expand(*node.find("platform"));
    CHECK(node.find("platform")->find("nodes")->scalar == "2");
}

TEST_CASE("an assignment's file is relative to the working directory", "[memory]") {
    const Scratch scratch;
    Scratch::write("p.yaml", "nodes: 2\n");
    Library library;
    Node node = library.parse("--set", "platform=p.yaml", "", 9);
    CHECK(outline(node) == "p.yaml@1:10");
    library.expand(node);
    CHECK(locate(node.mark).file == "p.yaml");
}

TEST_CASE("a reference that cannot be read is reported at its place", "[memory]") {
    const Scratch scratch;
    Scratch::write("scenarios/s.yaml", "a: 1\nplatform: ../p100.yml\n");
    Scratch::write("p100.yaml", "nodes: 2\n");
    Library library;
    Node node = library.load_argument("scenarios/s.yaml");
    const auto errors = errors_of([&] { library.expand(*node.find("platform")); });
    REQUIRE(errors.size() == 1);
    CHECK(errors[0].where.file == "scenarios/s.yaml");
    CHECK(errors[0].where.line == 2);
    CHECK(errors[0].where.column == 11);
    CHECK(errors[0].message == "'p100.yml' does not exist");
    CHECK(errors[0].hint == "did you mean 'p100.yaml'?");
}

TEST_CASE("an error in a referenced file is reported in that file", "[memory]") {
    const Scratch scratch;
    Scratch::write("s.yaml", "platform: p.yaml\n");
    Scratch::write("p.yaml", "nodes: 2\nnodes: 3\n");
    Library library;
    Node node = library.load_argument("s.yaml");
    const auto errors = errors_of([&] { library.expand(*node.find("platform")); });
    REQUIRE(errors.size() == 1);
    CHECK(errors[0].where.file == "p.yaml");
    CHECK(errors[0].where.line == 2);
}

TEST_CASE("circular references are errors", "[memory]") {
    const Scratch scratch;
    Scratch::write("a.yaml", "b.yaml\n");
    Scratch::write("b.yaml", "x/../a.yaml\n");
    fs::create_directory("x");
    Scratch::write("s.yaml", "platform: a.yaml\n");
    Library library;
    Node node = library.load_argument("s.yaml");
    const auto errors = errors_of([&] { library.expand(*node.find("platform")); });
    REQUIRE(errors.size() == 1);
    CHECK(errors[0].message == "reference cycle: a.yaml -> b.yaml -> a.yaml");
    CHECK(errors[0].where.file == "b.yaml");
}

TEST_CASE("circular references through a mapping are errors", "[memory]") {
    const Scratch scratch;
    Scratch::write("p.yaml", "device: d.yaml\n");
    Scratch::write("d.yaml", "device: link.yaml\n");
    fs::create_symlink("p.yaml", "link.yaml");
    Library library;
    Node node = library.load_argument("p.yaml");
    Node& device = *node.find("device");
    library.expand(device);
    const auto errors = errors_of([&] { library.expand(*device.find("device")); });
    REQUIRE(errors.size() == 1);
    CHECK(errors[0].message == "reference cycle: p.yaml -> d.yaml -> link.yaml");
}

TEST_CASE("two references to one file are not circular", "[memory]") {
    const Scratch scratch;
    Scratch::write("s.yaml", "a: p.yaml\nb: p.yaml\n");
    Scratch::write("p.yaml", "nodes: 2\n");
    Library library;
    Node node = library.load_argument("s.yaml");
    library.expand(*node.find("a"));
    library.expand(*node.find("b"));
    CHECK(node.find("b")->find("nodes")->scalar == "2");
}
