"""Models of one mixer, as IR: what is timed and held beside public kernels."""
import dataclasses
import math

# Token operands, parameters (name, letters) and attributes of each op; the state is H,K,V.
OPS = {
    "ssd": ([("x", "THV"), ("dt", "TH"), ("b", "TGK"), ("c", "TGK")], [("a_log", "H"), ("dt_bias", "H"), ("d", "H")], ""),
    "gated_retention": ([("q", "TGK"), ("k", "TGK"), ("v", "THV"), ("gate", "TH")], [], ""),
    "gated_linear_attention": ([("q", "THK"), ("k", "THK"), ("v", "THV"), ("key_gate", "THK")], [],
                               "operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1>"),
    "rwkv6": ([("r", "THK"), ("k", "THK"), ("v", "THV"), ("w", "THK")], [("u", "HK")], ""),
    "gated_delta_rule": ([("q", "TGK"), ("k", "TGK"), ("v", "THV"), ("beta", "TH"), ("a", "TH")],
                         [("a_log", "H"), ("dt_bias", "H")], ""),
    "kimi_delta_attention": ([("q", "TGK"), ("k", "TGK"), ("v", "THV"), ("beta", "TH"), ("f", "THK")],
                             [("a_log", "H"), ("dt_bias", "HK")], ""),
}


@dataclasses.dataclass(frozen=True)
class Mixer:
    """An op with its extents."""
    op: str
    H: int
    G: int
    K: int
    V: int

    @property
    def name(self) -> str:
        return f"{self.op}-{self.H}x{self.K}x{self.V}" + (f"-g{self.G}" if self.G != self.H else "")

    def extents(self, letters: str) -> list[int]:
        return [{"H": self.H, "G": self.G, "K": self.K, "V": self.V}[letter] for letter in letters if letter != "T"]

    def columns(self) -> list[tuple[str, int, list[int]]]:
        """Where each token operand lies in a row of the table: name, first column, extents."""
        first, out = 0, []
        for name, letters in OPS[self.op][0]:
            extents = self.extents(letters)
            out.append((name, first, extents))
            first += math.prod(extents)
        return out

    def width(self) -> int:
        return sum(math.prod(extents) for _, _, extents in self.columns())

    def results(self) -> int:
        return self.H * self.V

    def text(self, rows: int) -> str:
        """The model: a table of bf16 whose rows hold the operands of a token, the mixer, a choice of rows."""
        rows = max(rows, self.results())
        tokens, parameters, attributes = OPS[self.op]
        tensor = lambda shape, element="f32": f"tensor<{''.join(f'{extent}x' for extent in shape)}{element}>"
        table, packed = tensor([rows, self.width()], "bf16"), tensor(["?", self.width()])
        flat, state = tensor(["?", self.results()]), tensor([self.H, self.K, self.V])
        y = tensor(["?", self.H, self.V])
        lines = [f"module attributes {{seq.model = #seq.model<family = \"{self.op}\", vocabulary = {self.results()}, "
                 f"width = {self.width()}, max_context = 0>}} {{", f'seq.weight @table source("table") : {table}']
        lines += [f'seq.weight @{name} source("{name}") : {tensor(self.extents(letters))}' for name, letters in parameters]
        lines += [f"func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %state: {state} {{seq.state_name = \"state\"}}) "
                  f"-> ({flat}, {state}) {{", f"  %table = seq.parameter @table : {table}",
                  f"  %in = seq.embedding %tokens, %table : (tensor<?xi32>, {table}) -> {packed}"]
        names, types = [], []
        for name, first, extents in self.columns():
            part, whole = tensor(["?", math.prod(extents)]), tensor(["?", *extents])
            lines += [f"  %{name}_columns = seq.slice %in {{axis = 1 : i64, offset = {first} : i64, size = {math.prod(extents)} : i64}} "
                      f": {packed} -> {part}", f"  %{name} = seq.reshape %{name}_columns : {part} -> {whole}"]
            names.append(f"%{name}")
            types.append(whole)
        for name, letters in parameters:
            kind = tensor(self.extents(letters))
            lines.append(f"  %{name} = seq.parameter @{name} : {kind}")
            names.append(f"%{name}")
            types.append(kind)
        lines += [f'  %y:2 = "seq.{self.op}"({", ".join([*names, "%state"])}) {{{attributes}}} : ({", ".join([*types, state])}) -> '
                  f"({y}, {state})", f"  %flat = seq.reshape %y#0 : {y} -> {flat}",
                  f"  %out = seq.select_rows %flat, %rows : ({flat}, tensor<?xi32>) -> {flat}",
                  f"  return %out, %y#1 : {flat}, {state}", "}", "}"]
        return "\n".join(lines) + "\n"

    def bytes_of(self, tokens: int, sequences: int, element: int) -> int:
        """What no kernel avoids: operands read, results written, states written; `element` bytes each, states of f32."""
        return tokens * sequences * (self.width() + self.results()) * element + 4 * sequences * self.H * self.K * self.V
