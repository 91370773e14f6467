"""The program without its script: `python -m evenhand VERB ...`."""

from evenhand.cli.main import run

if __name__ == "__main__":
    run()
