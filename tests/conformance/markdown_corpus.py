"""Texts as people log them, and texts put together at random from the same parts."""

import random

# What summaries look like in the wild: notes, model cards, hyperparameters, dumps, samples of language models.
TEXTS = {
    "plain": "Training started with seed 42.",
    "notes": """# Run 17: lower learning rate

Second attempt after the *divergence* of run 16.

- lr `3e-4` instead of `1e-3`
- warm-up of **500** steps
- batch size 64, see [the issue](https://example.com/issues/12)

1. train on `train.parquet`
2. evaluate on `dev.parquet`

> The loss should be below 2.1 after 10k steps.
> If not, stop.

---

Contact: <me@example.com> or <https://example.com>.
""",
    "notes without blank lines": """Changes:
- new tokenizer
- dropout 0.1
Next steps:
1. ablation
2. paper
# Results
Accuracy is 93.1
## Details
See below
""",
    "hyperparameters": """|param|value|
|-|-|
|exp_name|ppo_atari|
|learning_rate|0.00025|
|gamma|0.99|
|track|False|
|wandb_entity|None|
|env_id|BreakoutNoFrameskip-v4|
|anneal_lr|True|
""",
    "hyperparameters with alignment": """| Hyper-parameter | Value | Note |
|:----------------|------:|:----:|
| `lr`            | 1e-4  | cosine |
| `betas`         | (0.9, 0.999) | |
| *optimizer*     | **AdamW** | `a|b` |
| layers_per_block | 2 |
| a | b | c | d |
""",
    "table in text": """The results:

model | params | acc
----- | ------ | ---
small | 11M | 71.2
base  | 33M | 74.9

Text behind the table.
Name | Score
not a table because a paragraph is open
""",
    "namespace": "Namespace(batch_size=128, data_dir='/data/imagenet_2012', lr=0.1, model='resnet50', no_cuda=False, "
    "weight_decay=1e-4, __version__='1.2')",
    "json as it is": """{
  "architectures": ["BertForMaskedLM"],
  "hidden_act": "gelu",
  "hidden_size": 768,
  "layer_norm_eps": 1e-12,
  "nested": {
    "a_b": "*x*",
    "c": null
  }
}
""",
    "json in a fence": '```json\n{\n  "lr": 0.1,\n  "name": "a < b && c > d"\n}\n```\n',
    "indented code": """Config:

    model:
      name: resnet
      depth: 50

    train:
      epochs: 90
      tags: ["a", "<b>"]

End.
""",
    "yaml": """model:
  name: resnet
  layers: [3, 4, 6, 3]
train:
  - step: 1
  - step: 2
    lr: 0.1
""",
    "keras summary": """_________________________________________________________________
 Layer (type)                Output Shape              Param #
=================================================================
 dense (Dense)               (None, 64)                50240

 dense_1 (Dense)             (None, 10)                650

=================================================================
Total params: 50,890
Trainable params: 50,890
_________________________________________________________________
""",
    "torch module": """MLP(
  (layers): Sequential(
    (0): Linear(in_features=784, out_features=128, bias=True)
    (1): ReLU()
    (2): Linear(in_features=128, out_features=10, bias=True)
  )
)
""",
    "traceback": """Traceback (most recent call last):
  File "train.py", line 12, in <module>
    main()
  File "/usr/lib/python3/site.py", line 3, in __init__
    raise ValueError("bad *args or **kwargs")
ValueError: bad *args or **kwargs
""",
    "traceback in a fence": """~~~
Traceback (most recent call last):
  File "train.py", line 12, in <module>

KeyError: 'x_train'
~~~
""",
    "diff": """```diff
-lr = 0.1
+lr = 0.01
@@ -1,3 +1,3 @@
```
""",
    "language model sample": "<s> The quick brown fox <unk> jumps </s> <pad> <pad>",
    "chat sample": """<|im_start|>user
What is 2*3*4 and a_b_c?<|im_end|>
<|im_start|>assistant
It's 24, & <b>bold</b> isn't allowed: x < y > z.<|im_end|>
""",
    "tokens": "▁The ▁model ▁'s [CLS] [SEP] ##ing [UNK] </w> @@ <0x0A> ' \" ` \\n \\t",
    "html tags in a prompt": """Write <think>step by step</think> and then
<answer>42</answer>

<div class="x">
*not* emphasis

</div>

*emphasis*
""",
    "html table": "<table><tr><th>Step</th><td>1</td></tr><tr><th>Loss</th><td>0.5<br>ok</td></tr></table>\n\nNotes *after*.\n",
    "html details": "<details><summary>Config</summary>\n\n* a\n* b\n\n</details>\n\nEnd\n",
    "html inline": 'x<sub>1</sub> + y<sup>2</sup> <a href="http://x.y" target="_blank">z</a> <img src="a.png" width=10> <br/> ok',
    "html comment": "before\n\n<!-- hidden *text* -->\n\nafter <!-- also hidden --> it\n",
    "table of contents": "<table of contents>\n\n1. Intro\n2. Method\n",
    "model card": """Model Card for *TinyNet*
========================

Intended use
------------

Classify digits. **Not** for production!

### Training data ###

| Split | Size |
| --- | --- |
| train | 60 000 |
| test | 10 000 |

### How to use

```python
from tiny import Net

net = Net(width=64)  # 64 channels
print(net(x)["logits"] > 0 and "a" < "b")
```

#### Limits

* Only 28×28 pixels
* No colours
    * grey is fine
    * black & white too

        with a second paragraph

* CPU only

[paper]: https://example.com/paper.pdf "The paper"

See the [paper], [here][paper] or [there][].

[there]: <http://example.com/there>
""",
    "nested lists of two": "- a\n  - b\n    - c\n- d\n  continued\n",
    "nested lists of four": "- a\n    - b\n        - c\n            - d\n- e\n    1. one\n    2. two\n",
    "nested lists of three": "1. a\n   - b\n   - c\n2. d\n",
    "mixed lists": "* a\n* b\n\n1. c\n2. d\n\n- e\n+ f\n",
    "loose list": "- a\n\n- b\n- c\n\n    text of c\n\n- d\n",
    "list with code": "1. Install:\n\n        pip install x\n\n2. Run:\n    ```\n    x --help\n    ```\n3. Done\n",
    "todo list": "- [ ] tune lr\n- [x] fix loader\n- [ ] write [docs](http://d.x)\n",
    "quotes": "> one\n> two\n>\n> > inner\n> > inner *two*\n>\n> - list\n> - in quote\n\nplain\n> lazy start\nlazy end\n",
    "headings": "# one\n## two ##\n###three\n#### four #\n##### five\n###### six\n####### seven\nText\n====\nText\n----\n",
    "rules": "a\n\n---\n\n* * *\n\n___\n\n- - -\n\nb\n***\nc\n",
    "breaks": "line one  \nline two\\\nline three\nline four   \nend",
    "escapes": r"\* \_ \` \# \[x\] \(y\) \! \\ \| \$ \< \> \" \' \& \~ \: \- \+ \. \{ \}",
    "latex": r"Loss $\mathcal{L} = \sum_i x_i^2$ and \(a_1 * b_2\), \[ \frac{1}{2} \] and $$a*b*c$$.",
    "paths": r"C:\data\my_run\*.ckpt and /data/my_run_*/events.out.tfevents.* and s3://bucket/a_b/c_d__e",
    "identifiers": "call my_function_name(__init__, *args, **kwargs) in a_module.b_class; snake_case_ and _private __dunder__",
    "arithmetic": "2*3*4 = 24, 2 * 3 * 4 = 24, a*b, x**2, 5 > 3 & 3 < 5, 1<2>0, <-- here",
    "emphasis": "*a* **b** ***c*** _d_ __e__ ___f___ *a **b** c* **a *b* c** a*b*c a_b_c _a_b *a_b* **a**b _**x**_",
    "emphasis with blanks": "* not * ** not ** *a * * a* _ a _ 5 * 4 * 3",
    "code spans": "`a` ``b`c`` ``` d``e ``` `<b>` `*x*` `a\\` `` ` `` unclosed ` tick",
    "links": '[a](http://x) [b](http://x "t") [c](<http://x y>) [d](x y z) [e]() [f](http://x/(y)) ![g](a.png) [h][nope] [i] '
    "[![img](b.png)](http://l) [**bold** `code`](http://m) <http://n?a=1&b=2> <mailto:o@p.q> http://bare.url www.bare.url",
    "references": '[a], [b][a], [c] [a], [A][], ![img][a], [two\nlines]\n\n[a]: http://x "T"\n[c]: /y (par)\n[two lines]: <z>\n[unused]: u\n',
    "footnotes": "Text[^1] and more[^note].\n\n[^1]: The note.\n[^note]: Another one.\n",
    "definition list": "Term\n:   Definition\n\nOther\n: Short\n",
    "strike and marks": "~~gone~~ ==marked== H~2~O x^2^ :smile: @user #123 $5",
    "entities": "&amp; &lt;b&gt; &copy; &nbsp;x &eacute; &#65; &#x41; &bogus; &copy & AT&T &#; &#xZ;",
    "chinese": """# 训练记录

**注意：**学习率太高，*损失*发散。请使用`lr=1e-4`。

- 第一项
- 第二项（重点）
    - 子项：**加粗**文字

| 参数 | 值 |
|------|----|
| 学习率 | 0.001 |
| 批大小 | 64 |

1. 先训练，
2. 再评估。

> 引用：效果*很好*！
""",
    "chinese emphasis": "这是**重点**内容，**“引号”**也行，*斜体*。**注意**：见《文档》**第一章**。_下划线_不行",
    "japanese and emoji": "モデルの**精度**は😀 92% でした。✅ *完了* 🚀",
    "arabic": "تم **التدريب** بنجاح: `loss=0.1`",
    "tabs": "-\ta\n\t- b\n\nx\ty\n\n\tcode\twith tab\n",
    "windows lines": "# a\r\n\r\n- b\r\n- c\r\n\r\nd  \r\ne\r\n",
    "blank": "   \n \t \n",
    "only newlines": "\n\n\n",
    "control characters": "a\x01b\x0cc\x7fd\x1be[31mred\x1b[0m",
    "nuls": "a\x00b \x00\x00*c*",
    "progress": "100%|██████████| 500/500 [01:23<00:00,  6.01it/s]",
    "nvidia-smi": """+-----------------------------+----------------------+
| NVIDIA-SMI 470.57.02        | CUDA Version: 11.4   |
|-----------------------------+----------------------+
| GPU  Name                   | Memory-Usage         |
|=============================+======================|
|   0  Tesla V100             |   3MiB / 16160MiB    |
+-----------------------------+----------------------+
""",
    "confusion matrix": "[[50  2]\n [ 3 45]]\n",
    "csv": "step,loss,acc\n1,0.5,0.1\n2,0.4,0.2\n",
    "log lines": "2024-01-01 00:00:00 [INFO] epoch 1/10 - loss: 0.5 - acc: 0.9\n2024-01-01 00:00:10 [WARN] NaN in grad_norm!\n",
    "shell": "$ python train.py --lr 0.1 --name 'a b' | tee log.txt\n# comment\n> out\n",
    "fences of all kinds": "```\na\n```\n\n~~~~ python\nb\n~~~\n~~~~\n\n``` {.py #id hl_lines=\"1\"}\nc\n```\n\n```js extra words\nd\n```\n\n```\nopen",
    "fence in a list": "- item\n\n    ```python\n    x = 1\n    ```\n\n- next\n",
    "long words": "a" * 300 + "_" + "b" * 300 + " " + "http://x.y/" + "c_d" * 100,
}

