# The C API of tfc/text.h for tests, by ctypes.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes
from ctypes import POINTER, byref, c_char_p, c_int32, c_int64, c_uint32, \
    c_uint64, c_void_p


class Options(ctypes.Structure):
    _fields_ = [("struct_size", c_uint64), ("text", c_char_p),
                ("text_bytes", c_uint64), ("pair", c_char_p),
                ("pair_bytes", c_uint64), ("max_tokens", c_uint64),
                ("truncate", c_uint32), ("truncate_left", c_uint32),
                ("no_special", c_uint32), ("special_as_text", c_uint32),
                ("offsets", c_uint32), ("reserved", c_uint32)]


class Info(ctypes.Structure):
    _fields_ = [("struct_size", c_uint64), ("n_tokens", c_uint64),
                ("ids", POINTER(c_int64)), ("type_ids", POINTER(c_int64)),
                ("begins", POINTER(c_int64)), ("ends", POINTER(c_int64)),
                ("sequences", POINTER(c_int32))]


class Fault(Exception):
    pass


class Encoded:
    def __init__(self, info):
        count = info.n_tokens
        self.ids, self.type_ids = info.ids[:count], info.type_ids[:count]
        self.offsets = list(zip(info.begins[:count], info.ends[:count]))
        self.sequences = info.sequences[:count]


class Library:
    def __init__(self, path):
        self.api = ctypes.CDLL(path)
        self.api.tfc_error_message.restype = c_char_p
        self.api.tfc_text_get.restype = c_void_p
        for name in ("tfc_tokenizer_load", "tfc_tokenizer_encode",
                     "tfc_tokens_get_info", "tfc_tokenizer_decode",
                     "tfc_text_stream_create", "tfc_text_stream_push",
                     "tfc_text_stream_finish"):
            getattr(self.api, name).restype = c_void_p

    def call(self, name, *arguments):
        error = getattr(self.api, name)(*arguments)
        if error:
            error = c_void_p(error)
            message = self.api.tfc_error_message(error).decode()
            self.api.tfc_error_free(error)
            raise Fault(message)


class Tokenizer:
    def __init__(self, library, path):
        self.library, self.handle = library, c_void_p()
        library.call("tfc_tokenizer_load", path.encode(), byref(self.handle))

    def __del__(self):
        self.library.api.tfc_tokenizer_free(self.handle)

    def encode(self, text, pair=None, **options):
        text = text.encode()
        given = Options(struct_size=ctypes.sizeof(Options), text=text,
                        text_bytes=len(text), **options)
        if pair is not None:
            given.pair = pair.encode()
            given.pair_bytes = len(pair.encode())
        tokens = c_void_p()
        self.library.call("tfc_tokenizer_encode", self.handle, byref(given),
                          byref(tokens))
        info = Info(struct_size=ctypes.sizeof(Info))
        self.library.call("tfc_tokens_get_info", tokens, byref(info))
        encoded = Encoded(info)
        self.library.api.tfc_tokens_free(tokens)
        return encoded

    def decode(self, ids, skip_special=True):
        array, text = (c_int64 * len(ids))(*ids), c_void_p()
        self.library.call("tfc_tokenizer_decode", self.handle, array,
                          c_uint64(len(ids)), int(skip_special), byref(text))
        count = c_uint64()
        begin = self.library.api.tfc_text_get(text, byref(count))
        decoded = ctypes.string_at(begin, count.value).decode()
        self.library.api.tfc_text_free(text)
        return decoded

    def stream(self, ids, skip_special=True):
        """The text of the ids, put together of what a stream gives."""
        stream, part, count, parts = c_void_p(), c_void_p(), c_uint64(), []

        def keep():
            parts.append(ctypes.string_at(part.value, count.value))

        self.library.call("tfc_text_stream_create", self.handle,
                          int(skip_special), byref(stream))
        for token in ids:
            self.library.call("tfc_text_stream_push", stream, c_int64(token),
                              byref(part), byref(count))
            keep()
        self.library.call("tfc_text_stream_finish", stream, byref(part),
                          byref(count))
        keep()
        self.library.api.tfc_text_stream_free(stream)
        return b"".join(parts).decode()
