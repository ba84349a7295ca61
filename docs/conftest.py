"""The tests run the pages; the programs of the gallery are run by `make docs`."""

collect_ignore_glob = ["*.py", "gallery/*", "site/*", "built/*"]
