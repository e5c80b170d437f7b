"""Files are written whole or not at all, whatever stops the writer."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import eigenscape
from eigenscape.app.io import atomic
from eigenscape.app.io.atomic import check_target, whole_file
from eigenscape.app.io.writing import write_table
from eigenscape.exceptions import WriteError


def parts(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir() if "eigenscape-part" in file.name]


def test_the_file_appears_when_the_block_ends(tmp_path: Path) -> None:
    with whole_file(tmp_path / "a.txt") as part:
        part.write_text("new")
        assert part.suffix == ".txt"
        assert not (tmp_path / "a.txt").exists()
    assert (tmp_path / "a.txt").read_text() == "new"
    assert parts(tmp_path) == []


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_leaves_the_old_file(tmp_path: Path, error: type[BaseException]) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")

    def half() -> None:
        with whole_file(target, force=True) as part:
            part.write_text("half")
            raise error

    with pytest.raises(error):
        half()
    assert target.read_text() == "old"
    assert parts(tmp_path) == []


def test_an_existing_file_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")
    with pytest.raises(FileExistsError, match=r"a\.txt exists already.*--force"):
        check_target(tmp_path / "a.txt")


def test_a_file_created_in_the_meantime_is_kept(tmp_path: Path) -> None:
    def late() -> None:
        with whole_file(tmp_path / "b.txt") as part:
            part.write_text("mine")
            (tmp_path / "b.txt").write_text("came meanwhile")

    with pytest.raises(FileExistsError):
        late()
    assert (tmp_path / "b.txt").read_text() == "came meanwhile"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (".", "is a directory"),
        ("no/such/a.txt", r"folder .* does not exist"),
        ("/dev/null", "not a regular file"),
    ],
)
def test_targets_that_cannot_be_written(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(WriteError, match=message):
        check_target(tmp_path / name, force=True)


@pytest.mark.parametrize("what", ["file", "folder"])
def test_read_only_targets_are_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """The answer of the system is replaced, because root may write anywhere."""
    target = tmp_path / "a.txt"
    target.write_text("old")
    refused = target if what == "file" else tmp_path
    ask = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != refused and ask(path, mode))
    with pytest.raises(WriteError, match="read-only"):
        check_target(target, force=True)
    assert target.read_text() == "old"


def test_a_link_is_followed_and_the_mode_kept(tmp_path: Path) -> None:
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    real.chmod(0o600)
    link.symlink_to(real)
    with whole_file(link, force=True) as part:
        part.write_text("new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert real.stat().st_mode & 0o777 == 0o600


_FULL = """
import resource, signal, sys, numpy as np
from eigenscape.app.io.writing import write_table
from eigenscape.exceptions import WriteError
X = np.random.default_rng(0).random((50_000, 2))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
for path in sys.argv[1:]:
    try:
        write_table(path, X, force=True)
    except WriteError as error:
        print(error)
