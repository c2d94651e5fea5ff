"""The built-in reader: reads observations by rule and answers in exactly the format that is asked for.

No language model is involved. It is what a formalizer that never errs achieves: the yardstick, the default when no
model is configured, and the model of most tests.
"""
