#include "sim/cli/sheet.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "sim/base/interrupt.hpp"
#include "sim/base/regular_file.hpp"
#include "sim/cli/guard.hpp"
#include "sim/output/undated_pdf.hpp"
#include "sim/output/written_files.hpp"

namespace syncline::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_sheet = 64 << 20;

class TemporaryFolder {
public:
    TemporaryFolder() : path_((fs::temp_directory_path() / "syncline-XXXXXX").string()) {
        if (mkdtemp(path_.data()) == nullptr)
            throw OutputError(fmt::format("error: cannot make a folder {}: {}", path_, std::strerror(errno)));
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    std::string file(const char* name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

enum class Errors { shown, dropped };

/// Runs another program to its end. Returns whether it succeeded; nothing if there is no such program.
std::optional<bool> succeeded(std::vector<std::string> words, Errors errors) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (errors == Errors::dropped) posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    const int problem = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (problem == ENOENT) return {};
    if (problem != 0) throw OutputError(fmt::format("error: cannot start {}: {}", words[0], std::strerror(problem)));
    end_when_interrupted(child);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    end_when_interrupted(0);
    return status == 0;
}

void make_html(const std::string& title, const fs::path& folder, const std::string& from, const std::string& to) {
    // --self-contained has newer names, which Debian 12's pandoc does not know.
    const std::optional<bool> made = succeeded(
        {"pandoc", "--from=gfm", "--to=html5", "--standalone", "--self-contained", "--resource-path=" + folder.string(),
         "--metadata=pagetitle:" + title, "--metadata=lang:en", "--output=" + to, from},
        Errors::shown);
    if (!made)
        throw OutputError("error: pandoc is not installed\n  hint: install pandoc, or write Markdown: --out NAME.md");
    if (!*made) throw OutputError("error: pandoc cannot convert this handout");
}

void make_pdf(const std::string& profile, const std::string& from, const std::string& to) {
    for (const char* browser : {"chromium", "chromium-browser", "google-chrome"}) {
        std::vector<std::string> words{browser,
                                       "--headless",
                                       "--disable-gpu",
                                       "--no-first-run",
                                       "--no-pdf-header-footer",
                                       "--user-data-dir=" + profile,
                                       "--print-to-pdf=" + to,
                                       "file://" + from};
        if (geteuid() == 0) words.insert(words.begin() + 1, "--no-sandbox");  // without it root is refused
        const std::optional<bool> made = succeeded(std::move(words), Errors::dropped);
        if (!made) continue;
        if (!*made || !is_regular(to)) throw OutputError(fmt::format("error: {} cannot print this handout", browser));
        return;
    }
    throw OutputError(
        "error: Chromium, which prints PDF, is not installed\n"
        "  hint: install chromium, or write HTML and print that: --out NAME.html");
}

}  // namespace

void require_sheet_name(const std::string& path) {
    const fs::path ending = fs::path(path).extension();
    if (ending != ".md" && ending != ".html" && ending != ".pdf")
        throw UsageError(fmt::format("--out: '{}' must end with .md, .html or .pdf", path));
}

void write_sheet(const std::string& markdown, const std::string& title, const fs::path& folder,
                 const std::string& path) {
    const fs::path ending = fs::path(path).extension();
    if (ending == ".md") return write_file(path, markdown);
    require_writable(path);
    const HeldInterrupts held;
    const TemporaryFolder temporary;
    const std::string source = temporary.file("sheet.md"), page = temporary.file("sheet.html"),
                      print = temporary.file("sheet.pdf");
    std::string made = page;
    try {
        write_file(source, markdown);
        make_html(title, fs::absolute(folder), source, page);
        if (ending == ".pdf" && !held.interrupted()) {
            make_pdf(temporary.file("profile"), page, print);
            made = print;
        }
    } catch (const OutputError&) {
        if (!held.interrupted()) throw;
    }
    if (held.interrupted()) throw Interrupted("no handout was written");
    FileContent content = read_regular(made, largest_sheet);
    if (content.problem != FileContent::Problem::none) throw OutputError(fmt::format("error: cannot read {}", made));
    write_file(path, ending == ".pdf" ? undated_pdf(std::move(content.text)) : content.text);
}

}  // namespace syncline::cli
