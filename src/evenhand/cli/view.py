"""`evenhand view RUNS`: a folder of runs in a browser, live while an audit runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def view(
    folder: Annotated[
        Path, typer.Argument(help="The folder that holds your runs.", show_default=True)
    ] = Path("runs"),
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen on; any but this machine's shows your runs to others."
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes one that is free.")
    ] = 8765,
) -> None:
    """Show a folder of runs in the browser: model, suite, headline with interval, date, report.

    The page refreshes itself, and shows how far a run is that is being asked. It only reads.
    Ctrl-C ends it.

    ```console
    evenhand view
    evenhand view runs/ --port 0
    ```
    """
    from evenhand.view.server import is_loopback, open_server, serve

    server = open_server(folder, host, port)
    if not is_loopback(host):
        print(
            f"warning: everybody who reaches {host} can read {folder}; there is no password",
            file=sys.stderr,
        )
    serve(server, lambda address: print(f"view: {address}  (Ctrl-C ends it)", flush=True))
    print("stopped", file=sys.stderr)
