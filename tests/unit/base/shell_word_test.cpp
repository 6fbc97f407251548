#include "sim/base/shell_word.hpp"
#include "tests/catch.hpp"

// Words of commands that people copy into a shell.

using syncline::shell_word;

TEST_CASE("a word for a shell is quoted only if it must be") {
    CHECK(shell_word("platform.fabric.bandwidth=2.5") == "platform.fabric.bandwidth=2.5");
    CHECK(shell_word("/a-b/c_d.yaml,1:2+3@4%") == "/a-b/c_d.yaml,1:2+3@4%");
    CHECK(shell_word("") == "''");
    CHECK(shell_word("a=2 GBps") == "'a=2 GBps'");
    CHECK(shell_word("$HOME;`x`\"*~") == "'$HOME;`x`\"*~'");
    CHECK(shell_word("µs") == "'µs'");
}

TEST_CASE("a quote in a word for a shell ends the quotes, stands alone, and begins them again") {
    CHECK(shell_word("it's") == "'it'\\''s'");
}
