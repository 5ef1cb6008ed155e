"""How things show themselves: as text, as SVG, and in a notebook."""

import base64
import html
import shutil
import subprocess
from typing import Any

from ._core import ConfigError


def image(svg):
    """An SVG for a page. As an image by itself, since the styles of one would change others on the page."""
    data = base64.b64encode(svg.encode()).decode()
    return f'<img src="data:image/svg+xml;base64,{data}" style="max-width: 100%">'


def preformatted(text):
    return f"<pre>{html.escape(text)}</pre>"


def save_svg(svg, path):
    """Writes the picture: PNG if the path ends so, otherwise SVG."""
    path = str(path)
    if not path.lower().endswith(".png"):
        with open(path, "w", encoding="utf-8") as file:
            file.write(svg)
        return
    converter = shutil.which("rsvg-convert")
    if converter is None:
        raise ConfigError("rsvg-convert makes PNG files and cannot be run. Install it: apt-get install librsvg2-bin")
    subprocess.run([converter, "--zoom=2", "--output", path], input=svg.encode(), check=True)


class Drawn:
    """What has a picture as `svg` and words as `text`."""

    _core: Any

    @property
    def text(self) -> str:
        """In words, as the program prints it."""
        return self._core.text()

    @property
    def svg(self) -> str:
        """The picture as the text of an SVG file."""
        return self._core.svg()

    def save(self, path) -> None:
        """Writes the picture as an SVG file, or as PNG if the path ends so."""
        save_svg(self.svg, path)

    def __str__(self):
        return self.text

    def _repr_html_(self):
        try:
            return image(self.svg)
        except ConfigError:
            return preformatted(self.text)  # nothing to draw, or too much
