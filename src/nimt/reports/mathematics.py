"""Formulas on pages: a part of LaTeX becomes MathML, which browsers typeset themselves, without a script."""

from __future__ import annotations

import re
from html import escape

from nimt.errors import InvalidInput

GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "eta": "η", "theta": "θ", "kappa": "κ",
    "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ",
    "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Sigma": "Σ", "Phi": "Φ",
    "Psi": "Ψ", "Omega": "Ω",
}  # fmt: skip
SIGNS = {
    "le": "≤", "ge": "≥", "ne": "≠", "approx": "≈", "cdot": "·", "times": "×", "in": "∈", "to": "→", "infty": "∞",
    "nabla": "∇", "partial": "∂", "sum": "∑", "dots": "…", "langle": "⟨", "rangle": "⟩", "lvert": "|", "rvert": "|",
    "lVert": "‖", "rVert": "‖", "leftarrow": "←", "mapsto": "↦", "{": "{", "}": "}",
}  # fmt: skip
SPACES = {"quad": 1.0, ",": 0.2}
FUNCTIONS = ("exp", "log", "sin")
WORDS = ("min", "max", "arg", "mean")
FENCES = "()[]|‖⟨⟩{}"  # as high as a letter, unless \left and \right ask for more
# `math` alone is no font on many machines, and without a font for formulas roots and brackets are too low
FONTS = '"Latin Modern Math", "STIX Two Math", "Cambria Math", "Noto Sans Math", "DejaVu Math TeX Gyre", math'
SCRIPT = {"H": "ℋ", "L": "ℒ", "E": "𝔼", "R": "ℝ"}
LIMITS = ("∑", "min", "max")  # what stands below them in a formula of its own
TOKEN = re.compile(r"\\(?:text|mathcal|mathbb)\{[^}]*\}|\\(?:[A-Za-z]+|.)|\d+(?:\.\d+)?|\S|\s+")
NAMES = re.compile(r"f\^t|f\*|f0\b")
IN_PROSE = {"f^t": r"f^t", "f*": "f^*", "f0": "f^0"}


def typeset(latex: str, *, display: bool = False) -> str:
    r"""Return a formula as MathML; `display` puts it on a line of its own, with its \tag{number} at the end of it.

    Examples
    --------
    >>> typeset(r"f^* \le 2 \eta")
    '<math><msup><mi>f</mi><mo lspace="0" rspace="0">∗</mo></msup><mo>≤</mo><mn>2</mn><mi>η</mi></math>'
    >>> typeset(r"\frac{1}{n}")
    '<math><mfrac><mn>1</mn><mi>n</mi></mfrac></math>'
    """
    latex, tag = _split_tag(latex)
    parts = _Formula(latex, display).read()
    if not display:
        return f"<math>{parts}</math>"
    number = f'<span class="tag-of-formula">({escape(tag)})</span>' if tag else ""
    return f'<div class="formula" tabindex="0"><math display="block">{parts}</math>{number}</div>'


def typeset_names(text: str) -> str:
    """Return prose, escaped, with f*, f^t and f0 as formulas.

    Examples
    --------
    >>> typeset_names("f* < 1")
    '<math><msup><mi>f</mi><mo lspace="0" rspace="0">∗</mo></msup></math> &lt; 1'
    """
    pieces = NAMES.split(text)
    found = [typeset(IN_PROSE[name]) for name in NAMES.findall(text)]
    return "".join(escape(piece) + formula for piece, formula in zip(pieces, [*found, ""], strict=True))


def _split_tag(latex: str) -> tuple[str, str]:
    found = re.search(r"\\tag\{([^}]*)\}", latex)
    return (latex, "") if found is None else (latex.replace(found[0], ""), found[1])


