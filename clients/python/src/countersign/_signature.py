"""Signatures of answers, for who trusts a key more than Redis."""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Any, Dict, Sequence, Union

from ._canonical import canonical
from ._ijson import read
from .errors import BadSignature

_DEPTH = 34  # of an answer
_VALUE = 88  # characters of base64


class Keys:
    """Public keys of which one must have signed. Reading them needs the package
    cryptography: pip install 'countersign[verify]'."""

    def __init__(self, pems: Sequence[Union[str, bytes]]) -> None:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key

        self._by_id: Dict[str, Any] = {}
        for pem in pems:
            key = load_pem_public_key(pem.encode() if isinstance(pem, str) else pem)
            if not isinstance(key, Ed25519PublicKey):
                raise ValueError("want Ed25519 public keys, as countersign keygen makes them")
            raw = key.public_bytes(Encoding.Raw, PublicFormat.Raw)
            self._by_id[hashlib.sha256(raw).hexdigest()[:16]] = key
        if not self._by_id:
            raise ValueError("no keys were given")

    def check(self, data: str) -> None:
        """Raises BadSignature unless one of the keys has signed data."""
        from cryptography.exceptions import InvalidSignature

        text = read(data, _DEPTH)
        if text.fault or not isinstance(text.value, dict):
            raise BadSignature("the signature does not hold: it is over no JSON object")
        signed = dict(text.value)
        sig = signed.pop("sig", None)
        if sig is None:
            raise BadSignature("the signature does not hold: it bears none")
        value = sig.get("value") if isinstance(sig, dict) else None
        if not isinstance(value, str) or len(value) != _VALUE or sig.get("alg") != "ed25519":
            raise BadSignature("the signature does not hold: it is not of the form that it must have")
        key = self._by_id.get(str(sig.get("key")))
        if key is None:
            raise BadSignature(f"the signature does not hold: key {sig.get('key')!r} is not one that is trusted")
        try:
            key.verify(base64.b64decode(value, validate=True), canonical(signed).encode())
        except (InvalidSignature, binascii.Error):
            raise BadSignature("the signature does not hold") from None
