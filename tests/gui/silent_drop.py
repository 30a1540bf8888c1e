#!/usr/bin/env python3
"""A program that drops a file on a window and then answers nothing, like one that is stopped in the middle of it.

usage: silent_drop.py DISPLAY WINDOW
"""
import ctypes
import sys
import time

POINTER, LONG, TEXT = ctypes.c_void_p, ctypes.c_ulong, ctypes.c_char_p
CLIENT_MESSAGE = 33


class ClientMessage(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("serial", LONG), ("send_event", ctypes.c_int), ("display", POINTER),
                ("window", LONG), ("message_type", LONG), ("format", ctypes.c_int), ("data", ctypes.c_long * 5),
                ("room", ctypes.c_long * 12)]  # of the largest event


x11 = ctypes.CDLL("libX11.so.6")
for name, result, arguments in (
        ("XOpenDisplay", POINTER, [TEXT]), ("XDefaultRootWindow", LONG, [POINTER]),
        ("XCreateSimpleWindow", LONG, [POINTER, LONG] + 5 * [ctypes.c_int] + 2 * [LONG]),
        ("XInternAtom", LONG, [POINTER, TEXT, ctypes.c_int]),
        ("XSetSelectionOwner", ctypes.c_int, [POINTER, LONG, LONG, LONG]),
        ("XSendEvent", ctypes.c_int, [POINTER, LONG, ctypes.c_int, ctypes.c_long, POINTER]),
        ("XSync", ctypes.c_int, [POINTER, ctypes.c_int])):
    getattr(x11, name).restype, getattr(x11, name).argtypes = result, arguments

display, target = x11.XOpenDisplay(sys.argv[1].encode()), int(sys.argv[2])
window = x11.XCreateSimpleWindow(display, x11.XDefaultRootWindow(display), 0, 0, 10, 10, 0, 0, 0)


def atom(text):
    return x11.XInternAtom(display, text.encode(), 0)


def send(kind, *data):
    event = ClientMessage(CLIENT_MESSAGE, 0, 1, display, target, atom(kind), 32, (ctypes.c_long * 5)(window, *data))
    x11.XSendEvent(display, target, 0, 0, ctypes.byref(event))


x11.XSetSelectionOwner(display, atom("XdndSelection"), window, 0)
send("XdndEnter", 5 << 24, atom("text/uri-list"))
send("XdndPosition", 0, 300 << 16 | 300, 0, atom("XdndActionCopy"))
send("XdndDrop")
x11.XSync(display, 0)
print("dropped", flush=True)
time.sleep(3600)
