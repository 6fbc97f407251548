"""Moving pictures of `syncline serve`: a frame depends on the time alone, and its words agree with the lesson's pencil."""
LESSONS = range(1, 21)

# Draws every picture of the page's run at a few events, from the start to the end and back, and returns what is wrong.
DRAW = """
const run = view.film.run, times = motion_of(run).events();
const some = [0, 0.2, 0.45, 0.7, 0.999, 1].map((part) => times[Math.floor(part * (times.length - 1))]);
const wrong = [], names = [];
const frame = (picture, time) => {
    const said = picture.stage.draw(time);
    return `${said} ${picture.stage.svg.innerHTML}`.replace(/(waits|past)-\\d+/g, "");
};
for (const picture of pictures(run, arguments[0])) {
    names.push(picture.name);
    const there = some.map((time) => frame(picture, time));
    const back = [...some].reverse().map((time) => frame(picture, time)).reverse();
    there.forEach((one, i) => {
        if (one !== back[i]) wrong.push(`${picture.name} at ${some[i]} s depends on what was drawn before`);
        const odd = /NaN|undefined|Infinity|null|\\[object/.exec(one);
        if (odd) wrong.push(`${picture.name} at ${some[i]} s: ${one.slice(Math.max(0, odd.index - 60), odd.index + 60)}`);
    });
    if (there[0] === there[3]) wrong.push(`${picture.name} does not move`);
    if (!picture.stage.svg.getAttribute("aria-label")) wrong.push(`${picture.name} has no name`);
}
return [names, wrong];
"""
SAY = """
const picture = pictures(view.film.run, 700).find(({name}) => name === arguments[0]);
return picture.stage.draw(arguments[1]);
"""


def open_answered(page, number):
    page.open(f"/lesson/{number}")
    page.skip()
    assert page.state() == "ready", f"lesson {number}: {page.text()[:300]}"


def every_picture(page, _):
    """All pictures of all lessons, narrow or wide."""
    for number in LESSONS:
        open_answered(page, number)
        width = 340 if number % 2 else 700
        names, wrong = page.driver.execute_script(DRAW, width)
        assert names, f"lesson {number} has no picture"
        assert not wrong, f"lesson {number}, {width} px: " + "; ".join(wrong[:3])
        page.check_logs(f"pictures of lesson {number}")
        page.close()


def pencil(page, _):
    """What pictures say: c = 800 ms, S = 100 MB, B = 1 GB/s, 16 workers; and the first moments of a pipeline."""
    def says(number, picture, seconds, *words):
        said = page.driver.execute_script(SAY, picture, seconds).replace("\u00a0", " ")
        for word in words:
            assert word in said, f"lesson {number} at {seconds} s: '{word}' is not in '{said}'"

    open_answered(page, 1)
    # 16 workers share 1 GB/s: half of 100 MB has come through after half of 16 · 100 ms.
    says(1, "fabric", 0.4, "Computing.")
    says(1, "fabric", 0.8 + 0.8, "Push.", "62.5 MB/s", "50 MB of its 100 MB", "16 flows share it", "server 0, is 100 % busy")
    says(1, "fabric", 2.4 + 0.4, "Pull.", "25 MB of its 100 MB")
    page.close()
    open_answered(page, 2)
    # Blocks of 100 MB / 16 take 6.25 ms; 15 steps add, 15 hand round: 30/16 · 100 MB are sent.
    step = 0.1 / 16
    says(2, "ring", 0.8 + 0.5 * step, "Step 1, adding.", "block 0 with 1 contribution;", "All 16 links carry 6.25 MB")
    says(2, "ring", 0.8 + 3.5 * step, "Step 4, adding.", "block 13 with 4 contributions")
    says(2, "ring", 0.8 + 15.5 * step, "Step 16, handing round.", "sum Σ of block 1 ")
    says(2, "ring", 0.8 + 30 * step, "Done after 987.5 ms.", "30 blocks, 187.5 MB")
    page.close()
    open_answered(page, 9)
    # Only the first stage has data; a layer takes 40 ms / 12 microbatches forward, a virtual stage is a layer.
    says(9, "pipeline", 0, "1 of 4 stages computes. 0: forward 1", "3: waits")
    says(9, "pipeline", 0.0034, "2 of 4 stages compute. 0: forward 2", "1: forward 1")
    page.close()
