"""A forward proxy on 127.0.0.1, as in companies: it passes on requests for http:// and tunnels https://."""
import http.client
import http.server
import selectors
import socket
import threading
import urllib.parse


class ForwardProxy:
    """with ForwardProxy() as proxy: ... proxy.url, proxy.seen: (method, requested address)"""

    def __init__(self):
        self.seen = []
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads, self.server.proxy = True, self
        self.server.handle_error = lambda *_: None
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_CONNECT(self):
        self.server.proxy.seen.append(("CONNECT", self.path))
        host, port = self.path.rsplit(":", 1)
        with socket.create_connection((host, int(port))) as far:
            self.send_response(200)
            self.end_headers()
            self.tunnel(self.connection, far)
        self.close_connection = True

    @staticmethod
    def tunnel(near, far):
        """Copies until either end closes."""
        with selectors.DefaultSelector() as selector:
            selector.register(near, selectors.EVENT_READ, far)
            selector.register(far, selectors.EVENT_READ, near)
            while True:
                for key, _ in selector.select():
                    data = key.fileobj.recv(65536)
                    if not data:
                        return
                    key.data.sendall(data)

    def pass_on(self):
        self.server.proxy.seen.append((self.command, self.path))
        url = urllib.parse.urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        far = http.client.HTTPConnection(url.netloc)
        far.request(self.command, url.path, body or None, dict(self.headers))
        answer = far.getresponse()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("connection", "transfer-encoding"):
                self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        while piece := answer.read1(65536):
            self.wfile.write(piece)
        self.close_connection = True

    do_GET = do_POST = pass_on
