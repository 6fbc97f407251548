#pragma once

#include <string_view>

/// Files as part of the program. The assembler embeds them unchanged; string literals are no alternative, since
/// compilers need only support 65536 characters. CMake defines the paths and recompiles a source file when the files
/// that it embeds change. `SYNCLINE_EMBED(name, "path")`, outside of functions, defines a function `name()` that
/// returns the content.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define SYNCLINE_EMBED(name, file)                                                \
    asm(".section .rodata\n"                                                      \
        ".global syncline_asset_" #name                                           \
        "\n"                                                                      \
        "syncline_asset_" #name ":\n.incbin \"" file                              \
        "\"\n"                                                                    \
        ".global syncline_asset_" #name                                           \
        "_end\n"                                                                  \
        "syncline_asset_" #name "_end:\n.byte 0\n.previous\n");                   \
    extern "C" const char syncline_asset_##name[], syncline_asset_##name##_end[]; \
    static std::string_view name() {                                              \
        return {syncline_asset_##name, syncline_asset_##name##_end};              \
    }
// NOLINTEND(bugprone-macro-parentheses)
