#!/usr/bin/env python3
"""org.freedesktop.portal.FileChooser without a dialog: each request is a line of JSON on standard output, and a line of
JSON on standard input answers it. And org.freedesktop.portal.Settings with the colours of the desktop, which a line
sets.

usage: fake_portal.py      (on the bus of DBUS_SESSION_BUS_ADDRESS)
"""
import json
import sys

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

PORTAL, FOLDER = "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop"
SETTINGS, APPEARANCE = "org.freedesktop.portal.Settings", "org.freedesktop.appearance"
CHOOSER, REQUEST = "org.freedesktop.portal.FileChooser", "org.freedesktop.portal.Request"


def plain(value):
    """The value as JSON can carry it; bytes are a zero-terminated path."""
    if isinstance(value, dbus.Array) and value.signature == "y":
        return bytes(value).rstrip(b"\0").decode()
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, dbus.Boolean):
        return bool(value)
    return int(value) if isinstance(value, int) else str(value)


def tell(**what):
    print(json.dumps(what), flush=True)


class Request(dbus.service.Object):
    @dbus.service.signal(REQUEST, signature="ua{sv}")
    def Response(self, response, results):
        pass

    @dbus.service.method(REQUEST)
    def Close(self):
        tell(closed=True)
        self.remove_from_connection()


class Portal(dbus.service.Object):
    def __init__(self, bus):
        super().__init__(dbus.service.BusName(PORTAL, bus), FOLDER)
        self.bus, self.request, self.filters = bus, None, []
        self.color_scheme = 0

    def take(self, method, parent, title, options, sender):
        path = f"{FOLDER}/request/{sender[1:].replace('.', '_')}/{options['handle_token']}"
        self.request, self.filters = Request(self.bus, path), options.get("filters", [])
        tell(method=method, parent=str(parent), title=str(title), options=plain(options))
        return path

    @dbus.service.method(CHOOSER, "ssa{sv}", "o", sender_keyword="sender")
    def OpenFile(self, parent, title, options, sender):
        return self.take("OpenFile", parent, title, options, sender)

    @dbus.service.method(CHOOSER, "ssa{sv}", "o", sender_keyword="sender")
    def SaveFile(self, parent, title, options, sender):
        return self.take("SaveFile", parent, title, options, sender)

    @dbus.service.method(SETTINGS, "ss", "v")
    def Read(self, group, key):
        if (group, key) != (APPEARANCE, "color-scheme"):
            raise dbus.exceptions.DBusException("no such setting", name=PORTAL + ".Error.NotFound")
        return dbus.UInt32(self.color_scheme, variant_level=1)

    @dbus.service.signal(SETTINGS, signature="ssv")
    def SettingChanged(self, group, key, value):
        pass

    def answer(self, source, _):
        """{"color_scheme": 1}, or {"response": 0, "uris": [...], "filter": 1}; at the end of input the service ends."""
        line = source.readline()
        if not line:
            loop.quit()
            return False
        answer = json.loads(line)
        if "color_scheme" in answer:
            self.color_scheme = answer["color_scheme"]
            self.SettingChanged("org.gnome.desktop.interface", "color-scheme", "prefer-dark")
            self.SettingChanged(APPEARANCE, "contrast", dbus.UInt32(1))
            self.SettingChanged(APPEARANCE, "color-scheme", dbus.UInt32(self.color_scheme))
            tell(color_scheme=self.color_scheme)
            return True
        results = {"uris": dbus.Array(answer.get("uris", []), signature="s")}
        if "filter" in answer:
            results["current_filter"] = dbus.Struct(self.filters[answer["filter"]], signature="sa(us)", variant_level=1)
        self.request.Response(dbus.UInt32(answer["response"]), results)
        return True


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
loop = GLib.MainLoop()
portal = Portal(dbus.SessionBus())
GLib.io_add_watch(sys.stdin, GLib.PRIORITY_DEFAULT, GLib.IO_IN | GLib.IO_HUP, portal.answer)
tell(ready=True)
loop.run()
