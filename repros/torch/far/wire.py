"""Messages in frames: four bytes of length, big endian, then JSON."""
import json
import os
import struct

MAX_FRAME = 1 << 30


def pack(message):
    body = json.dumps(message).encode()
    return struct.pack(">I", len(body)) + body


def unpack(buffer):
    """The first whole message of a bytearray, which is taken off it; None while there is none. Rubbish is a ValueError."""
    if len(buffer) < 4:
        return None
    size = struct.unpack(">I", buffer[:4])[0]
    if size > MAX_FRAME:
        raise ValueError("a frame of %d bytes" % size)
    if len(buffer) < 4 + size:
        return None
    body = bytes(buffer[4:4 + size])
    del buffer[:4 + size]
    message = json.loads(body)
    if not isinstance(message, dict):
        raise ValueError("a frame that is no object")
    return message


def write_all(fd, data):
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view):]
