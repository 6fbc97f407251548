// What a reader takes along: the scenario, the command, the link, the predictions, the page on paper.

/// Copies a text, and says so on the button.
async function copy(button, text) {
    const before = button.textContent;
    try {
        await navigator.clipboard.writeText(text);
        button.textContent = "Copied";
    } catch {
        button.textContent = "Not allowed: select and copy it";
    }
    setTimeout(() => {
        button.textContent = before;
    }, 1600);
}

function download_text(name, text, type) {
    const url = URL.createObjectURL(new Blob([text], {type}));
    download(name, url);
    setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/// Draws the card into `parent`. Returns {show(run)}.
function take_along(parent, {with_predictions}) {
    const yaml = make(
        "textarea",
        {id: "yaml", readonly: "", rows: 12, spellcheck: "false", "aria-label": "This setting as a scenario"});
    const command = make("code", {id: "command"});
    const action = (text, act, more = {}) =>
        make("button", {type: "button", ...more, onclick: (event) => act(event.currentTarget)}, text);
    const problem = make("p", {class: "note", role: "status"});
    parent.append(
        make("h2", {}, "Take it along"),
        make(
            "div", {class: "tools"}, action("Copy the link", (button) => copy(button, location.href), {
                id: "share",
                title:
                    "The address keeps these settings, and not the token: it opens in a `syncline serve` of this version"
            }),
            action("Print", () => print()),
            ...(with_predictions ?
                    [action(
                        "Save my predictions",
                        async () => {
                            try {
                                download_text(
                                    "predictions.csv", await api(`predictions.csv?student=${student}`), "text/csv");
                                problem.textContent = "";
                            } catch (refused) {
                                problem.textContent = sentence_of(refused.message);
                            }
                        },
                        {id: "predictions", title: "A table to hand in: lesson, row, prediction, answer, error"})] :
                    [])),
        problem,
        make(
            "p", {class: "note"}, "The same in a terminal: ", command, " ",
            action("Copy", (button) => copy(button, command.textContent), {class: "small"})),
        make(
            "details", {class: "scenario"}, make("summary", {}, "This setting as a scenario (YAML)"),
            make(
                "div", {class: "tools"}, action("Copy", (button) => copy(button, yaml.value)),
                action("Save", () => download_text("scenario.yaml", yaml.value, "text/yaml"))),
            yaml));
    return {
        show(run) {
            yaml.value = run.yaml;
            command.textContent = run.command;
        }
    };
}

/// Returns the settings of a command in a lesson, {variant, set}; null if it is none that the knobs can make.
function settings_in(text, knobs) {
    const command = text.replaceAll("\\\n", " ").split("\n").find((line) => /syncline (run|explain) /.test(line));
    if (!command) return null;
    const plain = (word) => word.replace(/'([^']*)'|"([^"]*)"/g, (_, one, other) => one ?? other);
    const of = (option) => [...command.matchAll(new RegExp(`--${option}[ =]((?:'[^']*'|"[^"]*"|[^\\s'"])+)`, "g"))].map(
        ([, word]) => plain(word));
    const set =
        Object.fromEntries(of("set").map((one) => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)]));
    const [variant] = of("variant");
    // A choice has no other values than its own.
    const known = Object.entries(set).every(
        ([key, value]) =>
            knobs.some((knob) => knob.key === key && (knob.kind === "number" || knob.values.includes(value))));
    return known && (Object.keys(set).length > 0 || variant) ? {variant, set} : null;
}
