"""The works that this family is based on."""

from __future__ import annotations

from evenhand.core.reference import Reference

LITERATURE = (
    Reference(
        key="anantaprayoon2024",
        kind="inproceedings",
        title="Evaluating Gender Bias of Pre-trained Language Models in Natural Language "
        "Inference by Considering All Labels",
        authors=("Anantaprayoon, Panatchakorn", "Kaneko, Masahiro", "Okazaki, Naoaki"),
        year=2024,
        venue="Proceedings of the 2024 Joint International Conference on Computational "
        "Linguistics, Language Resources and Evaluation (LREC-COLING 2024)",
        url="https://aclanthology.org/2024.lrec-main.566",
    ),
    Reference(
        key="dev2020",
        kind="inproceedings",
        title="On Measuring and Mitigating Biased Inferences of Word Embeddings",
        authors=("Dev, Sunipa", "Li, Tao", "Phillips, Jeff M.", "Srikumar, Vivek"),
        year=2020,
        venue="Proceedings of the AAAI Conference on Artificial Intelligence",
        doi="10.1609/aaai.v34i05.6267",
    ),
)