WORDS = (
    ["the", "model", "loss", "lr=0.001", "batch_size", "64", "(see)", "x^2", "50%", "#tag", "1)", r"C:\dir", "100.", "1."]
    + ["`x_train`", "`` a`b ``", "**bold**", "*it*", "__b__", "_i_", "a_b_c", "***both***", "2*3*4", "foo*bar*", "~~s~~", "$x$"]
    + ["模型", "训练，损失", "**注意：**学习率", "é", "ü", "😀", "&amp;", "&copy;", "3", "<", "4", ">", "2", "--", "...", "-", "+", "|"]
    + ["[link](http://x.y/z)", '![img](a.png "t")', "<http://auto.li>", "<a@b.co>", "[ref]", "[ref][]", "[t][ref]", "a|b"]
    + [r"\*", r"\_", r"\$", r"\(y\)", '"q"', "'q'", "<b>raw</b>", "<br>", "</p>", "<tensor shape=(3,4)>", "<class 'x.Y'>"]
    + ["http://bare.url", "https://x.y/a_b_c?d=e&f=g", "f(x)=y_1", ":smile:", "<!-- c -->", "[a](b c)"]
)


class Composer:
    """Documents from a seed: the same on every machine."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def words(self, most=8):
        return " ".join(self.random.choice(WORDS) for _ in range(self.random.randint(1, most)))

    def paragraph(self):
        lines = self.random.randint(1, 3)
        return "\n".join(self.words() + self.random.choice(["", "", "", "  "]) for _ in range(lines))

    def list(self, indent=""):
        out = []
        mark = self.random.choice(["- ", "* ", "+ ", "1. ", "2) "])
        for _ in range(self.random.randint(1, 4)):
            out.append(indent + mark + self.words(5))
            dice = self.random.random()
            if dice < 0.15:
                out.append(indent + "    " + self.words(4))
            elif dice < 0.25:
                out.append(indent + "  " + self.words(4))
            elif dice < 0.45 and len(indent) < 9:
                out.append(self.list(indent + self.random.choice(["  ", "    ", "    ", "   "])))
            elif dice < 0.55:
                out += ["", indent + "    " + self.words(4)]
            elif dice < 0.65:
                out.append("")
        return "\n".join(out)

    def quote(self):
        marks = ["> "] * 8 + [">", ""]
        return "\n".join(self.random.choice(marks) + line for line in self.block().split("\n"))

    def table(self):
        columns = self.random.randint(1, 3)
        bordered = self.random.random() < 0.6

        def row(cells):
            text = " | ".join(cells)
            return f"| {text} |" if bordered else text

        rows = [row([self.words(2) for _ in range(columns)])]
        rows.append(row([self.random.choice(["---", ":--", "--:", ":-:"]) for _ in range(columns)]))
        for _ in range(self.random.randint(0, 3)):
            width = self.random.choice([columns, columns, columns, columns + 1, max(1, columns - 1)])
            rows.append(row([self.words(2) for _ in range(width)]))
        return "\n".join(rows)

    def fence(self):
        fence = self.random.choice(["```", "~~~", "````"])
        info = self.random.choice(["", "python", " c++", "json extra"])
        return f"{fence}{info}\n{self.paragraph()}\n\nx <y> & z\n{fence}"

    def code(self):
        return "\n".join("    " + self.words(4) for _ in range(self.random.randint(1, 3)))

    def heading(self):
        mark = self.random.choice(["# ", "## ", "### ", "#", "###### ", "####### "])
        return mark + self.words(4) + self.random.choice(["", " #", " ##"])

    def underlined(self):
        return self.words(4) + "\n" + self.random.choice(["===", "---", "-", "====  "])

    def rule(self):
        return self.random.choice(["---", "***", "___", "- - -", "* * *", "-----"])

    def html(self):
        shapes = ["<div>%s</div>", "<p>%s</p>", "<table><tr><td>%s</td></tr></table>", "<b>%s</b>", "<!-- %s -->", "<hr>%s"]
        shapes += ["<details>\n<summary>s</summary>\n\n%s\n\n</details>", "<br/>%s", "<pre>%s</pre>", "<ul><li>%s</ul>"]
        shapes += ["<img src=x onerror=y>%s", "<div>\n%s", "</div>%s", "<script>%s</script>", '<a href="javascript:x">%s</a>']
        return self.random.choice(shapes) % self.words(4)

    def definition(self):
        return "[ref]: " + self.random.choice(["http://r.x", "<http://r.x>", '/p "title"', "http://r.x (par)"])

    def block(self):
        kinds = [self.paragraph] * 4 + [self.list] * 3 + [self.heading] * 2 + [self.table, self.fence, self.code]
        kinds += [self.underlined, self.rule, self.html, self.definition]
        return self.random.choice(kinds)()

    def document(self):
        out = ""
        for _ in range(self.random.randint(1, 5)):
            out += self.quote() if self.random.random() < 0.1 else self.block()
            out += self.random.choice(["\n", "\n\n", "\n\n", "\n\n", "\n\n\n"])
        return out

    def html_soup(self):
        """HTML of any order: tags that open, close, are unknown, are broken."""
        parts = []
        for _ in range(self.random.randint(1, 12)):
            parts.append(self.html_part())
        return "".join(parts)

    TAGS = "ul ol li p pre code blockquote h1 h3 hr br strong em a img thead tbody td tr th b div span script svg".split()
    ATTRIBUTES = ['href="http://x"', "href=javascript:x", "title=t", 'src="y.png"', 'alt="a&amp;b"', "class=q", "x"]
    ATTRIBUTES += ['href="&#106;avascript:x"', "onload=x", 'title="<p>"', "title='\"q'", 'href="//h/p"', "src=data:x"]
    PIECES = ["foo", "bar ", " ", "\n", "&amp;", "&lt;", "&copy;", "&bogus;", "&", "a & b", "<!-- c -->", "<", ">", "</>", "</ p>"]
    PIECES += ["</ q>", "<?pi?>", "<!doctype html>", '"', "\x01", "é", "<a", "&#65;", "&#x41;", "<!-- <b> --!>", "<!-->", "中文"]

    def html_part(self):
        dice = self.random.random()
        if dice < 0.35:
            attributes = ""
            while self.random.random() < 0.25:
                attributes += " " + self.random.choice(self.ATTRIBUTES)
            return "<" + self.random.choice(self.TAGS) + attributes + self.random.choice(["", "", "", "/", " /"]) + ">"
        if dice < 0.6:
            return "</" + self.random.choice(self.TAGS) + self.random.choice(["", "", " "]) + ">"
        return self.random.choice(self.PIECES)

    def emphasis_soup(self):
        marks = ["a", "b", "c", " ", " ", "*", "**", "***", "_", "__", ".", "中", "，", "`k`"]
        return "x" + "".join(self.random.choice(marks) for _ in range(self.random.randint(2, 12))) + "z"

    def raw_soup(self):
        """Markdown and blocks of raw HTML, mixed without regard."""
        parts = ["a *b* c", "text", "\n", "\n\n", "\n", "<div>", "</div>", "<p>", "</p>", "<b>", "</b>", '<span class="x">']
        parts += ["</span>", "<!-- c -->", "<!-- a\n\nb -->", "<hr>", "<hr/>", "<br>", "<script>", "</script>", "<pre>", "</pre>"]
        parts += ["<code>", "</code>", "<ul>", "<li>", "</li>", "</ul>", "  ", "    ", "# h", "- i", "> q", "&amp;", "&copy;"]
        parts += ['<img src="a">', '<a href="b">', "</a>", "`<div>`", "<?php x ?>", "<!DOCTYPE html>", "<div\n", 'class="y">']
        parts += ["</div", "<style>p{}</style>", "<x-y>", "<h1>T</h1>", "<blockquote>", "</blockquote>", "<em>", "</em>", "1. n"]
        parts += ["| a | b |\n|---|---|\n", "```\n"]
        return "".join(self.random.choice(parts) for _ in range(self.random.randint(2, 9)))
