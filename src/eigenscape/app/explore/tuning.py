"""Limits of the explorer: what is computed, sent and kept."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """Constants of this package."""

    # --- analysis ---
    #: Number of columns and of labels that explain a selection.
    explained: int = 30
    #: Number of points of the grid of an eigenfunction in each direction.
    grid: int = 64
    #: Quantile of the normal distribution for intervals of 95 %.
    normal: float = 1.959964

    # --- api ---
    #: Seconds between two comments in a stream of events.
    event_seconds: float = 15.0

    # --- data ---
    #: Number of values of a block of columns.
    block_values: int = 2**22
    #: Number of features that are listed as columns.
    max_features: int = 1000
    #: Number of columns in the description of a row.
    max_shown: int = 60

    # --- distances ---
    #: Number of rows whose distance to their nearest others is computed.
    usual_points: int = 300

    # --- events ---
    #: Events that wait for a page; one that is slower is disconnected, and loads the state again.
    waiting_events: int = 1000

    # --- forms ---
    #: Number of coordinates that a form accepts at most.
    max_components: int = 100
    #: Length of a text in a field.
    form_text: int = 200

    # --- jobs ---
    #: Number of jobs that may wait.
    waiting_jobs: int = 20
    #: Number of jobs that are listed after their end.
    ended_jobs: int = 100

    # --- opening ---
    #: Number of coordinates of the first maps, for methods whose first coordinates do not depend on
    #: the others.
    n_components: int = 6

    # --- placing ---
    #: Number of characters of a pasted text.
    placed_text: int = 2**20

    # --- security ---
    #: Connections without a request that has the token, and seconds for which each is kept.
    waiting_connections: int = 64
    waiting_seconds: float = 10.0
    #: Connections that are accepted at once.
    backlog: int = 32

    # --- server ---
    #: Seconds for which running requests are waited for at the end.
    grace_seconds: int = 2

    # --- session ---
    #: Number of maps in the history.
    max_maps: int = 50

    # --- suggestions ---
    #: Number of rows from which a picture of clusters is suggested.
    picture_points: int = 50

    # --- tasks ---
    #: Number of neighbours that are compared.
    n_neighbors: int = 10
    #: Operations of an exact search of all neighbours up to which they are compared for every point unasked.
    max_operations: float = 5e11
    #: Number of rows of further fits.
    refit_rows: int = 1500
    held_out: float = 0.2

    # --- worker ---
    #: Seconds between two messages about the progress of a stage.
    report_seconds: float = 0.15
    #: Increment of the nice value: requests to the server are answered first.
    niceness: int = 10


TUNING = Tuning()
