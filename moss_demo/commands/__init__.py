"""The commands of `python -m moss_demo`: one module each, imported only when it is used."""
