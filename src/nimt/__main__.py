"""`python -m nimt` is `nimt`."""

from nimt.cli.app import main

if __name__ == "__main__":
    main()
