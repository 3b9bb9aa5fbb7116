# Exchanges one description of the prompt `changing_prompt` for the other.
s/It is the third\.$/It is the fourth./
t
s/It is the fourth\.$/It is the third./
