"""The browser that tests of pages are driven with; such tests are skipped, with the reason, where there is none."""

from __future__ import annotations

import contextlib
import os
import shutil

import pytest

PATIENCE = 180_000.0  # milliseconds: on a busy machine the first lesson waits that long to be compiled

FLAGS = [
    "--no-sandbox",
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def path_of_browser() -> str | None:
    """Return $NIMT_BROWSER, or Chromium as the system installs it."""
    names = (os.environ.get("NIMT_BROWSER"), "chromium", "chromium-browser", "google-chrome")
    return next((found for name in names if name and (found := shutil.which(name))), None)


@contextlib.contextmanager
def a_browser():
    """Start the browser, or skip the test and say why."""
    playwright = pytest.importorskip("playwright.sync_api", reason="pages are tested with playwright: pip install it")
    path = path_of_browser()
    if path is None:
        pytest.skip("no browser: install chromium, or set NIMT_BROWSER to one (CONTRIBUTING.md)")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@contextlib.contextmanager
def a_page(browser, **options):
    """Open a tab; an error of its script, or a complaint on its console, fails the test."""
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: errors.append(f"{said.text} ({said.location['url']})") if _is_error(said) else None)
    try:
        yield page
    finally:
        context.close()
    assert not errors, errors


def _is_error(message) -> bool:
    """Whether the console complains; a request that the server refuses in a sentence (422) is no error of the page."""
    return message.type == "error" and "status of 422" not in message.text