"""


@pytest.mark.process
def test_a_full_disk_leaves_the_target_unchanged(tmp_path: Path) -> None:
    """A limit on the size of files raises the same errors as a full disk."""
    targets = [tmp_path / f"a.{suffix}" for suffix in ("csv", "parquet", "feather", "npy", "npz", "mtx")]
    for target in targets:
        write_table(target, np.eye(2))
    before = [target.read_bytes() for target in targets]
    done = subprocess.run(
        [sys.executable, "-c", _FULL, *map(str, targets)], capture_output=True, text=True, timeout=120
    )
    lines = done.stdout.splitlines()
    assert len(lines) == len(targets), done.stderr[-2000:]
    assert all(
        f"no space left to write {target}" in line for target, line in zip(targets, lines, strict=True)
    )
    assert [target.read_bytes() for target in targets] == before
    assert parts(tmp_path) == []


def test_a_full_disk_while_a_model_is_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = eigenscape.KernelPCA().fit(np.random.default_rng(0).random((30, 3)))
    eigenscape.save(model, tmp_path / "m")
    before = (tmp_path / "m").read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WriteError, match="no space left"):
        eigenscape.save(model, tmp_path / "m", force=True)
    assert (tmp_path / "m").read_bytes() == before
    assert parts(tmp_path) == []


@pytest.mark.parametrize("force", [False, True])
def test_the_file_is_synchronized_before_it_is_named_and_its_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, force: bool
) -> None:
    """Without the second, a file that was reported as written may be lost if the machine stops."""
    calls = []

    def record(descriptor: int) -> None:
        kind = "folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file"
        calls.append((kind, (tmp_path / "a.txt").exists()))

    monkeypatch.setattr(os, "fsync", record)
    with whole_file(tmp_path / "a.txt", force=force) as part:
        part.write_text("new")
    assert calls == [("file", False), ("folder", True)]


def test_temporary_files_of_running_processes_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with whole_file(tmp_path / "a.txt") as part:
        part.write_text("1")
    running, ended = (tmp_path / part.name.replace(f"-{os.getpid()}-", f"-{i}-") for i in (71, 72))
    for file in (running, ended):
        file.write_text("half")
    monkeypatch.setattr(atomic, "is_running", lambda process: process == 71)
    with whole_file(tmp_path / "a.txt", force=True) as part:
        part.write_text("2")
    assert parts(tmp_path) == [running.name]


@pytest.mark.process
def test_temporary_files_of_killed_processes_are_removed(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    with whole_file(tmp_path / "a.txt") as part:
        part.write_text("1")
        mine = part.name
    stale = tmp_path / mine.replace(f"-{os.getpid()}-", f"-{gone.pid}-")
    alive = tmp_path / mine.replace(f"-{os.getpid()}-", f"-{os.getppid()}-")
    other = tmp_path / mine.replace(".a.", ".b.").replace(f"-{os.getpid()}-", f"-{gone.pid}-")
    for file in (stale, alive, other):
        file.write_text("half")
    with whole_file(tmp_path / "a.txt", force=True) as part:
        part.write_text("2")
    assert not stale.exists()
    assert alive.exists()  # another process may be writing it
    assert other.exists()  # the file of another target


#: Fork writers and kill each at a random moment, which is faster than starting interpreters.
_KILLER = """
import os, random, signal, sys, time
import numpy as np
import eigenscape
from eigenscape.app.io.models import describe
from eigenscape.app.io.writing import write_table
table, model_file = sys.argv[1:]
X = np.random.default_rng(0).random((400, 3))
model = eigenscape.KernelPCA().fit(X)
eigenscape.save(model, model_file, notes="0")
expected = model.transform(X)
chance, last = random.Random(0), set()
for _ in range(40):
    child = os.fork()
    if child == 0:
        number = 0
        while True:
            number += 1
            write_table(table, np.full((3000, 2), float(number)), force=True)
            eigenscape.save(model, model_file, force=True, notes=str(number))
    time.sleep(0.02 + 0.15 * chance.random())
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if os.path.exists(table):
        found = eigenscape.read(table).array
        assert found.shape == (3000, 2) and (found[0, 0] == found).all()
        last.add(int(found[0, 0]))
    assert (eigenscape.load(model_file).transform(X) == expected).all()
    last.add(-int(describe(model_file)["notes"]))
    left = [name for name in os.listdir(os.path.dirname(table)) if "eigenscape-part" in name]
    assert len(left) <= 2, left  # one per target: later processes remove the files of earlier ones
print(len(last))
"""


@pytest.mark.process
@pytest.mark.product
def test_a_killed_process_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _KILLER, str(tmp_path / "t.csv"), str(tmp_path / "m.eigenscape")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) >= 4  # they were killed at different moments


@pytest.mark.long
def test_one_of_several_writers_of_the_same_file_succeeds(tmp_path: Path) -> None:
    import threading

    for round_ in range(50):
        target = tmp_path / f"{round_}.txt"
        written: list[str] = []
        refused: list[str] = []
        barrier = threading.Barrier(4)

        def write(
            name: str,
            target: Path = target,
            written: list[str] = written,
            refused: list[str] = refused,
            barrier: threading.Barrier = barrier,
        ) -> None:
            try:
                with whole_file(target) as part:
                    part.write_text(name)
                    barrier.wait()
                written.append(name)
            except FileExistsError as error:
                refused.append(str(error))

        writers = [threading.Thread(target=write, args=(str(i),)) for i in range(4)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        assert written == [target.read_text()]
        assert len(refused) == 3
        assert all("--force" in message for message in refused)
    assert parts(tmp_path) == []


def test_file_systems_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    with whole_file(tmp_path / "a.txt") as part:
        part.write_text("first")
    assert (tmp_path / "a.txt").read_text() == "first"

    def late() -> None:
        with whole_file(tmp_path / "b.txt") as part:
            part.write_text("mine")
            (tmp_path / "b.txt").write_text("came meanwhile")

    with pytest.raises(FileExistsError, match="--force"):
        late()
    assert (tmp_path / "b.txt").read_text() == "came meanwhile"
