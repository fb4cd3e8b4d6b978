"""Small models for long_prompts.py, one per class: two layers of 256 channels, random bf16 weights.

window       attention over the last 64 keys, grouped, rotary positions; a gated layer
experts      gated linear attention; one-neuron experts by product keys beside a gated layer
recurrence   gated linear attention; a gated layer
delta        the gated delta rule on keys of length 1; a gated layer
elementwise  the RG-LRU; a gated layer
written      a cell whose last output comes back through tanh, as a seq.recurrence, which no other
             form than the step is derived of; a gated layer
"""
import subprocess

import retrieval

WIDTH, HEADS, KEY_HEADS, CHANNELS, WINDOW = retrieval.WIDTH, 8, 2, 32, 64


class Model(retrieval.Model):
    """Layers with states between an embedding and a head."""

    def __init__(self):
        super().__init__()
        self.states, self.next, self.layer, self.tables = [], [], 0, []

    def weight(self, name, *shape, element="bf16"):
        return super().weight(f"l{self.layer}_{name}", *shape, element=element)

    def state(self, name, *shape):
        kind = f"tensor<{'x'.join(map(str, shape))}xf32>"
        self.states.append((f"l{self.layer}_{name}", kind))
        return f"%l{self.layer}_{name}", kind

    def heads(self, x, first, heads, width):
        flat, split = f"tensor<?x{heads * CHANNELS}xf32>", f"tensor<?x{heads}x{CHANNELS}xf32>"
        part = self.emit(f"seq.slice {x} {{axis = 1 : i64, offset = {first} : i64, size = {heads * CHANNELS} : i64}} : "
                         f"tensor<?x{width}xf32> -> {flat}")
        return self.emit(f"seq.reshape {part} : {flat} -> {split}"), split

    def multiple(self, text, results):
        """Emits an op with several results; returns their names."""
        self.values += 1
        self.body.append(f"%v{self.values}:{results} = {text}")
        return [f"%v{self.values}#{i}" for i in range(results)]

    def norm(self, x):
        scale, kind = self.weight(f"norm{self.values}", WIDTH, element="f32")
        return self.emit(f"seq.rms_norm {x}, {scale} {{eps = 1.0e-5 : f64}} : tensor<?x{WIDTH}xf32>, {kind}")

    def out(self, y, split):
        flat = f"tensor<?x{HEADS * CHANNELS}xf32>"
        return self.linear(self.emit(f"seq.reshape {y} : {split} -> {flat}"), HEADS * CHANNELS, "out", WIDTH)

    def attention(self, x):
        if not self.tables:
            self.tables.append(f"seq.weight @frequencies computed(#seq.rotary_frequencies<scaling = default, "
                               f"theta = 1.0e4 : f64>) : tensor<{CHANNELS // 2}xf32>")
            self.body.append(f"%frequencies = seq.parameter @frequencies : tensor<{CHANNELS // 2}xf32>")
        width = (HEADS + 2 * KEY_HEADS) * CHANNELS
        p = self.linear(x, WIDTH, "qkv", width)

        def turned(first, heads):
            value, kind = self.heads(p, first, heads, width)
            return self.emit(f"seq.rotary half {value} at(%positions), %frequencies : {kind}, tensor<?xi32>, "
                             f"tensor<{CHANNELS // 2}xf32>"), kind
        (q, all_heads), (k, few) = turned(0, HEADS), turned(HEADS * CHANNELS, KEY_HEADS)
        v, _ = self.heads(p, (HEADS + KEY_HEADS) * CHANNELS, KEY_HEADS, width)
        (keys, kind), (values, _) = (self.state(name, WINDOW, KEY_HEADS, CHANNELS) for name in ("keys", "values"))
        y, *following = self.multiple(
            f"seq.attention {q}, {k}, {v} positions(%positions) states({keys}, {values}) {{window = {WINDOW} : i64, "
            f"scale = {CHANNELS ** -0.5} : f64}} : ({all_heads}, {few}, {few}, tensor<?xi32>, {kind}, {kind}) -> "
            f"({all_heads}, {kind}, {kind})", 3)
        self.next += following
        return self.out(y, all_heads)

    def recurrence(self, x):
        p = self.linear(x, WIDTH, "qkvg", 4 * HEADS * CHANNELS)
        parts = [self.heads(p, i * HEADS * CHANNELS, HEADS, 4 * HEADS * CHANNELS) for i in range(4)]
        (q, kind), (k, _), (v, _), (gate, _) = parts
        state, held = self.state("state", HEADS, CHANNELS, CHANNELS)
        y, following = self.multiple(
            f"seq.gated_linear_attention {q}, {k}, {v} key_gate({gate}) state({state}) {{scale = {CHANNELS ** -0.5} : f64}} : "
            f"({kind}, {kind}, {kind}, {kind}, {held}) -> ({kind}, {held})", 2)
        self.next.append(following)
        return self.out(y, kind)

    def unit(self, x, split):
        """Each head of length 1."""
        flat = f"tensor<?x{HEADS * CHANNELS}xf32>"
        joined = self.emit(f"seq.reshape {x} : {split} -> {flat}")
        scaled = self.emit(f"seq.group_norm {joined} {{eps = 1.0e-6 : f64, groups = {HEADS} : i64, "
                           f"measure = #seq.norm_measure<sum_square>}} : {flat}")
        return self.emit(f"seq.reshape {scaled} : {flat} -> {split}")

    def delta_rule(self, x):
        p = self.linear(x, WIDTH, "qkv", 3 * HEADS * CHANNELS)
        (q, kind), (k, _), (v, _) = (self.heads(p, i * HEADS * CHANNELS, HEADS, 3 * HEADS * CHANNELS) for i in range(3))
        each = f"tensor<?x{HEADS}xf32>"
        beta = self.emit(f"seq.sigmoid {self.linear(x, WIDTH, 'beta', HEADS)} : {each}")
        a = self.linear(x, WIDTH, "a", HEADS)
        (rate, head), (bias, _) = (self.weight(name, HEADS, element="f32") for name in ("rate", "bias"))
        state, held = self.state("state", HEADS, CHANNELS, CHANNELS)
        y, following = self.multiple(
            f"seq.gated_delta_rule {self.unit(q, kind)}, {self.unit(k, kind)}, {v}, {beta}, {a} parameters({rate}, {bias}) "
            f"state({state}) : ({kind}, {kind}, {kind}, {each}, {each}, {head}, {head}, {held}) -> ({kind}, {held})", 2)
        self.next.append(following)
        return self.out(y, kind)

    def elementwise(self, x):
        p = self.linear(x, WIDTH, "xri", 3 * HEADS * CHANNELS)
        (v, kind), (r, _), (i, _) = (self.heads(p, n * HEADS * CHANNELS, HEADS, 3 * HEADS * CHANNELS) for n in range(3))
        rate, channels = self.weight("rate", HEADS, CHANNELS, element="f32")
        state, held = self.state("state", HEADS, 1, CHANNELS)
        y, following = self.multiple(
            f"seq.rg_lru {v}, {r}, {i} positions(%positions) parameters({rate}) state({state}) : ({kind}, {kind}, {kind}, "
            f"tensor<?xi32>, {channels}, {held}) -> ({kind}, {held})", 2)
        self.next.append(following)
        return self.out(y, kind)

    def written(self, x):
        p = self.linear(x, WIDTH, "vg", 2 * HEADS * CHANNELS)
        (v, kind), (g, _) = (self.heads(p, i * HEADS * CHANNELS, HEADS, 2 * HEADS * CHANNELS) for i in range(2))
        state, held = self.state("state", HEADS, CHANNELS)
        y, following = self.multiple(
            f"seq.recurrence tokens(%v = {v} : {kind}, %g = {g} : {kind}) parameters() states(%s = {state} : {held}) -> "
            f"({kind}), ({held}) {{\n"
            f"      %a = seq.add %v, %s : {held}\n      %new = seq.tanh %a : {held}\n"
            f"      %gate = seq.sigmoid %g : {held}\n      %d = seq.sub %new, %s : {held}\n"
            f"      %m = seq.mul %gate, %d : {held}\n      %next = seq.add %s, %m : {held}\n"
            f"      seq.yield %next, %next : {held}, {held}\n    }}", 2)
        self.next.append(following)
        return self.out(y, kind)

    def finish(self, folder, name, layers):
        self.layer = "table"
        table, kind = self.weight("", retrieval.VOCABULARY, WIDTH)
        rows, logits = f"tensor<?x{WIDTH}xf32>", f"tensor<?x{retrieval.VOCABULARY}xf32>"
        x = self.emit(f"seq.embedding %tokens, {table} : (tensor<?xi32>, {kind}) -> {rows}")
        for self.layer, parts in enumerate(layers):
            for part in parts:
                x = self.add(x, part(self, self.norm(x)))
        out = self.emit(f"seq.select_rows {x}, %rows : ({rows}, tensor<?xi32>) -> {rows}")
        out = self.emit(f"seq.lm_head {self.norm(out)}, {table} : ({rows}, {kind}) -> {logits}")
        declared = [f'seq.weight @{weight} source("{weight}") : tensor<{"x".join(map(str, shape))}x{element}>'
                    for weight, (shape, element) in self.weights.items()] + self.tables
        arguments = "".join(f', %{state}: {kind} {{seq.state_name = "{state}"}}' for state, kind in self.states)
        types = ", ".join([logits] + [kind for _, kind in self.states])
        text = "\n  ".join(declared + [
            f"func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %positions: tensor<?xi32>{arguments}) -> ({types}) {{"]
            + ["  " + line for line in self.body] + [f"  return {', '.join([out] + self.next)} : {types}", "}"])
        (folder / f"{name}.mlir").write_text(
            f'module attributes {{seq.model = #seq.model<family = "{name}", vocabulary = {retrieval.VOCABULARY}, '
            f"width = {WIDTH}, max_context = 0>}} {{\n  {text}\n}}\n")


def dense(model, x):
    return model.glu(x, 2 * WIDTH)


def shared_and_experts(model, x):
    return model.add(model.glu(x, WIDTH), model.experts(x, 4, 8, 32))


MODELS = {
    "window": [[Model.attention, dense]] * 2,
    "experts": [[Model.recurrence, shared_and_experts]] * 2,
    "recurrence": [[Model.recurrence, dense]] * 2,
    "delta": [[Model.delta_rule, dense]] * 2,
    "elementwise": [[Model.elementwise, dense]] * 2,
    "written": [[Model.written, dense]] * 2,
}


def compile_all(effc, folder):
    """Writes and compiles every model; returns the artifacts' paths."""
    artifacts = []
    for name, layers in MODELS.items():
        place = folder / name
        place.mkdir(parents=True, exist_ok=True)
        model = Model()
        model.finish(place, name, layers)
        retrieval.write_weights(place / "model.safetensors", model.weights)
        artifacts.append(folder / f"{name}.effc")
        subprocess.run([effc, "compile", place / f"{name}.mlir", "--weights-from", place, "--max-batch", "1",
                        "-o", artifacts[-1]], check=True, stdout=subprocess.DEVNULL)
    return artifacts
