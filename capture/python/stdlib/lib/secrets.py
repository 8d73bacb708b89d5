"""Random values that cannot be guessed."""
import base64
import os
from hmac import compare_digest
from random import SystemRandom

_random = SystemRandom()
DEFAULT_ENTROPY = 32
randbits = _random.getrandbits
choice = _random.choice


def randbelow(exclusive_upper_bound):
    if exclusive_upper_bound <= 0:
        raise ValueError("Upper bound must be positive.")
    return _random.randrange(exclusive_upper_bound)


def token_bytes(nbytes=None): return os.urandom(DEFAULT_ENTROPY if nbytes is None else nbytes)
def token_hex(nbytes=None): return token_bytes(nbytes).hex()
def token_urlsafe(nbytes=None): return base64.urlsafe_b64encode(token_bytes(nbytes)).rstrip(b'=').decode('ascii')
