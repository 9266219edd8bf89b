"""What a runtime remembers of its own side effects, so that it does not repeat them."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Optional, Protocol


class Ledger(Protocol):
    """A store of notes that are written once and kept.

    It belongs to the runtime and must outlive its process. For each approval there are
    at most five notes: asked, started, unsure, done and reported.
    """

    def read(self, approval_id: str, step: str) -> Optional[str]:
        """Returns a note, None if there is none."""

    def add(self, approval_id: str, step: str, note: str) -> bool:
        """Writes a note, durably. Of any number of writers one gets True; where the
        note is there already, it is left as it is, and the answer is False."""


class FileLedger:
    """A ledger in a folder, one small file for each note.

    Several processes on one machine may share it. Whoever may write the folder can
    make a call that ran look like one that did not: keep it to the runtime.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = os.fspath(folder)
        os.makedirs(self._folder, mode=0o700, exist_ok=True)

    def read(self, approval_id: str, step: str) -> Optional[str]:
        try:
            with open(self._path(approval_id, step), encoding="utf-8") as f:
                kept = json.load(f)
        except FileNotFoundError:
            return None
        if kept["approval_id"] != approval_id:  # a file system that ignores case
            raise ValueError(f"ledger: {self._path(approval_id, step)} is of {kept['approval_id']!r}")
        return str(kept["note"])

    def add(self, approval_id: str, step: str, note: str) -> bool:
        handle, temporary = tempfile.mkstemp(dir=self._folder, prefix=".new-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as f:
                json.dump({"approval_id": approval_id, "note": note}, f)
                f.flush()
                os.fsync(f.fileno())
            try:
                os.link(temporary, self._path(approval_id, step))  # whole, and never over another
            except FileExistsError:
                return False
        finally:
            os.unlink(temporary)
        if os.name == "posix":
            folder = os.open(self._folder, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        return True

    def _path(self, approval_id: str, step: str) -> str:
        return os.path.join(self._folder, f"{approval_id.replace(':', '%3A')}.{step}.json")