class _Formula:
    """One formula, read from left to right."""

    def __init__(self, latex: str, display: bool) -> None:
        self.tokens = [token for token in TOKEN.findall(latex.strip()) if not token.isspace()]
        self.latex, self.display, self.place = latex, display, 0

    def read(self) -> str:
        parts = self._row("")
        if self.place < len(self.tokens):
            raise self._refusal("a } without its {")
        return parts

    def _refusal(self, what: str) -> InvalidInput:
        return InvalidInput(f"the formula {self.latex!r} has {what}, which is not typeset here")

    def _row(self, end: str) -> str:
        """Read until the token `end`, which is left where it is."""
        parts = []
        while self.place < len(self.tokens) and self.tokens[self.place] not in (end, "}"):
            parts.append(self._read_scripts())
        return "".join(parts)

    def _read_scripts(self) -> str:
        """Read one thing with what stands above and below it."""
        base = self._atom()
        below = above = ""
        while self.place < len(self.tokens) and self.tokens[self.place] in "_^":
            sign = self.tokens[self.place]
            self.place += 1
            if sign == "_":
                below = self._atom()
            else:
                above = self._atom()
        if not below and not above:
            return base
        is_limit = self.display and any(f">{limit}<" in base for limit in LIMITS)
        kind = ("munder", "mover", "munderover") if is_limit else ("msub", "msup", "msubsup")
        which = 2 if below and above else 0 if below else 1
        return f"<{kind[which]}>{base}{below}{above}</{kind[which]}>"

    def _group(self) -> str:
        """Read what stands between { and }, as one thing."""
        if self.place >= len(self.tokens) or self.tokens[self.place] != "{":
            return self._atom()
        self.place += 1
        begin = self.place
        parts = self._row("}")
        if self.place >= len(self.tokens):
            raise self._refusal("a { without its }")
        self.place += 1
        return parts if self.place - begin == 2 else f"<mrow>{parts}</mrow>"

    def _atom(self) -> str:
        if self.place >= len(self.tokens):
            raise self._refusal("an end where something is missing")
        token = self.tokens[self.place]
        if token == "{":
            return self._group()
        self.place += 1
        if token.startswith("\\"):
            return self._command(token[1:])
        if token[0].isdigit():
            return f"<mn>{token}</mn>"
        return f"<mi>{token}</mi>" if token.isalpha() else _sign("−" if token == "-" else token)

    def _read_fence(self) -> str:
        r"""Read what stands between \left and \right, whose brackets are as high as it."""
        opening, parts = self._bracket(), self._row("\\right")
        if self.place >= len(self.tokens) or self.tokens[self.place] != "\\right":
            raise self._refusal("a \\left without its \\right")
        self.place += 1
        return f"<mrow>{opening}{parts}{self._bracket()}</mrow>"

    def _bracket(self) -> str:
        if self.place >= len(self.tokens) or self.tokens[self.place] not in FENCES:
            raise self._refusal("a \\left or \\right without a bracket")
        self.place += 1
        return f"<mo>{self.tokens[self.place - 1]}</mo>"

    def _command(self, name: str) -> str:
        if name == "frac":
            above = self._group()
            return f"<mfrac>{above}{self._group()}</mfrac>"
        if name == "sqrt":
            return f"<msqrt>{self._group()}</msqrt>"
        if name.endswith("}") and name != "}":
            kind, _, letters = name[:-1].partition("{")
            if kind == "text":
                return f"<mtext>{escape(letters)}</mtext>"
            return f"<mi>{''.join(SCRIPT.get(letter, letter) for letter in letters)}</mi>"
        if name in GREEK:
            return f"<mi>{GREEK[name]}</mi>"
        if name in FUNCTIONS:
            return f"<mi>{name}</mi>"
        if name in WORDS:
            return f'<mo lspace="0" rspace="0.2em">{name}</mo>'
        if name in SIGNS:
            return _sign(SIGNS[name])
        if name == "left":
            return self._read_fence()
        if name in SPACES:
            return f'<mspace width="{SPACES[name]}em"></mspace>'
        raise self._refusal(f"\\{name}")


def _sign(sign: str) -> str:
    if sign == "*":
        return '<mo lspace="0" rspace="0">∗</mo>'  # a mark of f*, not a product; U+2217, since * is raised already
    if sign in "|‖":  # browsers take them for relations, with room on both sides
        return f'<mo stretchy="false" lspace="0" rspace="0">{sign}</mo>'
    return f'<mo stretchy="false">{sign}</mo>' if sign in FENCES else f"<mo>{escape(sign)}</mo>"
