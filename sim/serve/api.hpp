#pragma once

#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "sim/serve/answers.hpp"
#include "sim/serve/classroom.hpp"
#include "sim/serve/simulator_process.hpp"

/// The answers of `/api/v1`, without HTTP: JSON in, status and text out. scenarios/live-page.md lists the requests.
/// Threads may call it at the same time.
namespace syncline::serve {

struct Reply {
    int status = 200;
    std::string text;
    const char* type = "application/json";
};

/// Returns {"error": {code, message, hint}}.
Reply refusal(int status, const std::string& code, const std::string& message, const std::string& hint = "");

/// The scenario that the command line names, beside the lessons.
struct NamedScenario {
    std::string file, name;
};

class Api {
public:
    Api(SimulatorProcess& simulations, Classroom& classroom, std::optional<NamedScenario> scenario,
        std::optional<int> lesson);

    using Parameters = std::multimap<std::string, std::string>;
    /// `path`: after "/api/v1".
    Reply get(const std::string& path, const Parameters& parameters);
    Reply post(const std::string& path, const std::string& body);
    Reply remove(const std::string& path);

private:
    Reply about() const;
    Reply lesson(const std::string& number, const Parameters& parameters);
    Reply predict(const Json& request);
    Reply run(const Json& request, const std::string& what);
    Reply grid(const Json& request);

    /// Returns the question of a request about a lesson or the scenario; a reply if it must not be asked.
    std::optional<Reply> asked(const Json& request, Question& question) const;
    Question about_lesson(const Classroom::Taught& taught) const;
    /// Simulates, or takes the answer that is known.
    Reply answered(const std::string& name, const Question& question);
    /// Does so for several at a time; returns one reply if it is that all were cancelled.
    std::vector<Reply> answered_together(const std::string& name, const std::vector<Question>& questions);

    SimulatorProcess& simulations_;
    Classroom& classroom_;
    const std::optional<NamedScenario> scenario_;
    const std::optional<int> lesson_;

    /// Answers that are kept, by their question; the latest first.
    struct Kept {
        std::string question;
        Reply reply;
    };
    void keep(const std::string& question, const Reply& reply);
    std::optional<Reply> kept(const std::string& question);
    void forget();
    std::mutex mutex_;
    std::list<Kept> kept_;
    std::unordered_map<std::string, std::list<Kept>::iterator> by_question_;
    std::size_t kept_bytes_ = 0;
};

}  // namespace syncline::serve
