"""Runs the checks of the page in one Chromium."""
import sys
import time
import traceback

import live_keyboard
import live_looks
import live_page
import live_pictures
from page_parts import Page, browser
from server import Server

CHECKS = {"live": [*live_page.ALL, *live_keyboard.ALL, *live_looks.ALL, live_pictures.pencil],
          "lessons": [live_looks.every_lesson, live_pictures.every_picture]}


def main(what, program, names):
    driver = browser()
    if driver is None:
        print("skipped: chromium or chromedriver is not installed")
        sys.exit(77)
    failed = []
    try:
        with Server(program, "2") as server:
            for check in CHECKS[what]:
                if names and check.__name__ not in names:
                    continue
                begin, page = time.monotonic(), Page(driver, server)
                try:
                    check(page, program)
                except Exception as error:  # any fault of one check leaves the others
                    failed.append(check.__name__)
                    place = next((f"{one.filename.rpartition('/')[2]}:{one.lineno}" for one in
                                  reversed(traceback.extract_tb(error.__traceback__)) if "/serve/" in one.filename), "")
                    print(f"FAIL {check.__name__} ({place}): {type(error).__name__}: {str(error)[:1500]}", flush=True)
                    driver.get_log("browser")
                    driver.get_log("performance")
                    page.emulate()
                else:
                    print(f"ok   {check.__name__}, {time.monotonic() - begin:.1f} s", flush=True)
                for handle in driver.window_handles[1:]:
                    driver.switch_to.window(handle)
                    driver.close()
                driver.switch_to.window(driver.window_handles[0])
    finally:
        driver.quit()
    print(f"{len(failed)} failed: {', '.join(failed)}" if failed else "all passed")
    return 1 if failed else 0
