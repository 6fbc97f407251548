// The live page: its state, what is shown of it, and what happens when a knob is turned.

theme();

const own_names =
    new Set(["lesson", "variant", "t", "curve", "at", "passes", "token"]);  // the other names of the address are knobs
let about = null;                                                           // what the server offers
let first = null;    // the lesson that the address without settings opens; null: the scenario, undefined: the list
let lesson = null;   // the lesson that is open; null: the scenario
let subject = null;  // what is simulated: its variants and knobs
let setting = null;  // {variant, set} as the knobs say
let shown = null;    // the run whose numbers are shown
let settled = null;  // its setting
let kept = null;     // a run to compare with
let view = null;     // the elements of the open page
const runs_of = latest("runs"), grids_of = latest("grids");
const known_runs = new Map();

const state = (name) => {
    document.body.dataset.state = name;
};
const key_of = (wanted) => JSON.stringify([lesson?.id ?? 0, wanted.variant, Object.entries(wanted.set).sort()]);
const calm = window.matchMedia("(prefers-reduced-motion: reduce)");

/// Keeps the answers of the last settings, so that turning back is immediate.
function keep_run(key, run) {
    known_runs.set(key, run);
    if (known_runs.size > 24) known_runs.delete(known_runs.keys().next().value);
}

/// Returns what a request for this page is about.
const request = (wanted) => ({...(lesson ? {lesson: lesson.id} : {}), variant: wanted.variant, set: wanted.set});

async function start() {
    state("busy");
    if (token === null)
        return fatal(new Refused(401, {
            error: {
                code: "token",
                message: "this tab does not have the token of the server",
                hint: "open the whole address that `syncline serve` printed, in this tab, then the link"
            }
        }));
    try {
        about = await api("about");
    } catch (refused) {
        return fatal(refused);
    }
    document.getElementById("footer").textContent =
        `Syncline ${about.version}. Everything on this page comes from this machine. Charts: Chart.js ${
            Chart.version}, MIT licence.`;
    const known = (number) => about.lessons.some(({id}) => id === number);
    const named = Number(/^\/lesson\/(\d+)$/.exec(location.pathname)?.[1]),
          {lesson: wanted, scenario} = about.start ?? {};
    about.start = {lesson: wanted, scenario};
    first = known(named) ? named : wanted ?? (scenario ? null : undefined);
    const number = address.has("lesson") ? Number(address.get("lesson")) : first;
    if (known(number))
        await open(number, true);
    else if (scenario)
        await open(null, true);
    else
        home();
}
start();
