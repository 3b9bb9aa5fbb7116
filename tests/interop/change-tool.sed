# Exchanges one description of the tool `changing` for the other.
s/It is the first\.$/It is the second./
t
s/It is the second\.$/It is the first./
